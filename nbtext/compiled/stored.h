/* The type `StoredModel`, which classifier.c and one_by_one.c make together. */

#ifndef NBTEXT_STORED_H
#define NBTEXT_STORED_H

#include "module.h"

#include "model.h"

typedef struct {
    PyObject_HEAD
    Py_buffer file;
    Model model;
    PyObject *kept; /* a list of the tables that were appended */
    PyObject *seal; /* what tells the first table from others, if its counts are kept */
    int n_busy;     /* calls that read the model without the interpreter's lock */
} StoredModel;

static inline Model *
model_in(PyObject *self)
{
    return &((StoredModel *)(void *)self)->model;
}

PyObject *stored_score(PyObject *self, PyObject *views);
PyObject *stored_rows(PyObject *self, PyObject *digest);
PyObject *stored_held_out(PyObject *self, PyObject *none);
PyObject *stored_append(PyObject *self, PyObject *table);
PyObject *stored_gather(PyObject *self, PyObject *before);

#endif
