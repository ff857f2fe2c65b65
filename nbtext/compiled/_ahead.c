/* Small files, read one after the other; twin of nbtext/sources/_ahead.py. */

#include "module.h"

#include "mail.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is read: its path and that in bytes, and what is in it; or NULL. */
typedef struct {
    PyObject *encoded;
    const char *path;
    uint8_t *data;
    size_t size;
} File;

/* Whether a file is an mbox of several messages, or has changed so late that it may become one. */
static bool
may_be_mbox(Slice text, int64_t changed, int64_t before)
{
    return begins(text, "From ")
           && (changed >= before || find_text(text, slice_of("\nFrom ")));
}

/* Read an open file if it is as large as it seems, and cannot be an mbox. */
static void
read_open_file(File *file, int descriptor, size_t most, int64_t before)
{
    struct stat status;
    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0
        || (uintmax_t)status.st_size > most)
        return;
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    if (!data)
        return;
    Slice text = slice(data, data + size);
    if (read(descriptor, data, size + 1) == (ssize_t)size
        && !may_be_mbox(text, status.st_mtime, before)) {
        file->data = data;
        file->size = size;
    } else {
        free(data);
    }
}

static void
read_file(File *file, size_t most, int64_t before)
{
    int descriptor = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    read_open_file(file, descriptor, most, before);
    close(descriptor);
}

/* Read files whose paths are encoded, as long as they are not too much together. */
static void
read_files(File *files, size_t n, size_t most, size_t together, int64_t before)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].path)
            read_file(files + i, most < together ? most : together, before);
        together -= files[i].size;
    }
}

/* Encode the paths; of one that cannot be there is none. False with an error if one is no text. */
static bool
encode_paths(PyObject *list, File *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PyObject *path = PyTuple_GetItem(list, (Py_ssize_t)i);
        if (!PyUnicode_Check(path))
            return refuse(PyExc_TypeError, "a path is a text");
        if (PyUnicode_FSConverter(path, &files[i].encoded))
            files[i].path = PyBytes_AsString(files[i].encoded);
        else
            PyErr_Clear();
    }
    return true;
}

static PyObject *
list_of(const File *files, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        const File *file = files + i;
        PyObject *text = file->data
                             ? PyBytes_FromStringAndSize((char *)file->data, (Py_ssize_t)file->size)
                             : counted_none();
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *
small_files(PyObject *module, PyObject *args)
{
    PyObject *list, *result = NULL;
    Py_ssize_t most, together;
    long long before;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!nnL:small_files", &PyTuple_Type, &list, &most, &together,
                          &before))
        return NULL;
    size_t n = (size_t)PyTuple_Size(list);
    File *files = calloc(n + 1, sizeof *files);
    if (!files) {
        PyErr_NoMemory();
    } else if (encode_paths(list, files, n)) {
        Py_BEGIN_ALLOW_THREADS
        read_files(files, n, most > 0 ? (size_t)most : 0,
                   together > 0 ? (size_t)together : 0, before);
        Py_END_ALLOW_THREADS
        result = list_of(files, n);
    }
    for (size_t i = 0; files && i < n; i++) {
        free(files[i].data);
        Py_XDECREF(files[i].encoded);
    }
    free(files);
    return result;
}
