/*
 * What the type `StoredModel` says of mail that is learnt into its model; twin of what
 * nbtext/learning/one_by_one.py asks of a model.
 */

#include "stored.h"

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

PyObject *
stored_held_out(PyObject *self, PyObject *Py_UNUSED(none))
{
    const Model *model = model_in(self);
    Keys rows = {0};
    bool is_room = true;
    for (size_t n = 0; n < model->n_tables; n++) {
        Pack pack = model->tables[n].held_out;
        size_t length;
        int64_t bin, documents;
        Slice name;
        take_array(&pack, &length); /* as it was when the header was read */
        for (; length && take_held_out(&pack, &bin, &name, &documents); length--)
            for (int class = 0; class < 2; class++)
                if (is_same(name, model->first.classes[class]))
                    is_room = is_room && push_key(&rows, (uint64_t)(2 * bin + class))
                              && push_key(&rows, (uint64_t)documents);
    }
    PyObject *found = is_room ? bytes_of_keys(&rows) : PyErr_NoMemory();
    release_keys(&rows);
    return found;
}

PyObject *
checksums(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *header, *arrays;
    Hash hash;
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
