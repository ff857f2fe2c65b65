/*
 * Mail learnt by the type `StoredModel`; twin of nbtext/learning/one_by_one.py and, of what
 * is to be done about each mail, plan.py.
 */

#include "module.h"

#include "lesson.h"

#include "stored.h"

#include <stdlib.h>

/* What is called with: mails, and what is known of each. */
typedef struct {
    KeysOfViews keys[MOST_MAILS];
    Slice digests[MOST_MAILS];
    InLedger found[MOST_MAILS];
    size_t n;
} Given;

/* Take mails, each a tuple of its views' keys and its digest; false with an error. */
static bool
take_mails(Given *given, PyObject *mails, size_t n_views)
{
    given->n = (size_t)PyTuple_Size(mails);
    for (size_t n = 0; n < given->n; n++) {
        PyObject *views, *digest;
        PyObject *mail = PyTuple_GetItem(mails, (Py_ssize_t)n);
        if (!PyTuple_Check(mail) || !PyArg_ParseTuple(mail, "OS:lesson", &views, &digest)
            || !take_keys(given->keys + n, views, n_views)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "a mail is a tuple");
            return false;
        }
        const uint8_t *at = (const uint8_t *)PyBytes_AsString(digest);
        given->digests[n] = slice(at, at + PyBytes_Size(digest));
        if (length_of(given->digests[n]) != DIGEST_SIZE) {
            PyErr_SetString(PyExc_ValueError, "a digest has 16 bytes");
            return false;
        }
    }
    return true;
}

/* Learn the mails that are not known yet; nothing of Python is touched. */
static Taught
teach(Lesson *lesson, Given *given, Output *output)
{
    const Model *model = lesson->model;
    Taught taught = LEARNT;
    for (size_t n = 0; n < given->n && taught == LEARNT; n++) {
        given->found[n] = look_up(model, given->digests[n].at, lesson->class);
        if (given->found[n] == COUNTED_ELSEWHERE || given->found[n] == NOT_SAID)
            taught = NOT_HERE;
        else if (given->found[n] == NOT_COUNTED)
            taught = add_mail(lesson, given->keys[n].keys, given->digests[n].at);
    }
    if ((int64_t)lesson->n_mails > model->first.documents[lesson->class])
        return NOT_HERE; /* which they outgrow, and are scored afterwards */
    if (taught == LEARNT && lesson->n_mails)
        taught = add_up(lesson);
    if (taught == LEARNT && lesson->n_mails)
        taught = write_table(lesson, output);
    return taught;
}

/* Return which mails were not known, and the table. */
static PyObject *
result_of(const Given *given, const Output *output)
{
    PyObject *are_new = PyTuple_New((Py_ssize_t)given->n);
    for (size_t n = 0; are_new && n < given->n; n++)
        if (PyTuple_SetItem(are_new, (Py_ssize_t)n,
                            PyBool_FromLong(given->found[n] == NOT_COUNTED)) < 0)
            Py_CLEAR(are_new);
    if (!are_new)
        return NULL;
    PyObject *table = PyBytes_FromStringAndSize((const char *)output->bytes,
                                                (Py_ssize_t)output->length);
    return Py_BuildValue("(NN)", are_new, table);
}

PyObject *
stored_lesson(PyObject *self, PyObject *args)
{
    int place;
    const char *written, *writer;
    PyObject *mails, *result = NULL;
    if (!PyArg_ParseTuple(args, "iO!ss:lesson", &place, &PyTuple_Type, &mails, &written,
                          &writer))
        return NULL;
    if (place < 0 || place > 1 || PyTuple_Size(mails) > MOST_MAILS) {
        PyErr_SetString(PyExc_ValueError, "two classes, and 12 mails at the most");
        return NULL;
    }
    Lesson *lesson = calloc(1, sizeof *lesson);
    Given *given = calloc(1, sizeof *given);
    Output output = {0};
    if (!lesson || !given) {
        PyErr_NoMemory();
    } else {
        lesson->model = model_in(self);
        lesson->class = (size_t)place;
        lesson->written = slice_of(written);
        lesson->writer = slice_of(writer);
        if (take_mails(given, mails, lesson->model->first.n_views)) {
            Taught taught;
            ((StoredModel *)(void *)self)->n_busy++;
            Py_BEGIN_ALLOW_THREADS
            taught = teach(lesson, given, &output);
            Py_END_ALLOW_THREADS
            ((StoredModel *)(void *)self)->n_busy--;
            if (taught == LESSON_NO_MEMORY)
                PyErr_NoMemory();
            else
                result = taught == LEARNT ? result_of(given, &output) : counted_none();
        }
        for (size_t n = 0; n < MOST_MAILS; n++)
            release_keys_of_views(given->keys + n);
        release_lesson(lesson);
    }
    free(output.bytes);
    free(lesson);
    free(given);
    return result;
}
