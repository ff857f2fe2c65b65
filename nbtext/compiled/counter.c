/* Sorted terms, added up by key; twin of nbtext/counts/counter.py. */

#include "module.h"

enum { COUNT_BITS = 64 - KEY_BITS };

const char sum_sorted_doc[] =
"sum_sorted(values, keys, occurrences, documents)\n"
"--\n\n"
"Add up the terms of documents, as `nbtext.counts.counter.sum_by_arrays` does.\n\n"
"Args:\n"
"    values: 64-bit integers, sorted: a key and, in the 16 low bits, a count.\n"
"    keys: 64-bit integers, as many, written to.\n"
"    occurrences: 32-bit integers, as many, written to.\n"
"    documents: the same.\n\n"
"Returns:\n"
"    How many keys there are; -1 if occurrences do not fit in 32 bits.\n";

/* Where values of the same key end is hard to foretell, so that there is no branch. */
static int64_t
sum_values(const uint64_t *values, size_t n, uint64_t *keys, int32_t *occurrences,
           int32_t *documents)
{
    uint64_t before = ~(n ? values[0] >> COUNT_BITS : 0), sum = 0, times = 0, all = 0;
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = values[i] >> COUNT_BITS;
        uint64_t count = values[i] & (((uint64_t)1 << COUNT_BITS) - 1);
        bool is_new = key != before;
        written += is_new;
        sum = (is_new ? 0 : sum) + count;
        times = (is_new ? 0 : times) + 1;
        all |= sum | times;
        keys[written - 1] = before = key;
        occurrences[written - 1] = (int32_t)sum;
        documents[written - 1] = (int32_t)times;
    }
    return all >> 31 ? -1 : (int64_t)written;
}

PyObject *
sum_sorted(PyObject *module, PyObject *args)
{
    Py_buffer b[4] = {{0}};
    int64_t n_keys = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*w*w*w*:sum_sorted", &b[0], &b[1], &b[2], &b[3]))
        return NULL;
    size_t n = (size_t)b[0].len / 8;
    bool is_sound = has_size(&b[0], n, 8) && has_size(&b[1], n, 8) && has_size(&b[2], n, 4)
                    && has_size(&b[3], n, 4);
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        n_keys = sum_values(b[0].buf, n, b[1].buf, b[2].buf, b[3].buf);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no sorted terms, and room for sums");
    }
    for (size_t i = 0; i < 4; i++)
        PyBuffer_Release(&b[i]);
    return is_sound ? PyLong_FromLongLong(n_keys) : NULL;
}
