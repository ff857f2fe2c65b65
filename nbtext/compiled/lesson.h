/*
 * What plain mail adds to a plain model, from the keys of its terms to the bytes of a table.
 *
 * A model is plain if model.h reads it, and keeps of each term occurrences and documents,
 * and a ledger. The twins in Python are those of nbtext/learning: one_by_one.py, delta.py
 * and delta_writing.py. The bytes are the same, to the last.
 */

#ifndef NBTEXT_LESSON_H
#define NBTEXT_LESSON_H

#include "model.h"

enum { MOST_MAILS = 12, MOST_ROWS = 64 };

/* --- ledger.c --------------------------------------------------------------------- */

/* What of a document is in the ledger, if it can be said here. */
typedef enum { NOT_COUNTED, COUNTED_HERE, COUNTED_ELSEWHERE, NOT_SAID } InLedger;

/* The number that half of a digest is in the ledger. */
uint64_t half_of(const uint8_t *digest);
InLedger look_up(const Model *model, const uint8_t *digest, size_t class);

/* --- fitting.c -------------------------------------------------------------------- */

/* How many documents had a score, in bins of 1/16 nat, by class. */
enum { N_BINS = 2 * FARTHEST_BIN + 1 };
typedef struct {
    int64_t counts[N_BINS][2];
} HeldOut;

/* What is expected of a fit, as `nbtext.counts.calibration.Prior`; and of the mean score. */
typedef struct {
    double slope, precision, offset;
} Prior;
extern const Prior MEAN_PRIOR;

int bin_of(double score);
/* Add what the tables of a model say; false if that is not what it should be. */
bool add_held_out(const Model *model, HeldOut *held_out);
/* Fit slope and offset to what was held out; false if there is no memory. */
bool fit_to(const HeldOut *held_out, Fit *fit, int64_t *documents);

/* --- delta.c ---------------------------------------------------------------------- */

/* Distinct keys, in their order, and what is counted of each. */
typedef struct {
    Keys keys, occurrences, documents;
} Terms;

/* A mail that is learnt. */
typedef struct {
    uint8_t digest[DIGEST_SIZE];
    uint64_t fingerprint;
    int bin; /* where its score falls before it is learnt */
    Terms views[MOST_VIEWS];
} Learnt;

typedef struct {
    const Model *model;
    size_t class;
    Slice written, writer; /* when, and which program */
    Learnt mails[MOST_MAILS];
    size_t n_mails;
    Terms views[MOST_VIEWS]; /* of all of them together */
    int64_t new_terms[MOST_VIEWS];
    Fit fit;
    int64_t n_held_out;
} Lesson;

typedef enum { LEARNT, NOT_HERE, LESSON_NO_MEMORY } Taught;

/* Add a mail, of which `keys` are those of each view's terms. */
Taught add_mail(Lesson *lesson, const Slice *keys, const uint8_t *digest);
/* Add up what was added. */
Taught add_up(Lesson *lesson);
void release_lesson(Lesson *lesson);

/* --- packing.c -------------------------------------------------------------------- */

/* Bytes that become more; `has_failed` if there was no memory for them. */
typedef struct {
    uint8_t *bytes;
    size_t length, room;
    bool has_failed;
} Output;

/* Make room for so many bytes, and return where they go; NULL if there is none. */
uint8_t *claim(Output *output, size_t n);
void put_bytes(Output *output, Slice bytes);
void put_byte(Output *output, uint8_t byte, size_t times);
void put_big_endian(Output *output, uint64_t number, size_t width);
void pack_array(Output *output, size_t length);
void pack_map(Output *output, size_t length);
void pack_text(Output *output, Slice text);
void pack_joined(Output *output, const Slice *parts, size_t n_parts); /* as one text */
void pack_name(Output *output, const char *name);
void pack_integer(Output *output, int64_t number);
void pack_double(Output *output, double number);

/* --- delta_arrays.c --------------------------------------------------------------- */

/* An array to be written; of a view, `prefix` stands before the view's name. */
typedef struct {
    const char *prefix, *name;
    Slice view;
    Keys values;
    uint8_t width; /* of a value, in bytes */
    char sign;     /* of its type: u or i */
} OutArray;

enum { MOST_ARRAYS = 10 * MOST_VIEWS + 10 };

typedef struct {
    OutArray arrays[MOST_ARRAYS];
    size_t n, n_records; /* arrays, and undo records in them */
    bool has_failed;     /* there was no memory */
} OutArrays;

/* Make the arrays of a lesson's table, but that of the checksums. */
bool make_arrays(const Lesson *lesson, OutArrays *arrays);
void release_arrays(OutArrays *arrays);

/* --- delta_header.c, delta_writing.c ---------------------------------------------- */

void pack_header(Output *output, const Lesson *lesson, const OutArrays *arrays);

/* How many blocks have a checksum. */
uint64_t blocks_of(const OutArrays *arrays);
/* Write the table that a lesson adds to the file. */
Taught write_table(const Lesson *lesson, Output *output);

#endif
