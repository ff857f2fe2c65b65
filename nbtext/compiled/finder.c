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

/* Look in the texts of a message in one view. */
static bool
find_in_view(Finder *finder, Wanted *wanted, Mail *mail)
{
    const MailView *view = &wanted->view;
    const Text *first = mail->texts[view->text].first;
    size_t left = view->view.limit;
    Normalised normalised;
    start_ngrams(&normalised, &view->view);
    for (const Text *text = first; text && wanted->n_left; text = text->next) {
        if (view->view.ngrams) {
            normalise_field(view->tables, &view->view, text->text, text == first, &normalised);
            continue;
        }
        uint64_t salt = view->fields ? salt_of(mail, text->name) : 0;
        if (left && !find_in_field(finder, wanted, text->name, text->text, salt, &left))
            return false;
    }
    return !view->view.ngrams || find_in_ngrams(finder, wanted, &normalised);
}

bool
find_in_mail(Finder *finder, Mail *mail)
{
    for (size_t n = 0; n < finder->n_views; n++)
        if (!find_in_view(finder, finder->views + n, mail))
            return false;
    return true;
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
    Mail *mail = wanted ? calloc(1, sizeof *mail) : NULL;
    if (mail && take_fields(mail, mail->texts + wanted->view.text, fields))
        mail->outcome = find_in_view(finder, wanted, mail) ? READ : OUT_OF_MEMORY;
    if (wanted && (!mail || mail->outcome == OUT_OF_MEMORY))
        PyErr_NoMemory();
    if (mail)
        release_mail(mail);
    free(mail);
    put_finder_back(self);
    return PyErr_Occurred() ? NULL : counted_none();
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
                                                             wanted->terms.n_terms));
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

/* Take a view and its keys, with their buckets. */
static bool
take_wanted(Finder *finder, PyObject *described, PyObject *keys, PyObject *tables_type)
{
    Wanted *wanted = finder->views + finder->n_views;
    int shift;
    if (!take_view(&wanted->view, described, tables_type))
        return false;
    finder->n_views++; /* from here on its buffers are released */
    if (!PyTuple_Check(keys)
        || !PyArg_ParseTuple(keys, "y*y*i;keys", &wanted->keys, &wanted->buckets, &shift)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "keys are a tuple");
        return false;
    }
    if (!take_terms(&wanted->terms, &wanted->keys, &wanted->buckets, shift))
        return false;
    bool has_memory = begin_to_look(wanted);
    if (!has_memory)
        PyErr_NoMemory();
    return has_memory;
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
    for (size_t n = 0; n < finder->finder.n_views; n++) {
        Wanted *wanted = finder->finder.views + n;
        PyBuffer_Release(&wanted->keys);
        PyBuffer_Release(&wanted->buckets);
        free(wanted->states);
        free(wanted->starts);
        free(wanted->texts);
    }
    release_keys(&finder->finder.keys);
    release_keys(&finder->finder.places);
    Py_XDECREF(finder->views);
    free_object(self);
}

static PyMethodDef finder_methods[] = {
    {"look", finder_look, METH_VARARGS, NULL},
    {"found", finder_found, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

TYPE_SPEC(finder, "TextFinder", FinderObject);
