/*
 * The type `KeyArray`: keys as they were gathered, handed to Python without a copy, as a
 * buffer that may be written to; Python has no twin of it.
 */

#include "module.h"

#include <stdlib.h>

typedef struct {
    PyObject_HEAD
    Keys keys;
} KeyArray;

static int
key_array_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static uint64_t none;
    const Keys *keys = &((KeyArray *)(void *)self)->keys;
    return PyBuffer_FillInfo(view, self, keys->values ? keys->values : &none,
                             (Py_ssize_t)(keys->length * sizeof *keys->values), 0, flags);
}

static void
key_array_dealloc(PyObject *self)
{
    free(((KeyArray *)(void *)self)->keys.values);
    free_object(self);
}

PyObject *
key_array_of(PyObject *owner, Keys *keys)
{
    PyObject *type = PyErr_Occurred() ? NULL : type_beside(owner, "KeyArray");
    PyObject *self = type ? new_object((PyTypeObject *)(void *)type, NULL) : NULL;
    Py_XDECREF(type);
    if (!self)
        return NULL;
    ((KeyArray *)(void *)self)->keys = *keys;
    *keys = (Keys){0};
    PyObject *view = PyMemoryView_FromObject(self); /* which keeps it */
    Py_DECREF(self);
    return view;
}

static PyType_Slot slots[] = {
    {Py_bf_getbuffer, (void *)key_array_buffer},
    {Py_tp_dealloc, (void *)key_array_dealloc},
    {0, NULL},
};

PyType_Spec key_array_spec = {
    .name = "nbtext._compiled.KeyArray",
    .basicsize = sizeof(KeyArray),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE
             | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
