/* Terms of documents, sorted and added up by key; twin of nbtext/counts/counter.py. */

#include "module.h"

#include <stdlib.h>

enum { COUNT_BITS = 64 - KEY_BITS, SHIFT = 64 - PART_BITS };

/* Terms of some documents. */
typedef struct {
    Py_buffer keys, counts;
} Pile;

/* Write each term as a number, those whose keys begin alike side by side: keys are hashes, so
   that what is left to be sorted is in the processor's caches. How a key begins is read once,
   since others may write to it meanwhile. */
static void
sort_terms(const Pile *piles, size_t n_piles, uint64_t *values, uint64_t *scratch)
{
    size_t ends[PARTS] = {0}, start = 0, n_terms = 0;
    uint16_t *parts = (uint16_t *)(void *)scratch;
    for (size_t pile = 0; pile < n_piles; pile++)
        for (size_t i = 0; i < (size_t)piles[pile].keys.len / 8; i++) {
            uint64_t key = ((const uint64_t *)piles[pile].keys.buf)[i];
            ends[parts[n_terms++] = (uint16_t)(key << COUNT_BITS >> SHIFT)]++;
        }
    begin_parts(ends, PARTS);
    for (size_t pile = 0; pile < n_piles; pile++) {
        const uint64_t *keys = piles[pile].keys.buf;
        const uint16_t *counts = piles[pile].counts.buf;
        for (size_t i = 0; i < (size_t)piles[pile].keys.len / 8; i++) {
            uint64_t part = *parts++, rest = (keys[i] << COUNT_BITS | counts[i]) << PART_BITS;
            values[ends[part]++] = part << SHIFT | rest >> PART_BITS;
        }
    }
    for (size_t part = 0; part < PARTS; start = ends[part++])
        sort_keys(values + start, scratch, ends[part] - start);
}

/*
 * Add up values that are sorted; return how many keys they have, -1 if a sum is too large.
 * Where values of the same key end is hard to foretell, so that there is no branch.
 */
static int64_t
sum_values(uint64_t *values, int32_t *occurrences, int32_t *documents, size_t n)
{
    uint64_t before = UINT64_MAX, sum = 0, times = 0, most = 0;
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = values[i] >> COUNT_BITS;
        uint64_t count = values[i] & (((uint64_t)1 << COUNT_BITS) - 1);
        uint64_t is_new = key != before, if_same = is_new - 1; /* all bits or none */
        written += is_new;
        sum = (sum & if_same) + count;
        times = (times & if_same) + 1;
        most |= sum | times;
        values[written - 1] = before = key;
        occurrences[written - 1] = (int32_t)sum;
        documents[written - 1] = (int32_t)times;
    }
    return most > INT32_MAX ? -1 : (int64_t)written;
}

/* Take the terms of some documents; false with an error if they are none. */
static bool
take_pile(Pile *pile, PyObject *terms, size_t *n_terms)
{
    bool is_pair = PyTuple_Check(terms);
    if (is_pair && !PyArg_ParseTuple(terms, "y*y*;terms", &pile->keys, &pile->counts))
        return false;
    size_t n = (size_t)pile->keys.len / 8;
    *n_terms += n;
    if (is_pair && has_size(&pile->keys, n, 8) && has_size(&pile->counts, n, 2))
        return true;
    return refuse(PyExc_ValueError, "these are no keys and counts");
}

/* Add up terms that were taken, in arrays with room for all; NULL with an error. */
static PyObject *
sums_of(const Pile *piles, size_t n_piles, size_t n_terms)
{
    static const Py_ssize_t sizes[] = {8, 4, 4};
    PyObject *all = Py_BuildValue("NNN", array_of(n_terms, 8), array_of(n_terms, 4),
                                  array_of(n_terms, 4));
    uint64_t *scratch = malloc((n_terms + 1) * sizeof *scratch);
    bool is_sound = all && scratch;
    if (all && !scratch)
        PyErr_NoMemory();
    int64_t n = -1;
    if (is_sound) {
        uint64_t *values = memory_of(all, 0);
        int32_t *occurrences = memory_of(all, 1), *documents = memory_of(all, 2);
        Py_BEGIN_ALLOW_THREADS
        sort_terms(piles, n_piles, values, scratch);
        n = sum_values(values, occurrences, documents, n_terms);
        Py_END_ALLOW_THREADS
        for (Py_ssize_t k = 0; is_sound && n >= 0 && k < 3; k++)
            is_sound = !PyByteArray_Resize(PyTuple_GetItem(all, k), (Py_ssize_t)n * sizes[k]);
    }
    free(scratch);
    if (is_sound && n >= 0)
        return all;
    Py_XDECREF(all);
    return is_sound ? counted_none() : NULL;
}

PyObject *
sum_terms(PyObject *module, PyObject *terms)
{
    PyObject *result = NULL;
    size_t n_terms = 0;
    (void)module;
    if (!PyTuple_Check(terms))
        return PyErr_Format(PyExc_TypeError, "a tuple of terms was expected");
    size_t n_piles = (size_t)PyTuple_Size(terms);
    Pile *piles = calloc(n_piles + 1, sizeof *piles);
    bool is_sound = piles;
    if (!piles)
        PyErr_NoMemory();
    for (size_t i = 0; is_sound && i < n_piles; i++)
        is_sound = take_pile(piles + i, PyTuple_GetItem(terms, (Py_ssize_t)i), &n_terms);
    if (is_sound)
        result = sums_of(piles, n_piles, n_terms);
    for (size_t i = 0; piles && i < n_piles; i++) {
        PyBuffer_Release(&piles[i].keys);
        PyBuffer_Release(&piles[i].counts);
    }
    free(piles);
    return result;
}
