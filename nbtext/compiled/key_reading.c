/*
 * Mail to keys, called from Python; twin of nbtext/tokens/key_reading.py.
 *
 * A message is read without the interpreter's lock, which is taken for questions. Each
 * thread that reads has a `Mail` of its own.
 */

#include "batch.h"

#include "text_finding.h"

#include <stdlib.h>

/* The type `MailReader`. */
typedef struct {
    PyObject_HEAD
    PyObject *views, *answer; /* the tables are those of the views */
    Mail *spare;              /* NULL while somebody reads with it */
    Finder *finder;           /* likewise, and if no texts are looked for */
    uint64_t secret;          /* of this process: what chooses slots of keys */
} ReaderObject;

/* Who reads: the function to ask, and the thread's state while it has no lock. */
typedef struct {
    PyObject *answer;
    PyThreadState *state;
} Asking;

bool
take_answer(Mail *mail, PyObject *answered, Slice *answer)
{
    char *bytes = NULL;
    Py_ssize_t size = 0;
    if (answered != Py_None && PyBytes_AsStringAndSize(answered, &bytes, &size) < 0)
        return stop(mail, FAILED);
    uint8_t *copy = grab_for(mail, (size_t)size);
    if (!copy)
        return false;
    *answer = slice(copy, copy + size);
    if (size)
        memcpy(copy, bytes, (size_t)size);
    return true;
}

/* Ask the Python function. */
static bool
ask_python(Mail *mail, Question question, Slice first, Slice second, Slice *answer)
{
    Asking *asking = mail->asked;
    PyEval_RestoreThread(asking->state);
    PyObject *one = bytes_of(first), *other = bytes_of(second), *answered = NULL;
    if (one && other)
        answered = PyObject_CallFunction(asking->answer, "iOO", (int)question, one, other);
    Py_XDECREF(one);
    Py_XDECREF(other);
    bool is_taken = answered ? take_answer(mail, answered, answer) : stop(mail, FAILED);
    Py_XDECREF(answered);
    asking->state = PyEval_SaveThread();
    return is_taken;
}

/* Take the next view of a reader; all of them are of plain texts, or none. */
static bool
take_next_view(Mail *mail, PyObject *views, PyObject *tables_type)
{
    MailView *view = mail->views + mail->n_views;
    PyObject *described = PyTuple_GetItem(views, (Py_ssize_t)mail->n_views), *tables;
    int text, fields, tokens, pairs, fold_tokens, fold_pairs, ngrams;
    Py_ssize_t limit;
    if (!PyTuple_Check(described))
        return refuse(PyExc_TypeError, "a view is a tuple");
    if (!PyArg_ParseTuple(described, "O!ippppppn;a view", tables_type, &tables, &text,
                          &fields, &tokens, &pairs, &fold_tokens, &fold_pairs, &ngrams,
                          &limit))
        return false;
    view->tables = &((TablesObject *)(void *)tables)->tables;
    view->text = (TextKind)text;
    view->fields = fields;
    view->view = (View){tokens, pairs, fold_tokens, fold_pairs, ngrams, (size_t)limit};
    mail->n_views++;
    if (text >= 0 && text < N_TEXTS && limit >= 0
        && (mail->views[0].text == PLAIN_TEXT) == (text == PLAIN_TEXT))
        return true;
    return refuse(PyExc_ValueError, "these are no views of mail");
}

/* Return what to read with, NULL with an error if there is no memory. */
static Mail *
new_mail(PyObject *self)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    PyObject *type = type_beside(self, "Tables");
    Mail *mail = type ? calloc(1, sizeof *mail) : NULL;
    if (type && !mail)
        PyErr_NoMemory();
    bool is_sound = mail;
    while (is_sound && mail->n_views < (size_t)PyTuple_Size(reader->views))
        is_sound = take_next_view(mail, reader->views, type);
    Py_XDECREF(type);
    if (mail && !is_sound) {
        release_mail(mail);
        free(mail);
        mail = NULL;
    }
    if (mail)
        mail->ask = ask_python;
    return mail;
}

Mail *
take_mail(PyObject *self)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    Mail *mail = reader->spare ? reader->spare : new_mail(self);
    reader->spare = NULL;
    return mail;
}

/* Begin to read, without the interpreter's lock; NULL, with it and an error, if there is no
   memory to read with. */
static Mail *
begin_reading(PyObject *self, bool is_named, Asking *asking)
{
    Mail *mail = take_mail(self);
    if (!mail)
        return NULL;
    mail->is_named = is_named;
    mail->asked = asking;
    *asking = (Asking){((ReaderObject *)(void *)self)->answer, PyEval_SaveThread()};
    return mail;
}

/* Take the lock again; an error says if there was no memory. */
static void
end_reading(const Asking *asking, Outcome outcome)
{
    PyEval_RestoreThread(asking->state);
    if (outcome == OUT_OF_MEMORY)
        PyErr_NoMemory();
}

void
put_mail_back(PyObject *self, Mail *mail)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    trim_mail(mail);
    if (reader->spare) { /* another thread has put its own back */
        release_mail(mail);
        free(mail);
    } else {
        reader->spare = mail;
    }
}

Finder *
take_finder(PyObject *self)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    Finder *finder = reader->finder;
    reader->finder = NULL;
    if (!finder)
        PyErr_SetString(PyExc_RuntimeError, "this reader looks for nothing, or is at work");
    return finder;
}

void
put_finder_back(PyObject *self, Finder *finder)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    release_finder(reader->finder);
    reader->finder = finder;
}

static Slice
bytes_in(PyObject *bytes)
{
    const uint8_t *at = (const uint8_t *)PyBytes_AsString(bytes);
    return slice(at, at + PyBytes_Size(bytes));
}

/* Read messages into a batch, without the interpreter's lock. */
static Outcome
read_into(Mail *mail, const Slice *messages, size_t n, Batch *batch)
{
    for (size_t i = 0; i < n; i++) {
        Outcome outcome = read_mail(mail, messages[i]);
        if (outcome != READ && outcome != REFUSED)
            return outcome;
        if (!push_message(batch, mail, outcome == READ))
            return OUT_OF_MEMORY;
        trim_mail(mail);
    }
    return READ;
}

static PyObject *
reader_read(PyObject *self, PyObject *args)
{
    PyObject *list, *result = NULL;
    int are_named = true, are_counted = true;
    if (!PyArg_ParseTuple(args, "O!|pp:read", &PyTuple_Type, &list, &are_named,
                          &are_counted))
        return NULL;
    size_t n = (size_t)PyTuple_Size(list);
    Slice *messages = malloc((n + 1) * sizeof *messages);
    if (!messages)
        return PyErr_NoMemory();
    for (size_t i = 0; i < n; i++) {
        char *bytes;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(list, (Py_ssize_t)i), &bytes, &size)) {
            free(messages);
            return NULL;
        }
        messages[i] = slice((uint8_t *)bytes, (uint8_t *)bytes + size);
    }
    Asking asking;
    Batch batch = {.secret = ((ReaderObject *)(void *)self)->secret,
                   .are_counted = are_counted};
    Mail *mail = begin_reading(self, are_named, &asking);
    if (mail) {
        Outcome outcome = read_into(mail, messages, n, &batch);
        end_reading(&asking, outcome);
        if (outcome == READ)
            result = batch_of(self, &batch, mail->n_views);
        put_mail_back(self, mail);
    }
    release_batch(&batch);
    free(messages);
    return result;
}

static PyObject *
reader_find_texts(PyObject *self, PyObject *args)
{
    PyObject *message;
    Asking asking;
    if (!PyArg_ParseTuple(args, "S:find_texts", &message))
        return NULL;
    Slice data = bytes_in(message);
    Finder *finder = take_finder(self);
    Mail *mail = finder ? begin_reading(self, false, &asking) : NULL;
    Outcome outcome = FAILED;
    if (mail) {
        outcome = read_mail_texts(mail, data);
        if (outcome == READ && !find_in_mail(finder, mail))
            outcome = OUT_OF_MEMORY;
        end_reading(&asking, outcome);
        put_mail_back(self, mail);
    }
    if (finder)
        put_finder_back(self, finder);
    if (outcome == READ || outcome == REFUSED)
        return PyBool_FromLong(outcome == READ);
    return NULL;
}

bool
take_secret(uint64_t *secret)
{
    PyObject *text = PyUnicode_FromString("nbtext.tokens.batch_reading");
    Py_hash_t hash = text ? PyObject_Hash(text) : -1;
    Py_XDECREF(text);
    *secret = mixed((uint64_t)hash) | 1;
    return hash != -1;
}

static PyObject *
reader_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *views, *answer;
    if (!PyArg_ParseTuple(args, "O!O:MailReader", &PyTuple_Type, &views, &answer))
        return NULL;
    if (PyTuple_Size(views) > MOST_VIEWS)
        return PyErr_Format(PyExc_ValueError, "these are too many views");
    PyObject *self = new_object(type, names);
    if (!self)
        return NULL;
    ReaderObject *reader = (ReaderObject *)(void *)self;
    Py_IncRef(views);
    Py_IncRef(answer);
    reader->views = views;
    reader->answer = answer;
    reader->spare = new_mail(self);
    if (!reader->spare || !take_secret(&reader->secret))
        Py_CLEAR(self);
    return self;
}

static void
reader_dealloc(PyObject *self)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    if (reader->spare)
        release_mail(reader->spare);
    free(reader->spare);
    release_finder(reader->finder);
    Py_XDECREF(reader->views);
    Py_XDECREF(reader->answer);
    free_object(self);
}

static PyMethodDef reader_methods[] = {
    {"read", reader_read, METH_VARARGS, NULL},
    {"document_keys", reader_document_keys, METH_O, NULL},
    {"look_for", reader_look_for, METH_O, NULL},
    {"find_texts", reader_find_texts, METH_VARARGS, NULL},
    {"look", reader_look, METH_VARARGS, NULL},
    {"found", reader_found, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

TYPE_SPEC(reader, "MailReader", ReaderObject);
