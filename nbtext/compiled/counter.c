/* Terms of documents, sorted and added up by key; twin of nbtext/counts/counter.py. */

#include "module.h"

#include <stdlib.h>

enum { COUNT_BITS = 64 - KEY_BITS };

/* Terms of some documents. */
typedef struct {
    Py_buffer keys, counts;
} Pile;

/* What terms become, in memory of their own. */
typedef struct {
    uint64_t *values;  /* each term as key and count, and then the distinct keys */
    uint64_t *scratch; /* as many, to sort them, and then for what follows */
    int32_t *occurrences, *documents;
} Sums;

/* Write each term as a number. */
static void
gather_terms(const Pile *piles, size_t n_piles, uint64_t *to)
{
    for (size_t pile = 0; pile < n_piles; pile++) {
        const uint64_t *keys = piles[pile].keys.buf;
        const uint16_t *counts = piles[pile].counts.buf;
        size_t n = (size_t)piles[pile].keys.len / 8;
        for (size_t i = 0; i < n; i++)
            *to++ = keys[i] << COUNT_BITS | counts[i];
    }
}

/*
 * Add up values that are sorted; return how many keys they have, -1 if a sum is too large.
 * Where values of the same key end is hard to foretell, so that there is no branch.
 */
static int64_t
sum_values(const Sums *sums, size_t n)
{
    uint64_t before = UINT64_MAX, sum = 0, times = 0, most = 0;
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = sums->values[i] >> COUNT_BITS;
        uint64_t count = sums->values[i] & (((uint64_t)1 << COUNT_BITS) - 1);
        uint64_t is_new = key != before, if_same = is_new - 1; /* all bits or none */
        written += is_new;
        sum = (sum & if_same) + count;
        times = (times & if_same) + 1;
        most |= sum | times;
        sums->values[written - 1] = before = key;
        sums->occurrences[written - 1] = (int32_t)sum;
        sums->documents[written - 1] = (int32_t)times;
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

static PyObject *
array_of(const void *values, int64_t n, size_t size)
{
    return PyByteArray_FromStringAndSize(values, (Py_ssize_t)((size_t)n * size));
}

/* Add up terms that were taken; NULL with an error. */
static PyObject *
sums_of(const Pile *piles, size_t n_piles, size_t n_terms)
{
    PyObject *result = NULL;
    Sums sums = {.values = malloc((n_terms + 1) * sizeof *sums.values),
                 .scratch = malloc((n_terms + 1) * sizeof *sums.scratch)};
    if (sums.values && sums.scratch) {
        int64_t n;
        Py_BEGIN_ALLOW_THREADS
        gather_terms(piles, n_piles, sums.values);
        sort_keys(sums.values, sums.scratch, n_terms);
        sums.occurrences = (int32_t *)(void *)sums.scratch;
        sums.documents = sums.occurrences + n_terms;
        n = sum_values(&sums, n_terms);
        Py_END_ALLOW_THREADS
        result = n < 0 ? counted_none()
                       : Py_BuildValue("(NNN)", array_of(sums.values, n, 8),
                                       array_of(sums.occurrences, n, 4),
                                       array_of(sums.documents, n, 4));
    } else {
        PyErr_NoMemory();
    }
    free(sums.values);
    free(sums.scratch);
    return result;
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
