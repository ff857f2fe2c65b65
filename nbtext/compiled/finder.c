/*
 * What a `MailReader` looks for the texts of terms with, in one document after the other, as
 * nbtext/tokens/text_finding.py specifies.
 */

#include "text_finding.h"

#include <stdlib.h>

/* --- a document ------------------------------------------------------------------- */

/* Look in the texts of a message in one view. */
static bool
find_in_view(Finder *finder, Wanted *wanted, Mail *mail)
{
    const MailView *view = &wanted->view;
    size_t left = view->view.limit;
    if (view->view.ngrams)
        return !wanted->n_left || find_in_ngrams(finder, wanted, mail);
    for (const Text *text = mail->texts[view->text].first; text && wanted->n_left;
         text = text->next) {
        uint64_t salt = view->fields ? salt_of(mail, text->name) : 0;
        if (left && !find_in_field(finder, wanted, text->name, text->text, salt, &left))
            return false;
    }
    return true;
}

bool
find_in_mail(Finder *finder, Mail *mail)
{
    for (size_t n = 0; n < finder->n_views; n++)
        if (!find_in_view(finder, finder->views + n, mail))
            return false;
    return true;
}

/* --- called from Python ------------------------------------------------------------ */

/* Take the keys of a view, with their buckets. */
static bool
take_wanted(Finder *finder, const MailView *view, PyObject *keys)
{
    Wanted *wanted = finder->views + finder->n_views++; /* whose buffers are released now */
    int shift;
    wanted->view = *view;
    if (!PyTuple_Check(keys))
        return refuse(PyExc_TypeError, "keys are a tuple");
    if (!PyArg_ParseTuple(keys, "y*y*i;keys", &wanted->keys, &wanted->buckets, &shift)
        || !take_terms(&wanted->terms, &wanted->keys, &wanted->buckets, shift))
        return false;
    return begin_to_look(wanted) || PyErr_NoMemory();
}

void
release_finder(Finder *finder)
{
    for (size_t n = 0; finder && n < finder->n_views; n++) {
        Wanted *wanted = finder->views + n;
        PyBuffer_Release(&wanted->keys);
        PyBuffer_Release(&wanted->buckets);
        free(wanted->sieve);
        free(wanted->starts);
        free(wanted->texts);
    }
    if (finder) {
        release_keys(&finder->keys);
        release_keys(&finder->places);
        release_keys(&finder->spans);
        release_keys(&finder->terms);
    }
    free(finder);
}

PyObject *
reader_look_for(PyObject *self, PyObject *wanted)
{
    Mail *mail = take_mail(self);
    Finder *finder = mail ? calloc(1, sizeof *finder) : NULL;
    if (!mail)
        return NULL;
    bool is_sound = finder && PyTuple_Check(wanted)
                    && (size_t)PyTuple_Size(wanted) == mail->n_views;
    if (!finder)
        PyErr_NoMemory();
    else if (!is_sound)
        PyErr_SetString(PyExc_ValueError, "each view has its keys");
    for (size_t n = 0; is_sound && n < mail->n_views; n++)
        is_sound = take_wanted(finder, mail->views + n, PyTuple_GetItem(wanted, (Py_ssize_t)n));
    put_mail_back(self, mail);
    if (is_sound)
        put_finder_back(self, finder);
    else
        release_finder(finder);
    return is_sound ? counted_none() : NULL;
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

PyObject *
reader_look(PyObject *self, PyObject *args)
{
    Py_ssize_t view;
    PyObject *fields;
    if (!PyArg_ParseTuple(args, "nO!:look", &view, &PyList_Type, &fields))
        return NULL;
    Finder *finder = take_finder(self);
    Wanted *wanted = finder ? view_of(finder, view) : NULL;
    Mail *mail = wanted ? take_mail(self) : NULL;
    if (mail) {
        Texts *texts = mail->texts + wanted->view.text;
        *texts = (Texts){NULL, NULL};
        if (take_fields(mail, texts, fields) && !find_in_view(finder, wanted, mail))
            PyErr_NoMemory();
        put_mail_back(self, mail);
    }
    if (finder)
        put_finder_back(self, finder);
    return PyErr_Occurred() ? NULL : counted_none();
}

PyObject *
reader_found(PyObject *self, PyObject *args)
{
    Py_ssize_t view;
    if (!PyArg_ParseTuple(args, "n:found", &view))
        return NULL;
    Finder *finder = take_finder(self);
    if (!finder)
        return NULL;
    Wanted *wanted = view_of(finder, view);
    PyObject *texts = NULL, *states = NULL;
    if (wanted) {
        texts = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)wanted->length - 1);
        states = PyByteArray_FromStringAndSize(NULL, wanted->terms.n_terms);
    }
    if (texts && states)
        write_texts(wanted, (uint8_t *)PyByteArray_AsString(texts),
                    PyByteArray_AsString(states));
    put_finder_back(self, finder);
    return Py_BuildValue("(NN)", texts, states);
}
