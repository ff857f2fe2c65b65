/* Documents to keys, called from Python; twin of `document_keys` in nbtext/tokens/engine.py. */

#include "text_finding.h"

/* Where the keys of documents go, and where each document's begin. */
typedef struct {
    Keys keys, starts;
} Found;

bool
utf8_of(PyObject *string, PyObject **owned, Slice *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(string, &size);
    *owned = NULL;
    if (!bytes) { /* lone surrogates */
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return false;
        PyErr_Clear();
        *owned = PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass");
        if (!*owned)
            return false;
        bytes = PyBytes_AsString(*owned);
        size = PyBytes_Size(*owned);
    }
    text->at = (const uint8_t *)bytes;
    text->end = text->at + size;
    return true;
}

/* A field's salt, 0 if there is nothing to ask for it. */
static bool
take_salt(PyObject *salts, PyObject *name, uint64_t *salt)
{
    *salt = 0;
    if (salts == Py_None)
        return true;
    PyObject *number = PyObject_CallFunctionObjArgs(salts, name, NULL);
    if (!number)
        return false;
    *salt = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

/* Read a field of a document; false after an error. */
static bool
read_one(const Tables *tables, const View *view, PyObject *field, PyObject *salts,
         bool is_first, size_t *left, Normalised *normalised, Keys *keys)
{
    PyObject *owned;
    Slice text;
    uint64_t salt;
    if (!PyTuple_Check(field) || PyTuple_Size(field) != 2) {
        PyErr_SetString(PyExc_TypeError, "a field is (name, text)");
        return false;
    }
    if (!take_salt(salts, PyTuple_GetItem(field, 0), &salt)
        || !utf8_of(PyTuple_GetItem(field, 1), &owned, &text))
        return false;
    bool has_room = true;
    if (view->ngrams)
        normalise_field(tables, view, text, is_first, normalised);
    else
        has_room = read_field(tables, view, text, salt, left, keys);
    Py_XDECREF(owned);
    if (!has_room)
        PyErr_NoMemory();
    return has_room;
}

static bool
read_document(const Tables *tables, const View *view, PyObject *fields, PyObject *salts,
              Keys *keys)
{
    size_t left = view->limit;
    Normalised normalised;
    start_ngrams(&normalised, view);
    if (!PyList_Check(fields)) {
        PyErr_SetString(PyExc_TypeError, "a document is a list of fields");
        return false;
    }
    for (Py_ssize_t n = 0; n < PyList_Size(fields) && left; n++) {
        PyObject *field = PyList_GetItem(fields, n);
        Py_INCREF(field); /* asking for the salt may run anything */
        bool is_read = read_one(tables, view, field, salts, n == 0, &left, &normalised,
                                keys);
        Py_DECREF(field);
        if (!is_read)
            return false;
    }
    if (!view->ngrams || push_ngrams(&normalised, keys))
        return true;
    PyErr_NoMemory();
    return false;
}

/* Note where the next document begins. */
static bool
push_start(Found *found)
{
    if (push_key(&found->starts, found->keys.length))
        return true;
    PyErr_NoMemory();
    return false;
}

static bool
read_documents(const Tables *tables, const View *view, PyObject *documents,
               PyObject *salts, Found *found)
{
    if (!push_start(found))
        return false;
    for (Py_ssize_t n = 0; n < PyList_Size(documents); n++) {
        PyObject *fields = PyList_GetItem(documents, n);
        Py_INCREF(fields);
        bool is_read = read_document(tables, view, fields, salts, &found->keys);
        Py_DECREF(fields);
        if (!is_read || !push_start(found))
            return false;
    }
    return true;
}

static PyObject *
document_keys(PyObject *self, PyObject *args)
{
    const Tables *tables = &((TablesObject *)(void *)self)->tables;
    PyObject *documents, *salts, *result = NULL;
    int tokens, pairs, fold_tokens, fold_pairs, ngrams;
    Py_ssize_t limit;
    Found found = {{0}, {0}};
    if (!PyArg_ParseTuple(args, "O!Opppppn:document_keys", &PyList_Type, &documents,
                          &salts, &tokens, &pairs, &fold_tokens, &fold_pairs, &ngrams,
                          &limit))
        return NULL;
    View view = {tokens, pairs, fold_tokens, fold_pairs, ngrams,
                 limit < 0 ? SIZE_MAX : (size_t)limit};
    if (read_documents(tables, &view, documents, salts, &found))
        result = Py_BuildValue("(NN)", key_array_of(self, &found.keys),
                               key_array_of(self, &found.starts));
    release_keys(&found.keys);
    release_keys(&found.starts);
    return result;
}

/* --- the type Tables -------------------------------------------------------------- */

static Slice
bytes_in(const Py_buffer *buffer)
{
    const uint8_t *at = buffer->buf;
    return (Slice){at, at + buffer->len};
}

static PyObject *
tables_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    Py_buffer b[5] = {{0}};
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*:Tables", &b[0], &b[1], &b[2], &b[3], &b[4]))
        return NULL;
    TableSource source = {bytes_in(&b[0]), bytes_in(&b[1]), bytes_in(&b[2]),
                          bytes_in(&b[3]), bytes_in(&b[4])};
    PyObject *object = new_object(type, names);
    if (object) {
        Filling filling = fill_tables(&((TablesObject *)(void *)object)->tables, &source);
        if (filling == UNSOUND)
            PyErr_SetString(PyExc_ValueError, "these are not tables of code points");
        if (filling == NO_MEMORY)
            PyErr_NoMemory();
        if (filling != FILLED)
            Py_CLEAR(object);
    }
    for (size_t n = 0; n < 5; n++)
        PyBuffer_Release(&b[n]);
    return object;
}

static void
tables_dealloc(PyObject *self)
{
    release_tables(&((TablesObject *)(void *)self)->tables);
    free_object(self);
}

static PyMethodDef tables_methods[] = {
    {"document_keys", document_keys, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

TYPE_SPEC(tables, "Tables", TablesObject);
