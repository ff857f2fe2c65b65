/* Documents to keys, called from Python; twin of `document_keys` in nbtext/tokens/engine.py. */

#include "text_finding.h"

bool
take_fields(Mail *mail, Texts *texts, PyObject *fields)
{
    PyObject *name, *text;
    if (!PyList_Check(fields))
        return refuse(PyExc_TypeError, "a document is a list of fields");
    for (Py_ssize_t n = 0; n < PyList_Size(fields); n++) {
        PyObject *field = PyList_GetItem(fields, n);
        if (!PyTuple_Check(field))
            return refuse(PyExc_TypeError, "a field is (name, text)");
        if (!PyArg_ParseTuple(field, "SS;a field", &name, &text))
            return false;
        Text *added = grab(&mail->arena, sizeof *added);
        if (!added)
            return PyErr_NoMemory();
        *added = (Text){NULL, bytes_in(name), bytes_in(text)};
        APPEND(texts->first, texts->last, added);
    }
    return true;
}

/* Read the terms of a document, as Python has it, and note where they begin. */
static bool
read_document(Mail *mail, PyObject *fields, Keys *starts)
{
    Texts *texts = mail->texts + mail->views->text;
    *texts = (Texts){NULL, NULL};
    bool is_taken = take_fields(mail, texts, fields);
    bool is_read = is_taken && push_key(starts, mail->keys->length)
                   && read_view(mail, mail->views, mail->keys);
    if (is_taken && !is_read)
        PyErr_NoMemory();
    empty_arena(&mail->arena);
    return is_read;
}

PyObject *
reader_document_keys(PyObject *self, PyObject *documents)
{
    PyObject *result = NULL;
    Keys starts = {0};
    if (!PyList_Check(documents))
        return PyErr_Format(PyExc_TypeError, "a list of documents was expected");
    Mail *mail = take_mail(self);
    if (!mail)
        return NULL;
    mail->keys->length = 0;
    bool is_read = mail->n_views == 1
                   || refuse(PyExc_ValueError, "a reader of one view was expected");
    for (Py_ssize_t n = 0; is_read && n < PyList_Size(documents); n++)
        is_read = read_document(mail, PyList_GetItem(documents, n), &starts);
    if (is_read && (push_key(&starts, mail->keys->length) || PyErr_NoMemory()))
        result = Py_BuildValue("(NN)", bytes_of_keys(mail->keys), bytes_of_keys(&starts));
    put_mail_back(self, mail);
    release_keys(&starts);
    return result;
}
