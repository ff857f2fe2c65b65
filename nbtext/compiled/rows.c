/* What the passes of a correction have learnt, in rows by term that grow. */

#include "rows.h"

#include <stdlib.h>

/* What is beyond this is no correction. */
static const int64_t MOST = (int64_t)1 << 47;

static bool
widen_store(Store *store, size_t more)
{
    if (store->length + more <= store->room)
        return true;
    size_t room = 2 * store->room + more + 1024;
    int64_t *entries = room > UINT32_MAX ? NULL : realloc(store->entries, 8 * room);
    if (!entries)
        return false;
    store->entries = entries;
    store->room = room;
    return true;
}

bool
make_store(Store *store, size_t n_terms, size_t n_classes)
{
    store->n_terms = n_terms;
    store->n_classes = n_classes;
    store->full = (n_classes + 1) / 2;
    store->rows = calloc(n_terms + 1, sizeof *store->rows);
    store->length = 1; /* the first one is nobody's */
    store->are_full = store->full <= MOST_OF_FEW && n_terms < UINT32_MAX / (MOST_OF_FEW + 1);
    if (!store->are_full)
        return store->rows && widen_store(store, 2 * n_terms + 1); /* rather than copy it */
    store->length = store->room = n_terms * store->full + 2 * LINE; /* some behind the last */
    store->entries = calloc(store->room, sizeof *store->entries);
    store->first = -(uintptr_t)store->entries / sizeof *store->entries % LINE;
    return store->rows && store->entries;
}

void
release_store(Store *store)
{
    free(store->rows);
    free(store->entries);
}

/* Return how many entries of a row that is full or not can be read. */
static size_t
row_length(const Store *store, Row row)
{
    return row.length < NARROW ? row.length : store->n_classes;
}

/* Read an entry of a row. */
static int64_t
read_entry(const Store *store, Row row, size_t n, uint16_t *class)
{
    *class = (uint16_t)n;
    if (row.length == NARROW)
        return narrow_values(store, row)[n];
    int64_t entry = store->entries[row.first + n];
    if (row.length == WIDE)
        return entry;
    *class = class_of(entry);
    return value_of(entry);
}

/* Leave the room of a row that moves to other rows. */
static void
leave(Store *store, Row row)
{
    store->entries[row.first] = store->spare[row.room];
    store->spare[row.room] = row.first;
}

/* Move a row to the end of the store, and give it a value for each class. */
static bool
fill(Store *store, Row *row)
{
    size_t n = store->n_classes;
    bool is_wide = row->length == NARROW; /* which has a value of more bits now */
    for (size_t k = 0; !is_wide && k < row->length; k++) {
        int64_t value = value_of(store->entries[row->first + k]);
        is_wide = value != (int32_t)value;
    }
    size_t room = is_wide ? n : store->full;
    if (n >= NARROW || !widen_store(store, room))
        return false;
    int64_t *to = store->entries + store->length;
    memset(to, 0, room * sizeof *to);
    for (size_t k = 0; k < row_length(store, *row); k++) {
        uint16_t class;
        int64_t value = read_entry(store, *row, k, &class);
        if (is_wide)
            to[class] = value;
        else
            ((int32_t *)(void *)to)[class] = (int32_t)value;
    }
    leave(store, *row);
    *row = (Row){(uint32_t)store->length, is_wide ? WIDE : NARROW, 0};
    store->length += room;
    return true;
}

/* Give a row that lists its classes room for more, or for all where that is no more. */
static bool
widen(Store *store, Row *row)
{
    size_t kind = row->room + 1u, room = (size_t)1 << kind;
    if (room >= store->full)
        return fill(store, row);
    if (!widen_store(store, room))
        return false;
    uint32_t spare = store->spare[kind], first = spare ? spare : (uint32_t)store->length;
    store->spare[kind] = spare ? (uint32_t)store->entries[spare] : 0;
    store->length += spare ? 0 : room;
    memcpy(store->entries + first, store->entries + row->first,
           row->length * sizeof *store->entries);
    leave(store, *row);
    *row = (Row){first, row->length, (uint16_t)kind};
    return true;
}

/* Return which number of a row has a class; its length if it lists others only. */
static size_t
place_of(const Store *store, Row row, uint16_t class)
{
    if (row.length >= NARROW)
        return class;
    size_t n = 0;
    while (n < row.length && class_of(store->entries[row.first + n]) != class)
        n++;
    return n;
}

static Outcome
add_value(Store *store, size_t term, uint16_t class, int64_t value)
{
    Row *row = store->rows + term;
    for (size_t n = 0; store->are_full && n < store->n_terms; n++)
        store->rows[n] = row_of(store, n);
    store->are_full = false; /* from now on they say where they are */
    size_t n = place_of(store, *row, class);
    if (n == row->length && n == (row->room ? (size_t)1 << row->room : 0)) {
        if (!widen(store, row))
            return OUT_OF_MEMORY;
        n = place_of(store, *row, class);
    }
    if (row->length == NARROW) {
        int32_t *old = narrow_values(store, *row) + n;
        if (*old + value == (int32_t)(*old + value)) {
            *old = (int32_t)(*old + value);
            return DONE;
        }
        if (!fill(store, row))
            return OUT_OF_MEMORY;
    }
    int64_t *entry = store->entries + row->first + n;
    bool is_wide = row->length == WIDE, is_new = n == row->length;
    value += is_wide ? *entry : is_new ? 0 : value_of(*entry);
    if (value <= -MOST || value >= MOST)
        return TOO_LARGE;
    *entry = is_wide ? value : (int64_t)((uint64_t)value << 16 | class);
    row->length += is_new;
    return DONE;
}

Outcome
add_values(Store *store, size_t term, const uint16_t *classes, size_t n, const int32_t *steps,
           int64_t times)
{
    Outcome outcome = DONE;
    for (size_t k = 0; outcome == DONE && k < n; k++)
        outcome = add_value(store, term, classes[k], times * steps[classes[k]]);
    return outcome;
}

/* Write the entries that are not zero, in order; count them alone if there is no room. */
static size_t
write_entries(const Store *store, int32_t *places, uint16_t *classes, int64_t *values)
{
    size_t written = 0;
    for (size_t term = 0; term < store->n_terms; term++) {
        Row row = row_of(store, term);
        for (size_t n = 0; n < row_length(store, row); n++) {
            uint16_t class;
            int64_t value = read_entry(store, row, n, &class);
            size_t at = written;
            written += value != 0;
            if (!value || !places)
                continue;
            for (; at && places[at - 1] == (int32_t)term && classes[at - 1] > class; at--) {
                classes[at] = classes[at - 1];
                values[at] = values[at - 1];
            }
            places[written - 1] = (int32_t)term;
            classes[at] = class;
            values[at] = value;
        }
    }
    return written;
}

PyObject *
entries_of(const Store *store)
{
    size_t n = write_entries(store, NULL, NULL, NULL);
    PyObject *all = Py_BuildValue("NNN", array_of(n, 4), array_of(n, 2), array_of(n, 8));
    if (all)
        write_entries(store, memory_of(all, 0), memory_of(all, 1), memory_of(all, 2));
    return all;
}
