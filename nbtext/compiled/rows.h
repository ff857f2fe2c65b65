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

/* Rows by term. A row that grows moves to a room that another has left, or to the end. */
typedef struct {
    Row *rows;
    int64_t *entries;
    size_t n_terms, n_classes, length, room;
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

/* The values of 32 bits of a row. */
static inline int32_t *
narrow_values(const Store *store, Row row)
{
    return (int32_t *)(void *)(store->entries + row.first);
}

/* Have learnt nothing yet; false if there is no memory. */
bool make_store(Store *store, size_t n_terms, size_t n_classes);
void release_store(Store *store);
/* Add to a class of a term. */
Outcome add_value(Store *store, size_t term, uint16_t class, int64_t value);
/* Return the entries that are not zero: places, classes and values. */
PyObject *entries_of(const Store *store);

#endif
