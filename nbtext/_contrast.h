/* What `_compiled.c` puts into its module of `_contrast.c`. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern const char add_by_class_doc[], correct_doc[];

PyObject *add_by_class(PyObject *module, PyObject *args);
PyObject *correct(PyObject *module, PyObject *args);
