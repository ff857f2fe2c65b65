/*
 * A `StoredModel` that stays open, and to which tables are added as they are appended to its
 * file; twin of nbtext/store/reuse.py.
 */

#include "stored.h"

/* Whether nobody reads a model; an error if somebody does. */
static bool
is_free(const StoredModel *stored)
{
    return !stored->n_busy || refuse(PyExc_RuntimeError, "another thread reads this model");
}

PyObject *
stored_append(PyObject *self, PyObject *table)
{
    StoredModel *stored = (StoredModel *)(void *)self;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(table, &bytes, &size) < 0 || !is_free(stored))
        return NULL;
    if (!stored->kept)
        stored->kept = PyList_New(0);
    if (!stored->kept || PyList_Append(stored->kept, table) < 0)
        return NULL;
    const uint8_t *at = (const uint8_t *)bytes;
    Filling filling = append_to_model(&stored->model, slice(at, at + size));
    return filling == NO_MEMORY ? PyErr_NoMemory() : PyBool_FromLong(filling == FILLED);
}

/* Return a table's header and the checksums of its blocks. */
static PyObject *
seal_of(const StoredModel *stored)
{
    const Table *table = stored->model.tables;
    const uint8_t *begin = stored->file.buf;
    Py_ssize_t size = (Py_ssize_t)table->checksums.length * table->checksums.width;
    return Py_BuildValue(
        "(NN)", PyBytes_FromStringAndSize((const char *)begin, table->contents.at - begin),
        PyBytes_FromStringAndSize((const char *)table->checksums.at, size));
}

/* Take the counts that another model keeps of a first table that is the same. */
static bool
take_over(StoredModel *stored, StoredModel *before)
{
    const Table *table = stored->model.tables;
    uint64_t size = (uint64_t)length_of(table->contents);
    const Array whole = {table->contents.at, size, 1, false};
    int is_same = before->seal ? PyObject_RichCompareBool(stored->seal, before->seal, Py_EQ) : 0;
    if (is_same > 0 && !before->n_busy && verify(table, &whole, 0, size)) {
        TermArrays *views = stored->model.tables[0].views;
        for (size_t view = 0; view < MOST_VIEWS; view++) {
            views[view].kept = before->model.tables[0].views[view].kept;
            before->model.tables[0].views[view].kept = (Kept){NULL, NULL, 0};
        }
    }
    return is_same >= 0;
}

PyObject *
stored_gather(PyObject *self, PyObject *before)
{
    StoredModel *stored = (StoredModel *)(void *)self;
    uint64_t secret;
    if (!is_free(stored) || !take_secret(&secret))
        return NULL;
    if (!stored->seal) {
        stored->seal = seal_of(stored);
        if (!stored->seal)
            return NULL;
        if (Py_TYPE(before) == Py_TYPE(self) && before != self
            && !take_over(stored, (StoredModel *)(void *)before))
            return NULL;
    }
    gather_tail(&stored->model, secret);
    return counted_none();
}
