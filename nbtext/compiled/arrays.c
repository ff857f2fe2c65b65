/* Values of entries, summed by document and class; twin of nbtext/scoring/models/arrays.py. */

#include "module.h"

enum { AHEAD = 8, LINE = 64 }; /* terms that are fetched ahead, bytes fetched together */

/* A table's entries by term, and documents; see `Said.sums` of arrays.py. */
typedef struct {
    Integers starts; /* of each term's entries, and one more */
    const uint16_t *classes;
    const double *values;
    size_t n_starts, n_entries, n_classes;
    const int64_t *begins, *places; /* of each document's terms, and of each term */
    const double *x;
    double *sums;
} Spread;

/* Where the entries of a place are; none of them if there is no such place. */
static inline int64_t
entries_at(const Spread *of, int64_t place, int64_t *end)
{
    if (place < 0 || (uint64_t)place + 1 >= of->n_starts)
        return *end = 0;
    int64_t first = integer_at(of->starts, (size_t)place);
    *end = integer_at(of->starts, (size_t)place + 1);
    return first < 0 || *end > (int64_t)of->n_entries ? *end = 0 : first;
}

/* Ask for the memory of terms that are read later. */
static inline void
fetch(const Spread *of, int64_t term)
{
    uint64_t next = (uint64_t)of->places[term + AHEAD];
    int64_t end, soon = entries_at(of, of->places[term + AHEAD / 2], &end);
    if (next < of->n_starts)
        PREFETCH(address_of(of->starts, next));
    if (soon < end) {
        PREFETCH(of->values + soon);
        PREFETCH((const char *)(of->values + soon) + LINE);
        PREFETCH((const char *)(of->values + soon) + 2 * LINE);
        PREFETCH(of->classes + soon);
    }
}

/* Add what the entries of a term say; where all classes have some, they are in order. */
static inline void
add_term(const Spread *of, int64_t first, int64_t end, double x, double *restrict sums)
{
    const double *values = of->values + first;
    const uint16_t *classes = of->classes + first;
    size_t n = (size_t)(end - first);
    if (n == of->n_classes) {
        for (size_t k = 0; k < n; k++)
            sums[k] += x * values[k];
        return;
    }
    for (size_t k = 0; k < n; k++)
        if (classes[k] < of->n_classes)
            sums[classes[k]] += x * values[k];
}

static void
sum_document(const Spread *of, size_t document)
{
    double *sums = of->sums + document * of->n_classes;
    int64_t last = of->begins[document + 1], end;
    for (int64_t term = of->begins[document]; term < last; term++) {
        if (term + AHEAD < last)
            fetch(of, term);
        int64_t first = entries_at(of, of->places[term], &end);
        if (first < end)
            add_term(of, first, end, of->x[term], sums);
    }
}

PyObject *
sum_entries(PyObject *module, PyObject *args)
{
    Py_buffer b[7] = {{0}};
    Py_ssize_t n_starts;
    (void)module;
    if (!PyArg_ParseTuple(args, "ny*y*y*y*y*y*w*:sum_entries", &n_starts, &b[0], &b[1],
                          &b[2], &b[3], &b[4], &b[5], &b[6]))
        return NULL;
    size_t n_terms = (size_t)b[4].len / 8, n_documents = (size_t)b[3].len / 8 - 1;
    Spread of = {.starts = integers_of(&b[0], (size_t)n_starts), .classes = b[1].buf,
                 .values = b[2].buf, .n_starts = (size_t)n_starts,
                 .n_entries = (size_t)b[1].len / 2, .begins = b[3].buf,
                 .places = b[4].buf, .x = b[5].buf, .sums = b[6].buf};
    bool is_sound = n_starts > 0 && of.starts.width && has_size(&b[1], of.n_entries, 2)
                    && has_size(&b[2], of.n_entries, 8) && b[3].len > 0
                    && has_size(&b[3], n_documents + 1, 8) && has_size(&b[4], n_terms, 8)
                    && has_size(&b[5], n_terms, 8)
                    && are_starts(of.begins, n_documents, (int64_t)n_terms);
    of.n_classes = is_sound && n_documents ? (size_t)b[6].len / 8 / n_documents : 0;
    is_sound = is_sound && has_size(&b[6], n_documents * of.n_classes, 8);
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t document = 0; document < n_documents; document++)
            sum_document(&of, document);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no documents and entries");
    }
    for (size_t n = 0; n < 7; n++)
        PyBuffer_Release(&b[n]);
    return is_sound ? counted_none() : NULL;
}
