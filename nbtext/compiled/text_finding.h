/* The texts of terms, looked for in documents: text_finding.c, finder.c. */

#ifndef NBTEXT_TEXT_FINDING_H
#define NBTEXT_TEXT_FINDING_H

#include "module.h"

#include "mail.h"

enum { MOST_TEXT = 256, PART_END = 0x00, TEXT_END = 0xFF };

/* The terms of one view whose texts are looked for, and the texts that were found. */
typedef struct {
    MailView view;
    uint64_t *keys;    /* sorted */
    uint32_t *buckets; /* where the keys of each value of their top bits begin */
    uint32_t *starts;  /* where the text of each begins */
    uint8_t *states;   /* of each, one of State */
    size_t n, n_left;
    int shift; /* how many low bits choose no bucket */
    uint8_t *texts;
    size_t length, room;
} Wanted;

typedef enum { MISSING, HAS_TEXT, IS_TOO_LONG } State;

/* A term of a field that is wanted. */
typedef struct {
    size_t term; /* which of the field's terms */
    size_t place;
} Hit;

typedef struct {
    Wanted views[MOST_VIEWS];
    size_t n_views;
    Keys keys; /* of one field */
    Hit *hits;
    size_t n_hits, hits_room;
} Finder;

/* Whether these are keys, sorted. */
bool are_keys(const uint64_t *keys, size_t n);
/* Look for n keys, which are copied; false if there is no memory. */
bool want(Wanted *wanted, const uint64_t *keys, size_t n);
void release_finder(Finder *finder);

/* Look in a field, of which `left` more tokens may be read; false: no memory. */
bool find_in_field(Finder *finder, Wanted *wanted, Slice name, Slice text, uint64_t salt,
                   size_t *left);
/* Look in the n-grams of a document. */
bool find_in_ngrams(Finder *finder, Wanted *wanted, Normalised *text);

/* Write the texts found in a view in the order of their keys. */
void write_texts(const Wanted *wanted, uint8_t *to);

/* engine.c: what is called with each field of a document; false if there is no memory */
typedef bool TakeField(void *into, Slice name, Slice text, bool is_first);
/* Take the fields of a list, each (name, text); false with an error. */
bool take_fields(PyObject *fields, TakeField *take, void *into);
/* finder.c: look in the texts of a message; false if there is no memory */
bool find_in_mail(Finder *finder, Mail *mail);
/* Take one of the views that readers and finders are made with. */
bool take_view(MailView *view, PyObject *described, PyObject *tables_type);
/* Return what a TextFinder looks with, NULL with an error if somebody does already. */
Finder *take_finder(PyObject *finder);
void put_finder_back(PyObject *finder);

#endif
