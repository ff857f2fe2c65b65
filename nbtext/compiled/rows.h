/* What the passes of a correction have learnt, by term and class: rows.c. */

#ifndef NBTEXT_ROWS_H
#define NBTEXT_ROWS_H

#include "module.h"

typedef enum { DONE, OUT_OF_MEMORY, TOO_LARGE } Outcome;

/*
 * What a term has learnt: numbers of the store, from a first one on. As long as it is
 * of few classes, a number is 2^16 times the value, and the class. Then there is a value
 * for each class, two in a number, of 32 bits each; and a number for each class once one
 * does not fit.
 */
typedef struct {
    uint32_t first;
    uint16_t length, room; /* how many numbers there are; or NARROW, or WIDE. Of 2^room */
} Row;

enum { WIDE = UINT16_MAX, NARROW = UINT16_MAX - 1, ROOMS = 16 };
enum { LINE = 8 }; /* numbers of 64 bits that a processor fetches together */
enum { MOST_OF_FEW = 4 }; /* numbers of a row; where it has no more, all rows are full */

/* Rows by term. A row that grows moves to a room that another has left, or to the end. */
typedef struct {
    Row *rows;
    int64_t *entries;
    size_t n_terms, n_classes, length, room;
    size_t full;   /* numbers of a row that has a value of 32 bits for each class */
    size_t first;  /* where they begin that all are full: at a line of the processor's */
    bool are_full; /* whether all are that, one behind the other; then none says where */
    uint32_t spare[ROOMS]; /* where chains of rooms of 2^n begin that were left; or 0 */
} Store;

static inline uint16_t
class_of(int64_t entry)
{
    return (uint16_t)((uint64_t)entry & UINT16_MAX);
}

static inline int64_t
value_of(int64_t entry)
{
    return entry >> 16;
}

static inline Row
row_of(const Store *store, size_t term)
{
    Row full = {(uint32_t)(store->first + term * store->full), NARROW, 0};
    return store->are_full ? full : store->rows[term];
}

/* The values of 32 bits of a row. */
static inline int32_t *
narrow_values(const Store *store, Row row)
{
    return (int32_t *)(void *)(store->entries + row.first);
}

/* Have learnt nothing yet; false if there is no memory. */
bool make_store(Store *store, size_t n_terms, size_t n_classes);
void release_store(Store *store);
/* Add to some classes of a term as many times a number as the step of each says. */
Outcome add_values(Store *store, size_t term, const uint16_t *classes, size_t n,
                   const int32_t *steps, int64_t times);
/* Return the entries that are not zero: places, classes and values. */
PyObject *entries_of(const Store *store);

#endif
