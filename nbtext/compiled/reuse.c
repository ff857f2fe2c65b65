/*
 * A `StoredModel` that stays open, and to which tables are added as they are appended to its
 * file; twin of nbtext/store/reuse.py.
 */

#include "stored.h"

PyObject *
stored_append(PyObject *self, PyObject *table)
{
    StoredModel *stored = (StoredModel *)(void *)self;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(table, &bytes, &size) < 0)
        return NULL;
    if (stored->n_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread reads this model");
        return NULL;
    }
    if (!stored->kept)
        stored->kept = PyList_New(0);
    if (!stored->kept || PyList_Append(stored->kept, table) < 0)
        return NULL;
    const uint8_t *at = (const uint8_t *)bytes;
    Filling filling = append_to_model(stored->model, slice(at, at + size));
    if (filling == NO_MEMORY)
        return PyErr_NoMemory();
    return PyBool_FromLong(filling == FILLED);
}

PyObject *
stored_gather(PyObject *self, PyObject *none)
{
    uint64_t secret;
    (void)none;
    if (((StoredModel *)(void *)self)->n_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread reads this model");
        return NULL;
    }
    if (!take_secret(&secret))
        return NULL;
    gather_tail(model_in(self), secret);
    return counted_none();
}
