/*
 * The mean scores of documents that are left out of the counts, for
 * nbtext/scoring/leave_one_out.py; what a term says is specified by
 * nbtext.scoring.models.arrays.odds_left_out, and the mean by nbtext.scoring.models.mean.
 */

#include "module.h"

#include <math.h>

enum { AHEAD = 16 }; /* terms whose counts memory is asked for before they are needed */

/* Documents in one view, how often each is counted, and the counts they are part of. */
typedef struct {
    Integers pairs;
    size_t n_pairs, n_terms;
    const int64_t *starts, *places, *times, *labels, *copies;
    const double *sizes;
    double smoothing, least, *scores;
} LeftOut;

/* Score a document; false if it has no class, or terms that are none. */
static bool
score_left_out(const LeftOut *of, size_t document)
{
    int64_t first = of->starts[document], end = of->starts[document + 1];
    uint64_t label = (uint64_t)of->labels[document], copies = (uint64_t)of->copies[document];
    uint64_t own = 0, n_kept = 0;
    if (label > 1 || first < 0 || end > (int64_t)of->n_terms)
        return false; /* the latter if others write to them meanwhile */
    for (int64_t n = first; n < end; n++)
        own += (uint64_t)of->times[n];
    double sizes[2] = {of->sizes[0], of->sizes[1]}, sum = 0;
    sizes[label] -= (double)(own * copies);
    for (size_t class = 0; class < 2; class++)
        sizes[class] = sizes[class] > 1 ? sizes[class] : 1;
    double h = 2 * of->smoothing / (sizes[0] + sizes[1]);
    const double factors[2] = {1 / (sizes[0] * h), 1 / (sizes[1] * h)};
    for (int64_t n = first; n < end; n++) {
        uint64_t place = (uint64_t)of->places[n], times = (uint64_t)of->times[n];
        if (place >= of->n_pairs)
            return false;
        uint64_t next = n + AHEAD < end ? (uint64_t)of->places[n + AHEAD] : UINT64_MAX;
        if (next < of->n_pairs)
            PREFETCH(address_of(of->pairs, 2 * next));
        int64_t pair[2] = {integer_at(of->pairs, 2 * place),
                           integer_at(of->pairs, 2 * place + 1)};
        pair[label] = (int64_t)((uint64_t)pair[label] - times * copies);
        double odds = (double)pair[1] * factors[1] + 1;
        odds /= (double)pair[0] * factors[0] + 1;
        if (odds < of->least && odds * of->least > 1.0)
            continue;
        double says = log(odds);
        sum += says * (double)times;
        n_kept += says != 0 ? times : 0;
    }
    of->scores[document] += sum / (double)(n_kept ? n_kept : 1);
    return true;
}

PyObject *
add_means_left_out(PyObject *module, PyObject *args)
{
    Py_buffer b[8] = {{0}};
    LeftOut of = {0};
    int width;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*iy*y*y*y*y*y*ddw*:add_means_left_out", &b[0], &width,
                          &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &of.smoothing, &of.least,
                          &b[7]))
        return NULL;
    size_t n_terms = of.n_terms = (size_t)b[1].len / 8, n_documents = (size_t)b[4].len / 8;
    of.n_pairs = width == 8 || width == 4 ? (size_t)b[0].len / (2 * (size_t)width) : 0;
    of.pairs = (Integers){b[0].buf, (size_t)width};
    of.places = b[1].buf;
    of.times = b[2].buf;
    of.starts = b[3].buf;
    of.labels = b[4].buf;
    of.copies = b[5].buf;
    of.sizes = b[6].buf;
    of.scores = b[7].buf;
    bool is_sound = of.n_pairs && has_size(&b[0], 2 * of.n_pairs, (size_t)width)
                    && has_size(&b[1], n_terms, 8) && has_size(&b[2], n_terms, 8)
                    && has_size(&b[3], n_documents + 1, 8)
                    && has_size(&b[4], n_documents, 8) && has_size(&b[5], n_documents, 8)
                    && has_size(&b[6], 2, 8) && has_size(&b[7], n_documents, 8)
                    && are_starts(of.starts, n_documents, (int64_t)n_terms);
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t n = 0; is_sound && n < n_documents; n++)
            is_sound = score_left_out(&of, n);
        Py_END_ALLOW_THREADS
    }
    for (size_t n = 0; n < 8; n++)
        PyBuffer_Release(&b[n]);
    return is_sound ? counted_none() : PyErr_Format(
        PyExc_ValueError, "these are no documents with the counts they are in");
}
