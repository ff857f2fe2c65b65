/* The texts of terms, looked for in documents: text_finding.c, finder.c. */

#ifndef NBTEXT_TEXT_FINDING_H
#define NBTEXT_TEXT_FINDING_H

#include "module.h"

#include "mail.h"

enum { MISSING = 0, SIEVE_BITS = 3, MOST_TEXT = 256, PART_END = 0x00, TEXT_END = 0xFF };

/* The terms of one view whose texts are looked for, and the texts that were found. */
typedef struct {
    MailView view;
    Py_buffer keys, buckets;
    TermKeys terms;    /* the same */
    uint8_t *sieve;    /* which keys may be MISSING, by their first bits */
    uint32_t *starts;  /* where the text of each begins, if it has one; and IS_TOO_LONG */
    size_t n_left;
    uint8_t *texts;
    size_t length, room;
} Wanted;

#define IS_TOO_LONG UINT32_MAX

typedef struct {
    Wanted views[MOST_VIEWS];
    size_t n_views;
    Keys keys, spans;   /* of one field's terms, and of its tokens */
    Keys terms, places; /* which of these terms may be MISSING, and where they are wanted */
} Finder;

/* Have found nothing yet of the terms that were taken; false if there is no memory. */
bool begin_to_look(Wanted *wanted);
/* Look in a field, of which `left` more tokens may be read; false: no memory. */
bool find_in_field(Finder *finder, Wanted *wanted, Slice name, Slice text, uint64_t salt,
                   size_t *left);
/* Look in the n-grams of a document. */
bool find_in_ngrams(Finder *finder, Wanted *wanted, const Mail *mail);

/* Write the texts found in a view in the order of their keys, and which keys have one. */
void write_texts(const Wanted *wanted, uint8_t *to, char *states);

/* finder.c: look in the texts of a message; false if there is no memory */
bool find_in_mail(Finder *finder, Mail *mail);
void release_finder(Finder *finder);
PyObject *reader_look_for(PyObject *self, PyObject *wanted);
PyObject *reader_look(PyObject *self, PyObject *args);
PyObject *reader_found(PyObject *self, PyObject *args);
/* engine.c: add the fields of a list, each (name, text) in UTF-8, where they lie; false with an
   error */
bool take_fields(Mail *mail, Texts *texts, PyObject *fields);
PyObject *reader_document_keys(PyObject *self, PyObject *documents);
/* key_reading.c: what a MailReader reads with, NULL with an error if there is no memory */
Mail *take_mail(PyObject *self);
void put_mail_back(PyObject *self, Mail *mail);
/* What a MailReader looks for texts with, NULL with an error if it does not, or somebody does
   already; and put it back, or another in its place. */
Finder *take_finder(PyObject *self);
void put_finder_back(PyObject *self, Finder *finder);

#endif
