/*
 * What the type `StoredModel` says of mail that is learnt into its model; twin of what
 * nbtext/learning/one_by_one.py asks of a model.
 */

#include "stored.h"

#include <stdlib.h>

enum { HEADER_SUM = 8 };

PyObject *
stored_rows(PyObject *self, PyObject *digest)
{
    Rows found;
    if (!PyBytes_Check(digest) || PyBytes_Size(digest) != DIGEST_SIZE)
        return PyErr_Format(PyExc_ValueError, "a digest has 16 bytes");
    if (!find_rows(model_in(self), (const uint8_t *)PyBytes_AsString(digest), &found))
        return counted_none();
    PyObject *rows = PyList_New(0);
    for (size_t n = 0; rows && n < found.n; n++) {
        const LedgerRow *row = found.rows + n;
        if (row->count <= 0)
            continue;
        PyObject *one = Py_BuildValue("(nKLL)", (Py_ssize_t)row->class,
                                      (unsigned long long)row->fingerprint,
                                      (long long)row->count, (long long)row->bin);
        if (!one || PyList_Append(rows, one) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(one);
    }
    return rows;
}

/* Count documents with scores in some bins so many times more; false if a bin is too full. */
static bool
add_bins(HeldOut *held_out, Slice bins, int place, int times)
{
    bool is_held = true;
    for (; bins.at < bins.end; bins.at += 2)
        is_held &= add_to_bin(held_out, (int16_t)word_at(bins.at, 2), (size_t)place, times);
    return is_held;
}

PyObject *
stored_fit(PyObject *self, PyObject *args)
{
    int place;
    PyObject *given, *result = NULL;
    Prior prior;
    Fit fit;
    int64_t documents;
    if (!PyArg_ParseTuple(args, "iSddd:fit", &place, &given, &prior.slope,
                          &prior.precision, &prior.offset))
        return NULL;
    Model *model = model_in(self);
    const uint8_t *at = (const uint8_t *)PyBytes_AsString(given);
    Slice bins = slice(at, at + PyBytes_Size(given) / 2 * 2);
    bool is_sound = place == 0 || place == 1;
    for (; at < bins.end; at += 2)
        is_sound &= abs((int16_t)word_at(at, 2)) <= FARTHEST_BIN;
    if (!is_sound)
        return PyErr_Format(PyExc_ValueError, "there is no such class, or no such bin");
    Filling filling = add_held_out(model);
    if (filling != FILLED)
        return filling == UNSOUND ? counted_none() : PyErr_NoMemory();
    if (!add_bins(model->held_out, bins, place, 1))
        result = counted_none();
    else if (fit_to(model->held_out, prior, &fit, &documents))
        result = Py_BuildValue("ddL", fit.slope, fit.offset, (long long)documents);
    else
        PyErr_NoMemory();
    add_bins(model->held_out, bins, place, -1);
    return result;
}

PyObject *
checksums(PyObject *module, PyObject *args)
{
    PyObject *header, *arrays;
    Hash hash;
    (void)module;
    if (!PyArg_ParseTuple(args, "SS:checksums", &header, &arrays))
        return NULL;
    Slice rest = bytes_in(arrays);
    size_t n_blocks = (length_of(rest) + CHECKED - 1) / CHECKED;
    PyObject *sums = array_of(n_blocks, 4);
    for (size_t block = 0; sums && block < n_blocks; block++) {
        uint8_t *to = (uint8_t *)PyByteArray_AsString(sums) + 4 * block;
        size_t size = length_of(rest) < CHECKED ? length_of(rest) : CHECKED;
        uint32_t sum = crc32_of(rest.at, size);
        for (int n = 0; n < 4; n++, sum >>= 8)
            to[n] = (uint8_t)sum;
        rest.at += size;
    }
    uint8_t mark[HEADER_SUM];
    start_hash(&hash, HEADER_SUM);
    add_to_hash(&hash, bytes_in(header));
    end_hash(&hash, mark);
    return Py_BuildValue("(NN)", bytes_of(slice(mark, mark + HEADER_SUM)), sums);
}
