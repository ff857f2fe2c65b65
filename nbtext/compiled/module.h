/* What module.c puts into the module nbtext._compiled. */

#ifndef NBTEXT_MODULE_H
#define NBTEXT_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "core.h"

extern PyType_Spec reader_spec, stored_spec;

PyObject *find(PyObject *module, PyObject *args);
PyObject *add_by_class(PyObject *module, PyObject *args);
PyObject *correct(PyObject *module, PyObject *args);
PyObject *small_files(PyObject *module, PyObject *args);
PyObject *add_means_left_out(PyObject *module, PyObject *args);
PyObject *sum_terms(PyObject *module, PyObject *terms);
PyObject *sum_entries(PyObject *module, PyObject *args);
PyObject *checksums(PyObject *module, PyObject *args);
PyObject *newton(PyObject *module, PyObject *args);

/* Take the odd number that Python hashes a text to in this process; false with an error. */
bool take_secret(uint64_t *secret);

/* None, counted: Py_RETURN_NONE of Python 3.12 and later does not count, as 3.11 needs. */
PyObject *counted_none(void);

/* Return an array for numbers of some size, and where the numbers of one of several lie. */
static inline PyObject *
array_of(size_t n, size_t size)
{
    return PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * size));
}
static inline void *
memory_of(PyObject *arrays, Py_ssize_t place)
{
    return PyByteArray_AsString(PyTuple_GetItem(arrays, place));
}

/* Free an object whose contents are released. */
static inline void
free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Set an error, and return false. */
static inline bool
refuse(PyObject *kind, const char *reason)
{
    PyErr_SetString(kind, reason);
    return false;
}

/* Return bytes as Python has them. Formats with "#" would need another symbol of Python in
   3.11 than in 3.13, and one build is for both. */
static inline PyObject *
bytes_of(Slice bytes)
{
    return PyBytes_FromStringAndSize((const char *)bytes.at, (Py_ssize_t)length_of(bytes));
}

static inline PyObject *
bytes_of_keys(const Keys *keys)
{
    const uint8_t *at = (const uint8_t *)keys->values;
    return bytes_of(slice(at, at + keys->length * sizeof *keys->values));
}

/* Look into an object that is of the type `bytes`. */
static inline Slice
bytes_in(PyObject *bytes)
{
    const uint8_t *at = (const uint8_t *)PyBytes_AsString(bytes);
    return slice(at, at + PyBytes_Size(bytes));
}

/* Look into the bytes of a tuple, in memory to be freed; NULL with an error if there is more:
   key_reading.c */
Slice *slices_in(PyObject *tuple);

/* Describe a type that Python calls with arguments, by what begins with `of`. */
#define TYPE_SPEC(of, type_name, Object)                                                  \
    static PyType_Slot of##_slots[] = {                                                   \
        {Py_tp_new, (void *)of##_new},                                                    \
        {Py_tp_dealloc, (void *)of##_dealloc},                                            \
        {Py_tp_methods, of##_methods},                                                    \
        {0, NULL},                                                                        \
    };                                                                                    \
    PyType_Spec of##_spec = {                                                             \
        .name = "nbtext._compiled." type_name, .basicsize = sizeof(Object),               \
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, .slots = of##_slots,      \
    }

/* --- buffers ---------------------------------------------------------------------- */

/* Whether it holds n values of a size; n may be any number. */
static inline bool
has_size(const Py_buffer *buffer, size_t n, size_t size)
{
    size_t length = (size_t)buffer->len;
    bool is_aligned = !n || (uintptr_t)buffer->buf % size == 0;
    return length / size == n && length % size == 0 && is_aligned;
}

/* Whether n + 1 places begin at 0, never fall, and end at `end`. */
static inline bool
are_starts(const int64_t *starts, size_t n, int64_t end)
{
    bool is_sound = starts[0] == 0 && starts[n] == end;
    for (size_t i = 0; is_sound && i < n; i++)
        is_sound = starts[i] <= starts[i + 1];
    return is_sound;
}

/* Integers of 32 or of 64 bits. */
typedef struct {
    const void *values;
    size_t width; /* in bytes */
} Integers;

static inline int64_t
integer_at(Integers integers, size_t n)
{
    return integers.width == 4 ? ((const int32_t *)integers.values)[n]
                               : ((const int64_t *)integers.values)[n];
}

static inline const void *
address_of(Integers integers, size_t n)
{
    return (const char *)integers.values + n * integers.width;
}

/* Take integers, n of them; their width is 0 if it is neither of the two. */
static inline Integers
integers_of(const Py_buffer *buffer, size_t n)
{
    Integers integers = {buffer->buf, 0};
    for (size_t width = 4; width <= 8; width *= 2)
        if (has_size(buffer, n, width))
            integers.width = width;
    return integers;
}

/* term_table.c: the keys of a view's terms; see nbtext.counts.term_table.TermTable */
typedef struct {
    const uint64_t *keys;
    Integers buckets;
    int64_t n_terms;
    uint64_t n_buckets;
    int shift;
} TermKeys;

/* A key's bucket; what has more bits is no key, and has the last one. */
static inline size_t
bucket_of(const TermKeys *terms, uint64_t key)
{
    uint64_t bucket = key >> terms->shift;
    return bucket < terms->n_buckets ? bucket : terms->n_buckets - 1;
}

/* Take keys, the last of which is the sentinel, and their buckets; false with an error. */
bool take_terms(TermKeys *terms, const Py_buffer *keys, const Py_buffer *buckets, int shift);
/* Find the places of keys; of one that is not there, n_terms. */
void find_places(const TermKeys *terms, const uint64_t *wanted, int64_t *places, size_t n);

/* arrays.c: entries of terms by class, and documents of these terms; see `Said.sums` there */
typedef struct {
    Integers starts; /* of each term's entries, and one more */
    const uint16_t *classes;
    Integers values; /* of each entry; where they are real numbers, only their addresses */
    size_t n_terms, n_entries, n_classes, n_documents;
    const int64_t *begins, *places; /* of each document's terms, and of each term */
    const double *x;
} Spread;

/* Take starts, classes, values, begins, places and x; false if they do not fit. */
bool take_spread(Spread *of, Py_ssize_t n_terms, const Py_buffer *b);
/* Return where the entries of a place begin, and end; none if there is no such place. */
static inline int64_t
entries_at(const Spread *of, int64_t place, int64_t *end)
{
    if (place < 0 || (uint64_t)place >= of->n_terms)
        return *end = 0;
    int64_t first = integer_at(of->starts, (size_t)place);
    *end = integer_at(of->starts, (size_t)place + 1);
    return first < 0 || *end > (int64_t)of->n_entries ? *end = 0 : first;
}

/* Ask for the memory of terms that are read later. */
enum { SOON = 8 };
static inline void
fetch_term(const Spread *of, int64_t term)
{
    enum { LINE = 64 }; /* bytes that a processor fetches together */
    uint64_t next = (uint64_t)of->places[term + SOON];
    int64_t end, soon = entries_at(of, of->places[term + SOON / 2], &end);
    if (next < of->n_terms)
        PREFETCH(address_of(of->starts, next));
    if (soon < end) {
        const char *values = address_of(of->values, (size_t)soon);
        for (size_t line = 0; line < 3; line++)
            PREFETCH(values + line * LINE);
        PREFETCH(of->classes + soon);
    }
}

#endif
