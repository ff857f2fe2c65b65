/* Small files, read one after the other; twin of nbtext/sources/_ahead.py. */

#include "module.h"

#include "mail.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#define st_mtim st_mtimespec
#endif

static const Slice NOTHING = {NULL, NULL};

/* Whether no mail program writes to a file, or has written to it since it was read. */
static bool
is_quiet(int descriptor, const char *path, const struct stat *read)
{
    char dotlock[4096];
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct stat now;
    int length = snprintf(dotlock, sizeof dotlock, "%s.lock", path);
    return length > 0 && (size_t)length < sizeof dotlock && lstat(dotlock, &now)
           && !lstat(path, &now) && !S_ISLNK(now.st_mode)
           && !fcntl(descriptor, F_GETLK, &lock) && lock.l_type == F_UNLCK
           && !fstat(descriptor, &now) && now.st_size == read->st_size
           && now.st_mtim.tv_sec == read->st_mtim.tv_sec
           && now.st_mtim.tv_nsec == read->st_mtim.tv_nsec;
}

/* Read an open file if it is as large as it seems, no mbox, and nobody makes it one. */
static Slice
read_open_file(int descriptor, const char *path, size_t most, int64_t before)
{
    struct stat status;
    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0
        || (uintmax_t)status.st_size > most)
        return NOTHING;
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    if (!data)
        return NOTHING;
    Slice text = slice(data, data + size);
    if (read(descriptor, data, size + 1) == (ssize_t)size
        && (!begins(text, "From ")
            || (!find_text(text, slice_of("\nFrom "))
                && (status.st_mtime < before || is_quiet(descriptor, path, &status)))))
        return text;
    free(data);
    return NOTHING;
}

/* Put what is in files in place of their paths, as long as it is not too much together. */
static void
read_files(Slice *files, size_t n, size_t most, size_t together, int64_t before)
{
    for (Slice *file = files; file < files + n; file++) {
        const char *path = (const char *)file->at;
        bool is_path = strlen(path) == length_of(*file);
        int descriptor = is_path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        *file = NOTHING;
        if (descriptor < 0)
            continue;
        *file = read_open_file(descriptor, path, most < together ? most : together,
                               before);
        together -= length_of(*file);
        close(descriptor);
    }
}

PyObject *
small_files(PyObject *module, PyObject *args)
{
    PyObject *paths, *list;
    Py_ssize_t most, together;
    long long before;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!nnL:small_files", &PyTuple_Type, &paths, &most, &together,
                          &before))
        return NULL;
    size_t n = (size_t)PyTuple_Size(paths);
    Slice *files = slices_in(paths);
    if (!files)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    read_files(files, n, most > 0 ? (size_t)most : 0, together > 0 ? (size_t)together : 0,
               before);
    Py_END_ALLOW_THREADS
    list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; i < n; i++) {
        if (list) {
            PyObject *text = files[i].at ? bytes_of(files[i]) : counted_none();
            if (!text || PyList_SetItem(list, (Py_ssize_t)i, text))
                Py_CLEAR(list);
        }
        free((uint8_t *)files[i].at);
    }
    free(files);
    return list;
}
