/*
 * The type `TextFinder`: looks for the texts of terms in one document after the other, as
 * nbtext/tokens/text_finding.py specifies.
 */

#include "text_finding.h"

#include <stdlib.h>

typedef struct {
    PyObject_HEAD
    Finder finder;
    PyObject *views; /* the tables are those of the views */
    bool is_at_work;
} FinderObject;

/* --- a document ------------------------------------------------------------------- */

/* A document that is read in one view. */
typedef struct {
    Finder *finder;
    Wanted *wanted;
    size_t left;
    Normalised normalised;
} Looking;

static void
begin(Looking *looking, Finder *finder, Wanted *wanted)
{
    looking->finder = finder;
    looking->wanted = wanted;
    looking->left = wanted->view.view.limit;
    start_ngrams(&looking->normalised, &wanted->view.view);
}

static bool
look_in(Looking *looking, Slice name, Slice text, uint64_t salt, bool is_first)
{
    const MailView *view = &looking->wanted->view;
    if (view->view.ngrams) {
        normalise_field(view->tables, &view->view, text, is_first, &looking->normalised);
        return true;
    }
    return !looking->left
           || find_in_field(looking->finder, looking->wanted, name, text, salt,
                            &looking->left);
}

static bool
end(Looking *looking)
{
    return !looking->wanted->view.view.ngrams
           || find_in_ngrams(looking->finder, looking->wanted, &looking->normalised);
}

bool
find_in_mail(Finder *finder, Mail *mail)
{
    for (size_t n = 0; n < finder->n_views; n++) {
        Wanted *wanted = finder->views + n;
        Looking looking;
        if (!wanted->n_left)
            continue;
        begin(&looking, finder, wanted);
        const Text *first = mail->texts[wanted->view.text].first;
        for (const Text *text = first; text; text = text->next) {
            uint64_t salt = wanted->view.fields ? salt_of(mail, text->name) : 0;
            if (!look_in(&looking, text->name, text->text, salt, text == first))
                return false;
        }
        if (!end(&looking))
            return false;
    }
    return true;
}

/* Look in a field, as Python has it. */
static bool
look_in_field(void *into, Slice name, Slice text, bool is_first)
{
    Looking *looking = into;
    uint64_t salt = looking->wanted->view.fields ? salt_by_hash(name) : 0;
    return look_in(looking, name, text, salt, is_first);
}

static bool
look_in_fields(Finder *finder, Wanted *wanted, PyObject *fields)
{
    Looking looking;
    begin(&looking, finder, wanted);
    if (!take_fields(fields, look_in_field, &looking))
        return false;
    if (end(&looking))
        return true;
    PyErr_NoMemory();
    return false;
}

/* --- the type --------------------------------------------------------------------- */

Finder *
take_finder(PyObject *object)
{
    FinderObject *self = (FinderObject *)(void *)object;
    if (self->is_at_work) {
        PyErr_SetString(PyExc_RuntimeError, "this finder is at work");
        return NULL;
    }
    self->is_at_work = true;
    return &self->finder;
}

void
put_finder_back(PyObject *object)
{
    ((FinderObject *)(void *)object)->is_at_work = false;
}

/* Return one of the views of a finder, NULL with an error if there is none. */
static Wanted *
view_of(Finder *finder, Py_ssize_t view)
{
    if (view >= 0 && (size_t)view < finder->n_views)
        return finder->views + view;
    PyErr_SetString(PyExc_IndexError, "there is no such view");
    return NULL;
}

static PyObject *
finder_look(PyObject *self, PyObject *args)
{
    Py_ssize_t view;
    PyObject *fields;
    if (!PyArg_ParseTuple(args, "nO!:look", &view, &PyList_Type, &fields))
        return NULL;
    Finder *finder = take_finder(self);
    if (!finder)
        return NULL;
    Wanted *wanted = view_of(finder, view);
    bool is_done = wanted && (!wanted->n_left || look_in_fields(finder, wanted, fields));
    put_finder_back(self);
    return is_done ? counted_none() : NULL;
}

static PyObject *
finder_found(PyObject *self, PyObject *args)
{
    Py_ssize_t view;
    if (!PyArg_ParseTuple(args, "n:found", &view))
        return NULL;
    Finder *finder = take_finder(self);
    if (!finder)
        return NULL;
    Wanted *wanted = view_of(finder, view);
    PyObject *texts = NULL, *result = NULL;
    if (wanted)
        texts = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)wanted->length);
    if (texts) {
        write_texts(wanted, (uint8_t *)PyByteArray_AsString(texts));
        result = Py_BuildValue("(NN)", texts,
                               PyByteArray_FromStringAndSize((const char *)wanted->states,
                                                             (Py_ssize_t)wanted->n));
    }
    put_finder_back(self);
    return result;
}

bool
take_view(MailView *view, PyObject *described, PyObject *tables_type)
{
    PyObject *tables;
    int text, fields, tokens, pairs, fold_tokens, fold_pairs, ngrams;
    Py_ssize_t limit;
    if (!PyTuple_Check(described)) {
        PyErr_SetString(PyExc_TypeError, "a view is a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(described, "O!ippppppn;a view", tables_type, &tables, &text,
                          &fields, &tokens, &pairs, &fold_tokens, &fold_pairs, &ngrams,
                          &limit))
        return false;
    if (text < 0 || text >= N_TEXTS || limit < 0) {
        PyErr_SetString(PyExc_ValueError, "these are no views of mail");
        return false;
    }
    view->tables = &((TablesObject *)(void *)tables)->tables;
    view->text = (TextKind)text;
    view->fields = fields;
    view->view = (View){tokens, pairs, fold_tokens, fold_pairs, ngrams, (size_t)limit};
    return true;
}

/* Take a view and its keys. */
static bool
take_wanted(Finder *finder, PyObject *described, PyObject *keys, PyObject *tables_type)
{
    Wanted *wanted = finder->views + finder->n_views;
    Py_buffer buffer;
    if (!take_view(&wanted->view, described, tables_type)
        || PyObject_GetBuffer(keys, &buffer, PyBUF_SIMPLE))
        return false;
    finder->n_views++;
    size_t n = (size_t)buffer.len / sizeof(uint64_t);
    bool is_taken = has_size(&buffer, n, sizeof(uint64_t)) && are_keys(buffer.buf, n);
    if (!is_taken) {
        PyErr_SetString(PyExc_ValueError, "these are no sorted keys");
    } else if (!want(wanted, buffer.buf, n)) {
        PyErr_NoMemory();
        is_taken = false;
    }
    PyBuffer_Release(&buffer);
    return is_taken;
}

static PyObject *
finder_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *views, *wanted;
    if (!PyArg_ParseTuple(args, "O!O!:TextFinder", &PyTuple_Type, &views, &PyTuple_Type,
                          &wanted))
        return NULL;
    Py_ssize_t n_views = PyTuple_Size(views);
    if (n_views > MOST_VIEWS || n_views != PyTuple_Size(wanted)) {
        PyErr_SetString(PyExc_ValueError, "each view has its keys, of few views");
        return NULL;
    }
    PyObject *self = new_object(type, names);
    PyObject *tables = self ? type_beside(self, "Tables") : NULL;
    if (!tables) {
        Py_XDECREF(self);
        return NULL;
    }
    FinderObject *finder = (FinderObject *)(void *)self;
    Py_IncRef(views);
    finder->views = views;
    bool is_sound = true;
    for (Py_ssize_t n = 0; is_sound && n < n_views; n++)
        is_sound = take_wanted(&finder->finder, PyTuple_GetItem(views, n),
                               PyTuple_GetItem(wanted, n), tables);
    Py_DECREF(tables);
    if (!is_sound)
        Py_CLEAR(self);
    return self;
}

static void
finder_dealloc(PyObject *self)
{
    FinderObject *finder = (FinderObject *)(void *)self;
    release_finder(&finder->finder);
    Py_XDECREF(finder->views);
    free_object(self);
}

static PyMethodDef finder_methods[] = {
    {"look", finder_look, METH_VARARGS, NULL},
    {"found", finder_found, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

TYPE_SPEC(finder, "TextFinder", FinderObject);
