/* Keys to their places in a sorted table; twin of nbtext/counts/term_table.py. */

#include "module.h"

/* Keys looked up at a time; steps taken without a branch, and until halving. */
enum { AHEAD = 64, FIRST = 4, NEAR = 16 };

const char find_doc[] =
"find(keys, buckets, shift, wanted, places)\n"
"--\n\n"
"Look keys up in a sorted table, as `nbtext.counts.term_table.TermTable.find` says.\n\n"
"Args:\n"
"    keys: 64-bit integers, sorted; the last is a sentinel and no key.\n"
"    buckets: 32- or 64-bit integers, where the keys with these top bits begin.\n"
"    shift: how many low bits do not choose a bucket.\n"
"    wanted: 64-bit integers.\n"
"    places: 64-bit integers, written to: for each that is wanted its place among the\n"
"        keys, or that of the sentinel.\n";

/* The terms of one view; see nbtext.counts.term_table.TermTable. */
typedef struct {
    const uint64_t *keys;
    const void *buckets;
    int64_t n_terms;
    uint64_t n_buckets;
    int shift;
    bool are_wide; /* the buckets, 64 bits */
} Terms;

/* The first place from which on keys are not below one; the sentinel is not. */
static int64_t
place_from(const Terms *terms, int64_t place, uint64_t key)
{
    int64_t end = terms->n_terms;
    for (int64_t n = 0, first = place; n < FIRST && end - first >= FIRST; n++)
        place += terms->keys[first + n] < key; /* no branch: it is hard to foretell */
    for (int step = 0; step < NEAR; step++, place++)
        if (place == end || terms->keys[place] >= key)
            return place;
    while (place < end) { /* keys chosen to lie close together */
        int64_t middle = place + (end - place) / 2;
        if (terms->keys[middle] < key)
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

static void
find_places(const Terms *terms, const uint64_t *wanted, int64_t *places, Py_ssize_t n)
{
    int64_t guessed[AHEAD];
    for (Py_ssize_t start = 0; start < n; start += AHEAD) {
        Py_ssize_t end = n - start < AHEAD ? n : start + AHEAD;
        /* ask for all that memory has to bring before waiting for any of it */
        for (Py_ssize_t i = start; i < end; i++) {
            uint64_t bucket = wanted[i] >> terms->shift;
            int64_t place = -1; /* what has more bits is no key */
            if (bucket < terms->n_buckets)
                place = terms->are_wide ? ((const int64_t *)terms->buckets)[bucket]
                                        : ((const int32_t *)terms->buckets)[bucket];
            if (place < 0 || place > terms->n_terms)
                place = terms->n_terms;
            guessed[i - start] = place;
            PREFETCH(terms->keys + place);
        }
        for (Py_ssize_t i = start; i < end; i++) {
            int64_t place = place_from(terms, guessed[i - start], wanted[i]);
            places[i] = terms->keys[place] == wanted[i] ? place : terms->n_terms;
        }
    }
}

static bool
is_array(const Py_buffer *buffer)
{
    return buffer->len % 8 == 0 && (uintptr_t)buffer->buf % 8 == 0;
}

PyObject *
find(PyObject *module, PyObject *args)
{
    Py_buffer keys = {0}, buckets = {0}, wanted = {0}, places = {0};
    Terms terms;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*iy*w*:find", &keys, &buckets, &terms.shift,
                          &wanted, &places))
        return NULL;
    bool is_sound = terms.shift > 0 && terms.shift < KEY_BITS;
    if (is_sound) {
        terms.n_buckets = (uint64_t)1 << (KEY_BITS - terms.shift);
        uint64_t bytes = (uint64_t)buckets.len / terms.n_buckets; /* of a bucket */
        terms.are_wide = bytes == 8;
        is_sound = (bytes == 8 || bytes == 4) && is_array(&keys) && keys.len
                   && is_array(&buckets) && is_array(&wanted) && is_array(&places)
                   && wanted.len == places.len;
    }
    if (is_sound) {
        terms.keys = keys.buf;
        terms.buckets = buckets.buf;
        terms.n_terms = keys.len / 8 - 1;
        Py_BEGIN_ALLOW_THREADS
        find_places(&terms, wanted.buf, places.buf, wanted.len / 8);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no keys with buckets");
    }
    PyBuffer_Release(&keys);
    PyBuffer_Release(&buckets);
    PyBuffer_Release(&wanted);
    PyBuffer_Release(&places);
    return is_sound ? counted_none() : NULL;
}
