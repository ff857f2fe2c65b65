/* The type `StoredModel`, which classifying.c and one_by_one.c make together. */

#ifndef NBTEXT_STORED_H
#define NBTEXT_STORED_H

#include "module.h"

#include "model.h"

typedef struct {
    PyObject_HEAD
    Py_buffer file;
    Model *model; /* NULL until it is open */
} StoredModel;

static inline Model *
model_in(PyObject *self)
{
    return ((StoredModel *)(void *)self)->model;
}

extern const char lesson_doc[], tables_doc[];

PyObject *stored_lesson(PyObject *self, PyObject *args);
PyObject *stored_tables(PyObject *self, PyObject *none);

#endif
