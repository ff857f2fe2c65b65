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
    if (room > UINT32_MAX)
        return false;
    int64_t *entries = realloc(store->entries, room * sizeof *entries);
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
    store->rows = calloc(n_terms + 1, sizeof *store->rows);
    return store->rows && widen_store(store, 1);
}

void
release_store(Store *store)
{
    free(store->rows);
    free(store->entries);
}

static int64_t
entry_of(uint16_t class, int64_t value)
{
    return (int64_t)((uint64_t)value << 16 | class);
}

static bool
is_narrow(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
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

/* Move a row to the end of the store, and give it a value for each class. */
static bool
fill(Store *store, Row *row, uint16_t length)
{
    size_t n = store->n_classes, room = length == WIDE ? n : (n + 1) / 2;
    if (n >= NARROW || !widen_store(store, room))
        return false;
    int64_t *to = store->entries + store->length;
    memset(to, 0, room * sizeof *to);
    for (size_t k = 0; k < row_length(store, *row); k++) {
        uint16_t class;
        int64_t value = read_entry(store, *row, k, &class);
        if (length == WIDE)
            to[class] = value;
        else
            ((int32_t *)(void *)to)[class] = (int32_t)value;
    }
    *row = (Row){(uint32_t)store->length, length, 0};
    store->length += room;
    return true;
}

/* Whether all values of a row that lists its classes have 32 bits. */
static bool
are_narrow(const Store *store, Row row)
{
    bool fit = true;
    for (size_t n = 0; n < row.length; n++)
        fit = fit && is_narrow(value_of(store->entries[row.first + n]));
    return fit;
}

/* Give a row that lists its classes room for more; it is full once they are many. */
static bool
widen(Store *store, Row *row)
{
    if (row->length >= LEAST_FULL && row->length >= store->n_classes / 3)
        return fill(store, row, are_narrow(store, *row) ? NARROW : WIDE);
    size_t room = row->room ? 2 * (size_t)row->room : 2;
    if (room >= NARROW || !widen_store(store, room))
        return false;
    memcpy(store->entries + store->length, store->entries + row->first,
           row->length * sizeof *store->entries);
    row->first = (uint32_t)store->length;
    row->room = (uint16_t)room;
    store->length += room;
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

Outcome
add_value(Store *store, size_t term, uint16_t class, int64_t value)
{
    Row *row = store->rows + term;
    size_t n = place_of(store, *row, class);
    if (n == row->length && n == row->room) {
        if (!widen(store, row))
            return OUT_OF_MEMORY;
        n = place_of(store, *row, class);
    }
    if (row->length == NARROW) {
        int32_t *old = narrow_values(store, *row) + n;
        if (is_narrow(*old + value)) {
            *old += (int32_t)value;
            return DONE;
        }
        if (!fill(store, row, WIDE))
            return OUT_OF_MEMORY;
    }
    int64_t *entry = store->entries + row->first + n;
    bool is_wide = row->length == WIDE, is_new = n == row->length;
    value += is_wide ? *entry : is_new ? 0 : value_of(*entry);
    if (value <= -MOST || value >= MOST)
        return TOO_LARGE;
    *entry = is_wide ? value : entry_of(class, value);
    row->length += is_new;
    return DONE;
}

static PyObject *
array_of(const void *data, size_t n, size_t size)
{
    return PyByteArray_FromStringAndSize(data, (Py_ssize_t)(n * size));
}

/* Write the entries that are not zero, by term; count them alone if there is no room. */
static size_t
write_entries(const Store *store, int32_t *places, uint16_t *classes, int64_t *values)
{
    size_t written = 0;
    for (size_t term = 0; term < store->n_terms; term++) {
        Row row = store->rows[term];
        for (size_t n = 0; n < row_length(store, row); n++) {
            uint16_t class;
            int64_t value = read_entry(store, row, n, &class);
            if (!value)
                continue;
            if (places) {
                places[written] = (int32_t)term;
                classes[written] = class;
                values[written] = value;
            }
            written++;
        }
    }
    return written;
}

PyObject *
entries_of(const Store *store)
{
    size_t n = write_entries(store, NULL, NULL, NULL);
    PyObject *places = array_of(NULL, n, 4), *classes = array_of(NULL, n, 2);
    PyObject *values = array_of(NULL, n, 8), *result = NULL;
    if (places && classes && values) {
        write_entries(store, (int32_t *)(void *)PyByteArray_AsString(places),
                      (uint16_t *)(void *)PyByteArray_AsString(classes),
                      (int64_t *)(void *)PyByteArray_AsString(values));
        result = Py_BuildValue("(OOO)", places, classes, values);
    }
    Py_XDECREF(places);
    Py_XDECREF(classes);
    Py_XDECREF(values);
    return result;
}
