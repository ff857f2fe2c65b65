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
    MailView views[MOST_VIEWS];
    Tables *tables; /* of each view */
    size_t n_views;
    PyObject *answer;
    Mail *spare;     /* NULL while somebody reads with it */
    Finder *finder;  /* likewise, and if no texts are looked for */
    uint64_t secret; /* of this process: what chooses slots of keys */
} ReaderObject;

/* Copy an answer to the memory of the message; None is an empty one. */
static Outcome
take_answer(Mail *mail, PyObject *answered, Slice *answer)
{
    char *bytes = NULL;
    Py_ssize_t size = 0;
    if (answered != Py_None && PyBytes_AsStringAndSize(answered, &bytes, &size) < 0)
        return FAILED;
    uint8_t *copy = grab(&mail->arena, (size_t)size);
    if (!copy)
        return OUT_OF_MEMORY;
    *answer = slice(copy, copy + size);
    if (size)
        memcpy(copy, bytes, (size_t)size);
    return READ;
}

/* Ask the Python function. The lock is given up before reading ends, if it does. */
static Slice
ask_python(Mail *mail, Question question, Slice first, Slice second)
{
    Slice answer = {NULL, NULL};
    PyEval_RestoreThread(mail->thread);
    PyObject *one = bytes_of(first), *other = bytes_of(second), *answered = NULL;
    if (one && other)
        answered = PyObject_CallFunction(mail->asked, "iOO", (int)question, one, other);
    Py_XDECREF(one);
    Py_XDECREF(other);
    Outcome outcome = answered ? take_answer(mail, answered, &answer) : FAILED;
    Py_XDECREF(answered);
    mail->thread = PyEval_SaveThread();
    if (outcome != READ)
        stop(mail, outcome);
    return answer;
}

/* Return what to read with, NULL with an error if there is no memory. */
static Mail *
new_mail(const ReaderObject *reader)
{
    Mail *mail = calloc(1, sizeof *mail);
    if (!mail)
        return (Mail *)PyErr_NoMemory();
    memcpy(mail->views, reader->views, sizeof mail->views);
    mail->n_views = reader->n_views;
    mail->ask = ask_python;
    mail->asked = reader->answer;
    return mail;
}

Mail *
take_mail(PyObject *self)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    Mail *mail = reader->spare ? reader->spare : new_mail(reader);
    reader->spare = NULL;
    return mail;
}

/* Begin to read, without the interpreter's lock; NULL, with it and an error, if there is no
   memory to read with. */
static Mail *
begin_reading(PyObject *self, bool is_named)
{
    Mail *mail = take_mail(self);
    if (mail) {
        mail->is_named = is_named;
        mail->thread = PyEval_SaveThread();
    }
    return mail;
}

/* Take the lock again; an error says if there was no memory. */
static void
end_reading(const Mail *mail, Outcome outcome)
{
    PyEval_RestoreThread(mail->thread);
    if (outcome == OUT_OF_MEMORY)
        PyErr_NoMemory();
}

void
put_mail_back(PyObject *self, Mail *mail)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    trim_mail(mail);
    if (reader->spare) /* another thread has put its own back */
        release_mail(mail);
    else
        reader->spare = mail;
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

/* Read messages, without the interpreter's lock, into a batch that has room from the first. */
static Outcome
read_into(Mail *mail, const Slice *messages, size_t n, Batch *batch)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += length_of(messages[i]);
    for (BatchView *view = batch->views; view < batch->views + mail->n_views; view++)
        if (!make_room(&view->keys, size / 8) || !make_room(&view->counts, size / 32))
            return OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) {
        Outcome outcome = read_mail(mail, messages[i]);
        if (outcome != READ && outcome != REFUSED)
            return outcome;
        if (!push_message(batch, mail, outcome == READ))
            return OUT_OF_MEMORY;
        trim_mail(mail);
    }
    find_digests(batch, 0);
    return READ;
}

Slice *
slices_in(PyObject *tuple)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    Slice *slices = malloc((size_t)(n + 1) * sizeof *slices);
    if (!slices)
        return (Slice *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *bytes = PyTuple_GetItem(tuple, i);
        if (!PyBytes_Check(bytes)) {
            free(slices);
            return (Slice *)PyErr_Format(PyExc_TypeError, "a tuple of bytes was expected");
        }
        slices[i] = bytes_in(bytes);
    }
    return slices;
}

static PyObject *
reader_read(PyObject *self, PyObject *args)
{
    PyObject *list, *result = NULL;
    int are_named = true, are_counted = true;
    if (!PyArg_ParseTuple(args, "O!|pp:read", &PyTuple_Type, &list, &are_named,
                          &are_counted))
        return NULL;
    Slice *messages = slices_in(list);
    if (!messages)
        return NULL;
    Batch batch = {.secret = ((ReaderObject *)(void *)self)->secret,
                   .are_counted = are_counted};
    Mail *mail = begin_reading(self, are_named);
    if (mail) {
        Outcome outcome = read_into(mail, messages, (size_t)PyTuple_Size(list), &batch);
        end_reading(mail, outcome);
        if (outcome == READ)
            result = batch_of(&batch, mail->n_views);
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
    if (!PyArg_ParseTuple(args, "S:find_texts", &message))
        return NULL;
    Slice data = bytes_in(message);
    Finder *finder = take_finder(self);
    Mail *mail = finder ? begin_reading(self, false) : NULL;
    Outcome outcome = FAILED;
    if (mail) {
        outcome = read_mail_texts(mail, data);
        if (outcome == READ && !find_in_mail(finder, mail))
            outcome = OUT_OF_MEMORY;
        end_reading(mail, outcome);
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

/* Take the next view, with its tables; all of them are of plain texts, or none. */
static bool
take_next_view(ReaderObject *reader, PyObject *described)
{
    MailView *view = reader->views + reader->n_views;
    Tables *tables = reader->tables + reader->n_views++; /* which are released now */
    PyObject *given, *of[5]; /* which only a tuple keeps while others run */
    int text, fields, tokens, pairs, fold_tokens, fold_pairs, ngrams;
    Py_ssize_t limit, threes;
    if (!PyTuple_Check(described))
        return refuse(PyExc_TypeError, "a view is a tuple");
    if (!PyArg_ParseTuple(described, "O!ippppppnn;a view", &PyTuple_Type, &given, &text,
                          &fields, &tokens, &pairs, &fold_tokens, &fold_pairs, &ngrams,
                          &limit, &threes)
        || !PyArg_ParseTuple(given, "SSSSS;tables", of, of + 1, of + 2, of + 3, of + 4))
        return false;
    *view = (MailView){{tokens, pairs, fold_tokens, fold_pairs, ngrams, (size_t)limit,
                        (size_t)threes}, tables, (TextKind)text, fields};
    if (text < 0 || text >= N_TEXTS || limit < 0 || threes < 0
        || (reader->views->text == PLAIN_TEXT) != (text == PLAIN_TEXT))
        return refuse(PyExc_ValueError, "these are no views of mail");
    TableSource source = {bytes_in(of[0]), bytes_in(of[1]), bytes_in(of[2]), bytes_in(of[3]),
                          bytes_in(of[4])};
    Filling filling = fill_tables(tables, &source);
    if (filling == UNSOUND)
        return refuse(PyExc_ValueError, "these are not tables of code points");
    return filling == FILLED || PyErr_NoMemory();
}

static PyObject *
reader_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *unnamed[] = {"", "", NULL};
    PyObject *views, *answer;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O!O:MailReader", unnamed, &PyTuple_Type,
                                     &views, &answer))
        return NULL;
    size_t n_views = (size_t)PyTuple_Size(views);
    if (n_views > MOST_VIEWS)
        return PyErr_Format(PyExc_ValueError, "these are too many views");
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    ReaderObject *reader = (ReaderObject *)(void *)self;
    Py_IncRef(answer);
    reader->answer = answer;
    reader->tables = calloc(n_views + 1, sizeof *reader->tables);
    bool is_sound = reader->tables && take_secret(&reader->secret);
    if (!reader->tables)
        PyErr_NoMemory();
    while (is_sound && reader->n_views < n_views)
        is_sound = take_next_view(reader, PyTuple_GetItem(views, (Py_ssize_t)reader->n_views));
    if (!is_sound)
        Py_CLEAR(self);
    return self;
}

static void
reader_dealloc(PyObject *self)
{
    ReaderObject *reader = (ReaderObject *)(void *)self;
    if (reader->spare)
        release_mail(reader->spare);
    release_finder(reader->finder);
    for (size_t n = 0; n < reader->n_views; n++)
        release_tables(reader->tables + n);
    free(reader->tables);
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
