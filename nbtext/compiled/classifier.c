/*
 * The type `StoredModel`: a model file, opened where it lies, that scores mail; twin of
 * nbtext/scoring/classifier.py for one document.
 */

#include "stored.h"

/* Return a text of the file; UnicodeDecodeError if it is none. */
static PyObject *
text_of(Slice text)
{
    return PyUnicode_DecodeUTF8((const char *)text.at, (Py_ssize_t)length_of(text), NULL);
}

static PyObject *
stored_views(PyObject *self, PyObject *Py_UNUSED(none))
{
    const Header *header = &model_in(self)->first;
    PyObject *views = PyTuple_New((Py_ssize_t)header->n_views);
    for (size_t n = 0; views && n < header->n_views; n++) {
        const ViewSettings *view = header->views + n;
        PyObject *limit = view->limit ? PyLong_FromLongLong(view->limit) : counted_none();
        PyObject *one = Py_BuildValue(
            "(NNNNNNNNN)", text_of(view->alphabet), text_of(view->text),
            PyBool_FromLong(view->fields), PyBool_FromLong(view->tokens),
            PyBool_FromLong(view->pairs), PyBool_FromLong(view->fold_tokens),
            PyBool_FromLong(view->fold_pairs), limit, counted_none());
        if (!one || PyTuple_SetItem(views, (Py_ssize_t)n, one) < 0)
            Py_CLEAR(views);
    }
    return views;
}

static PyObject *
stored_classes(PyObject *self, PyObject *Py_UNUSED(none))
{
    const Header *header = &model_in(self)->first;
    return Py_BuildValue("(NN)", text_of(header->classes[0]), text_of(header->classes[1]));
}

static PyObject *
stored_tables(PyObject *self, PyObject *Py_UNUSED(none))
{
    const Model *model = model_in(self);
    PyObject *tables = PyTuple_New((Py_ssize_t)model->n_tables);
    for (size_t n = 0; tables && n < model->n_tables; n++) {
        const Table *table = model->tables + n;
        PyObject *one = Py_BuildValue("(KN)", (unsigned long long)table->length,
                                      bytes_of(table->policy));
        if (!one || PyTuple_SetItem(tables, (Py_ssize_t)n, one) < 0)
            Py_CLEAR(tables);
    }
    return tables;
}

/* Return how the last table asks to be scored and decided, as it is packed, and what else a
   table has that is appended. */
static PyObject *
stored_header(PyObject *self, PyObject *Py_UNUSED(none))
{
    const Model *model = model_in(self);
    const Header *last = &model->last;
    return Py_BuildValue("(NNNNLK)", bytes_of(last->settings), bytes_of(last->packed_scoring),
                         bytes_of(last->packed_scores), bytes_of(last->packed_policy),
                         (long long)last->keep, (unsigned long long)model->size);
}

/* Open the model in the file of an object; false with an error. */
static bool
open_stored(StoredModel *stored)
{
    const uint8_t *at = stored->file.buf;
    Filling filling = open_model(slice(at, at + stored->file.len), &stored->model);
    if (filling == NO_MEMORY)
        return PyErr_NoMemory();
    return filling == FILLED || refuse(PyExc_ValueError, "this model is not read here");
}

static PyObject *
stored_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *unnamed[] = {"", NULL};
    PyObject *self = PyType_GenericAlloc(type, 0);
    StoredModel *stored = (StoredModel *)(void *)self;
    if (self
        && (!PyArg_ParseTupleAndKeywords(args, names, "y*:StoredModel", unnamed, &stored->file)
            || !open_stored(stored)))
        Py_CLEAR(self);
    return self;
}

static void
stored_dealloc(PyObject *self)
{
    StoredModel *stored = (StoredModel *)(void *)self;
    release_model(&stored->model); /* nothing if it is not open */
    Py_XDECREF(stored->kept);
    Py_XDECREF(stored->seal);
    PyBuffer_Release(&stored->file); /* nothing if there is none */
    free_object(self);
}

static PyMethodDef stored_methods[] = {
    {"views", stored_views, METH_NOARGS, NULL},
    {"classes", stored_classes, METH_NOARGS, NULL},
    {"score", stored_score, METH_O, NULL},
    {"header", stored_header, METH_NOARGS, NULL},
    {"rows", stored_rows, METH_O, NULL},
    {"held_out", stored_held_out, METH_NOARGS, NULL},
    {"append", stored_append, METH_O, NULL},
    {"gather", stored_gather, METH_O, NULL},
    {"tables", stored_tables, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

TYPE_SPEC(stored, "StoredModel", StoredModel);
