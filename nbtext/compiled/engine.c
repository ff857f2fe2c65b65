/* Documents to keys, called from Python; twin of `document_keys` in nbtext/tokens/engine.py. */

#include "text_finding.h"

/* Copy the UTF-8 form of a text to the memory of a message; false, perhaps with an error. */
static bool
take_utf8(Mail *mail, PyObject *string, Slice *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass");
    bool is_taken = bytes && take_answer(mail, bytes, text);
    Py_XDECREF(bytes);
    return is_taken;
}

bool
take_fields(Mail *mail, Texts *texts, PyObject *fields)
{
    bool is_list = PyList_Check(fields), is_taken = is_list;
    for (Py_ssize_t n = 0; is_taken && n < PyList_Size(fields); n++) {
        PyObject *field = PyList_GetItem(fields, n);
        Slice name, text;
        if (!PyTuple_Check(field) || PyTuple_Size(field) != 2)
            return refuse(PyExc_TypeError, "a field is (name, text)");
        Py_INCREF(field); /* the list may change while a text is encoded */
        is_taken = take_utf8(mail, PyTuple_GetItem(field, 0), &name)
                   && take_utf8(mail, PyTuple_GetItem(field, 1), &text)
                   && add_text(mail, texts, name, text);
        Py_DECREF(field);
    }
    if (!is_list)
        PyErr_SetString(PyExc_TypeError, "a document is a list of fields");
    else if (!is_taken && !PyErr_Occurred())
        PyErr_NoMemory();
    return is_taken;
}

/* Read the terms of a document, as Python has it, and note where they end. */
static bool
read_document(Mail *mail, PyObject *fields, Keys *starts)
{
    Texts *texts = mail->texts + mail->views->text;
    *texts = (Texts){NULL, NULL};
    Py_INCREF(fields);
    bool is_taken = take_fields(mail, texts, fields);
    Py_DECREF(fields);
    bool is_read = is_taken && read_view(mail, mail->views, mail->keys)
                   && push_key(starts, mail->keys->length);
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
    bool is_read = mail->n_views == 1 && push_key(&starts, 0);
    if (mail->n_views != 1)
        PyErr_SetString(PyExc_ValueError, "a reader of one view was expected");
    else if (!is_read)
        PyErr_NoMemory();
    for (Py_ssize_t n = 0; is_read && n < PyList_Size(documents); n++)
        is_read = read_document(mail, PyList_GetItem(documents, n), &starts);
    if (is_read)
        result = Py_BuildValue("(NN)", bytes_of_keys(mail->keys), bytes_of_keys(&starts));
    put_mail_back(self, mail);
    release_keys(&starts);
    return result;
}
