/* Documents to keys, called from Python; twin of `document_keys` in nbtext/tokens/engine.py. */

#include "text_finding.h"

/* Borrow or make the UTF-8 form of a text; `owned` keeps it alive. */
static bool
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

bool
take_fields(PyObject *fields, TakeField *take, void *into)
{
    if (!PyList_Check(fields)) {
        PyErr_SetString(PyExc_TypeError, "a document is a list of fields");
        return false;
    }
    for (Py_ssize_t n = 0; n < PyList_Size(fields); n++) {
        PyObject *field = PyList_GetItem(fields, n), *owned_name = NULL, *owned_text = NULL;
        Slice name, text;
        if (!PyTuple_Check(field) || PyTuple_Size(field) != 2) {
            PyErr_SetString(PyExc_TypeError, "a field is (name, text)");
            return false;
        }
        Py_INCREF(field); /* the list may change while a text is encoded */
        bool is_taken = utf8_of(PyTuple_GetItem(field, 0), &owned_name, &name)
                        && utf8_of(PyTuple_GetItem(field, 1), &owned_text, &text);
        if (is_taken && !take(into, name, text, n == 0)) {
            PyErr_NoMemory();
            is_taken = false;
        }
        Py_XDECREF(owned_name);
        Py_XDECREF(owned_text);
        Py_DECREF(field);
        if (!is_taken)
            return false;
    }
    return true;
}

/* How documents are read, the one that is, and where keys and starts of documents go. */
typedef struct {
    const Tables *tables;
    View view;
    bool has_names; /* names of fields are parts of terms */
    size_t left;
    Normalised *normalised;
    Keys keys, starts;
} Reading;

static bool
read_one(void *into, Slice name, Slice text, bool is_first)
{
    Reading *reading = into;
    const View *view = &reading->view;
    if (view->ngrams) {
        normalise_field(reading->tables, view, text, is_first, reading->normalised);
        return true;
    }
    uint64_t salt = reading->has_names ? salt_by_hash(name) : 0;
    return read_field(reading->tables, view, text, salt, &reading->left, &reading->keys);
}

static bool
read_document(Reading *reading, PyObject *fields)
{
    const View *view = &reading->view;
    Normalised normalised;
    start_ngrams(&normalised, view);
    reading->left = view->limit;
    reading->normalised = &normalised;
    if (!take_fields(fields, read_one, reading))
        return false;
    if (!view->ngrams || push_ngrams(&normalised, &reading->keys))
        return true;
    PyErr_NoMemory();
    return false;
}

/* Note where the next document begins. */
static bool
push_start(Reading *reading)
{
    if (push_key(&reading->starts, reading->keys.length))
        return true;
    PyErr_NoMemory();
    return false;
}

static bool
read_documents(Reading *reading, PyObject *documents)
{
    if (!push_start(reading))
        return false;
    for (Py_ssize_t n = 0; n < PyList_Size(documents); n++) {
        PyObject *fields = PyList_GetItem(documents, n);
        Py_INCREF(fields);
        bool is_read = read_document(reading, fields);
        Py_DECREF(fields);
        if (!is_read || !push_start(reading))
            return false;
    }
    return true;
}

static PyObject *
document_keys(PyObject *self, PyObject *args)
{
    PyObject *documents, *result = NULL;
    int has_names, tokens, pairs, fold_tokens, fold_pairs, ngrams;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(args, "O!ppppppn:document_keys", &PyList_Type, &documents,
                          &has_names, &tokens, &pairs, &fold_tokens, &fold_pairs, &ngrams,
                          &limit))
        return NULL;
    Reading reading = {
        .tables = &((TablesObject *)(void *)self)->tables,
        .view = {tokens, pairs, fold_tokens, fold_pairs, ngrams,
                 limit < 0 ? SIZE_MAX : (size_t)limit},
        .has_names = has_names,
    };
    if (read_documents(&reading, documents))
        result = Py_BuildValue("(NN)", key_array_of(self, &reading.keys),
                               key_array_of(self, &reading.starts));
    release_keys(&reading.keys);
    release_keys(&reading.starts);
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
