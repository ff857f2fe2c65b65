/* Values of entries, summed by document and class; twin of nbtext/scoring/models/arrays.py. */

#include "module.h"

bool
take_spread(Spread *of, Py_ssize_t n_terms, const Py_buffer *b)
{
    size_t n = (size_t)b[4].len / 8;
    *of = (Spread){.starts = integers_of(&b[0], (size_t)n_terms + 1), .classes = b[1].buf,
                   .n_terms = (size_t)n_terms, .n_entries = (size_t)b[1].len / 2,
                   .n_documents = (size_t)b[3].len / 8 - 1, .begins = b[3].buf,
                   .places = b[4].buf, .x = b[5].buf};
    of->values = integers_of(&b[2], of->n_entries);
    return n_terms >= 0 && of->starts.width && of->values.width
           && has_size(&b[1], of->n_entries, 2) && b[3].len > 0
           && has_size(&b[3], of->n_documents + 1, 8) && has_size(&b[4], n, 8)
           && has_size(&b[5], n, 8) && are_starts(of->begins, of->n_documents, (int64_t)n);
}

/* Add what the entries of a term say; where all classes have some, they are in order. */
static inline void
add_term(const Spread *of, int64_t first, int64_t end, double x, double *restrict sums)
{
    const double *values = (const double *)of->values.values + first;
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
sum_document(const Spread *of, size_t document, double *sums)
{
    int64_t last = of->begins[document + 1], end;
    for (int64_t term = of->begins[document]; term < last; term++) {
        if (term + SOON < last)
            fetch_term(of, term);
        int64_t first = entries_at(of, of->places[term], &end);
        if (first < end)
            add_term(of, first, end, of->x[term], sums);
    }
}

PyObject *
sum_entries(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer b[7] = {{0}};
    Py_ssize_t n_starts;
    if (!PyArg_ParseTuple(args, "ny*y*y*y*y*y*w*:sum_entries", &n_starts, &b[0], &b[1],
                          &b[2], &b[3], &b[4], &b[5], &b[6]))
        return NULL;
    Spread of;
    double *sums = b[6].buf;
    Py_ssize_t n_terms = n_starts > 0 ? n_starts - 1 : -1;
    bool is_sound = take_spread(&of, n_terms, b) && of.values.width == 8;
    of.n_classes = is_sound && of.n_documents ? (size_t)b[6].len / 8 / of.n_documents : 0;
    is_sound = is_sound && has_size(&b[6], of.n_documents * of.n_classes, 8);
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t document = 0; document < of.n_documents; document++)
            sum_document(&of, document, sums + document * of.n_classes);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no documents and entries");
    }
    for (size_t n = 0; n < 7; n++)
        PyBuffer_Release(&b[n]);
    return is_sound ? counted_none() : NULL;
}
