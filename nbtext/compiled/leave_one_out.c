/*
 * The mean scores of documents that are left out of the counts, for
 * nbtext/scoring/leave_one_out.py; what a term says is specified by
 * nbtext.scoring.models.arrays.odds_left_out, and the mean by nbtext.scoring.models.mean.
 */

#include "module.h"

#include <math.h>

enum { AHEAD = 32, AT_ONCE = 256 }; /* terms asked for before they are needed; scored at once */

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
    uint64_t label = (uint64_t)of->labels[document], own = 0;
    double n_kept = 0, sum = 0, sizes[2], copies[2] = {0, 0};
    if (label > 1 || first < 0 || end > (int64_t)of->n_terms)
        return false; /* the latter if others write to them meanwhile */
    copies[label] = (double)of->copies[document];
    for (int64_t n = first; n < end; n++)
        own += (uint64_t)of->times[n];
    for (size_t class = 0; class < 2; class++)
        sizes[class] = fmax(of->sizes[class] - (double)own * copies[class], 1);
    double h = 2 * of->smoothing / (sizes[0] + sizes[1]);
    const double factors[2] = {1 / (sizes[0] * h), 1 / (sizes[1] * h)};
    while (first < end) {
        int64_t stop = end - first < AT_ONCE ? end : first + AT_ONCE;
        double odds[AT_ONCE], times[AT_ONCE];
        size_t n = 0;
        for (; first < stop; first++) {
            uint64_t place = (uint64_t)of->places[first], next = place;
            if (first + AHEAD < (int64_t)of->n_terms)
                next = (uint64_t)of->places[first + AHEAD];
            if (place >= of->n_pairs)
                return false;
            if (next < of->n_pairs)
                PREFETCH(address_of(of->pairs, 2 * next));
            double often = times[n] = (double)of->times[first];
            double other = (double)integer_at(of->pairs, 2 * place) - often * copies[0];
            double ratio = (double)integer_at(of->pairs, 2 * place + 1) - often * copies[1];
            ratio = odds[n] = (ratio * factors[1] + 1) / (other * factors[0] + 1);
            /* no branch: which terms count is hard to foretell */
            n += !((ratio < of->least) & (ratio * of->least > 1.0));
        }
        for (size_t i = 0; i < n; i++) {
            sum += log(odds[i]) * times[i];
            n_kept += times[i]; /* none says 0: the least that counts is above it */
        }
    }
    of->scores[document] += sum / (n_kept > 0 ? n_kept : 1);
    return true;
}

PyObject *
add_means_left_out(PyObject *module, PyObject *args)
{
    Py_buffer b[8] = {{0}};
    double smoothing, least;
    int width;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*iy*y*y*y*y*y*ddw*:add_means_left_out", &b[0], &width,
                          &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &smoothing, &least, &b[7]))
        return NULL;
    size_t n_terms = (size_t)b[1].len / 8, n_documents = (size_t)b[4].len / 8;
    size_t n_pairs = width == 8 || width == 4 ? (size_t)b[0].len / (2 * (size_t)width) : 0;
    LeftOut of = {{b[0].buf, (size_t)width}, n_pairs, n_terms, b[3].buf, b[1].buf, b[2].buf,
                  b[4].buf, b[5].buf, b[6].buf, smoothing, least, b[7].buf};
    const size_t sizes[] = {2 * n_pairs, n_terms, n_terms, n_documents + 1, n_documents,
                            n_documents, 2, n_documents};
    bool is_sound = n_pairs;
    for (size_t n = 0; n < 8; n++)
        is_sound = is_sound && has_size(&b[n], sizes[n], n ? 8 : (size_t)width);
    if (is_sound && (is_sound = are_starts(b[3].buf, n_documents, (int64_t)n_terms))) {
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
