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

/* Give a row room for more; it has a value for each class once it has many. */
static bool
widen(Store *store, Row *row)
{
    size_t n = store->n_classes, from = row->first;
    bool is_full = row->length >= LEAST_FULL && row->length >= n / 3;
    size_t room = is_full ? n : row->room ? 2 * (size_t)row->room : 2;
    if (room >= FULL || !widen_store(store, room))
        return false;
    int64_t *to = store->entries + store->length;
    if (is_full) {
        memset(to, 0, n * sizeof *to);
        for (size_t k = from; k < from + row->length; k++)
            to[class_of(store->entries[k])] = value_of(store->entries[k]);
        row->length = FULL;
    } else {
        memcpy(to, store->entries + from, row->length * sizeof *to);
    }
    row->first = (uint32_t)store->length;
    row->room = (uint16_t)room;
    store->length += room;
    return true;
}

Outcome
add_value(Store *store, size_t term, uint16_t class, int64_t value)
{
    Row *row = store->rows + term;
    size_t n = row->first, end = n + row->length;
    if (row->length != FULL) {
        while (n < end && class_of(store->entries[n]) != class)
            n++;
        if (n < end)
            value += value_of(store->entries[n]);
        else if (row->length == row->room && !widen(store, row))
            return OUT_OF_MEMORY;
        else if (row->length != FULL)
            n = (size_t)row->first + row->length++;
    }
    if (row->length == FULL) { /* perhaps since now */
        n = (size_t)row->first + class;
        value += store->entries[n];
    }
    if (value <= -MOST || value >= MOST)
        return TOO_LARGE;
    store->entries[n] = row->length == FULL ? value : entry_of(class, value);
    return DONE;
}

static PyObject *
array_of(const void *data, size_t n, size_t size)
{
    return PyByteArray_FromStringAndSize(data, (Py_ssize_t)(n * size));
}

/* Read an entry of a row; false if there is nothing. */
static bool
read_entry(const Store *store, Row row, size_t n, uint16_t *class, int64_t *value)
{
    int64_t entry = store->entries[row.first + n];
    *class = row.length == FULL ? (uint16_t)n : class_of(entry);
    *value = row.length == FULL ? entry : value_of(entry);
    return *value != 0;
}

/* Write the entries that are not zero, by term; count them alone if there is no room. */
static size_t
write_entries(const Store *store, int32_t *places, uint16_t *classes, int64_t *values)
{
    size_t written = 0;
    for (size_t term = 0; term < store->n_terms; term++) {
        Row row = store->rows[term];
        size_t length = row.length == FULL ? store->n_classes : row.length;
        for (size_t n = 0; n < length; n++) {
            uint16_t class;
            int64_t value;
            if (!read_entry(store, row, n, &class, &value))
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
