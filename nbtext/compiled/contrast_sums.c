/*
 * What terms say for each of many classes; twin of
 * nbtext/scoring/models/contrast_sums.py.
 */

#include "module.h"

enum { AHEAD = 8 };   /* terms whose entries are asked for before they are read */
enum { ROWS = 1024 }; /* entries whose logarithms are computed together */

/* --- logarithms ------------------------------------------------------------------- */

static const uint64_t ONE = 0x3FF0000000000000u;          /* the bits of 1 */
static const uint64_t ROOT_OF_HALF = 0x3FE6A09E667F3BCDu; /* of the root of 1/2 */

static double
as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * Replace positive numbers by their natural logarithms: those of fdlibm (e_log.c, Sun
 * Microsystems 1993), in the same operations as `contrast_sums.logarithms`. So the
 * results are the same to the bit, whichever library is at hand. There is no branch, so
 * that several are computed at a time.
 */
FOR_EACH_PROCESSOR static void
take_logarithms(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, values + i, sizeof bits);
        /* the exponent, more by 1023, such that the rest is from sqrt(1/2) to sqrt(2) */
        uint64_t shift = (bits + (ONE - ROOT_OF_HALF)) >> 52;
        double part = as_double(bits - (shift << 52) + ONE);
        /* as a number, from its bits as the lowest ones of 2^52 */
        double exponent = as_double(shift | 0x4330000000000000u) - 0x1p52 - 1023.0;
        double f = part - 1.0;
        double s = f / (2.0 + f);
        double z = s * s;
        double w = z * z;
        double even = w * (3.999999999940941908e-01
                           + w * (2.222219843214978396e-01
                                  + w * 1.531383769920937332e-01));
        double odd = z * (6.666666666666735130e-01
                          + w * (2.857142874366239149e-01
                                 + w * (1.818357216161805012e-01
                                        + w * 1.479819860511658591e-01)));
        double half = 0.5 * f * f;
        values[i] = exponent * 6.93147180559945286227e-01
                    + (f - (half - s * (half + (even + odd))));
    }
}

/* --- sums ------------------------------------------------------------------------- */

/* The weights of one view by term, and documents; see contrast_sums.add_by_class. */
typedef struct {
    const int64_t *starts;  /* of each term's entries */
    const uint16_t *classes;
    const double *weights;  /* of each entry */
    const double *wholes;   /* the sum of a term's weights */
    size_t n_terms, n_entries, n_classes, n_documents;
    const int64_t *begins;  /* of each document's terms */
    const int64_t *places, *labels;
    const double *x, *own, *rates;
    double smoothing;
    double *complements, *owns;
} Sums;

static double
not_below_zero(double value)
{
    return value > 0.0 ? value : 0.0;
}

/* Entries that wait for their logarithms, two or three numbers each. */
typedef struct {
    double tops[ROWS], rests[ROWS], owns[ROWS], x[ROWS];
    uint16_t classes[ROWS], terms[ROWS]; /* terms: the place among tops */
    size_t length, n_terms;
} Waiting;

/* Add what waits to the sums of a document. */
static void
add_up(Waiting *waiting, double *complements, double *owns)
{
    take_logarithms(waiting->tops, waiting->n_terms);
    take_logarithms(waiting->rests, waiting->length);
    take_logarithms(waiting->owns, waiting->length);
    for (size_t n = 0; n < waiting->length; n++) {
        size_t class = waiting->classes[n];
        double top = waiting->tops[waiting->terms[n]];
        complements[class] += waiting->x[n] * (top - waiting->rests[n]);
        owns[class] += waiting->x[n] * waiting->owns[n];
    }
    waiting->length = waiting->n_terms = 0;
}

/* Let the entries of a term wait, some at a time. */
static void
add_term(const Sums *sums, size_t document, int64_t term, Waiting *waiting)
{
    size_t first = document * sums->n_classes;
    double a = sums->smoothing, x = sums->x[term], own = sums->own[term];
    uint64_t place = (uint64_t)sums->places[term];
    if (x == 0.0 || place >= sums->n_terms)
        return;
    const double *rates = sums->rates + first;
    uint64_t label = (uint64_t)sums->labels[document];
    double whole = not_below_zero(sums->wholes[place] - own);
    int64_t n = sums->starts[place], end = sums->starts[place + 1];
    if (n < 0 || end > (int64_t)sums->n_entries)
        return;
    while (n < end) {
        if (waiting->length == ROWS || waiting->n_terms == ROWS)
            add_up(waiting, sums->complements + first, sums->owns + first);
        waiting->tops[waiting->n_terms] = whole + a;
        for (; n < end && waiting->length < ROWS; n++) {
            size_t class = sums->classes[n];
            if (class >= sums->n_classes)
                continue;
            double weight = sums->weights[n];
            if (class == label)
                weight = not_below_zero(weight - own);
            size_t row = waiting->length++;
            waiting->classes[row] = (uint16_t)class;
            waiting->terms[row] = (uint16_t)waiting->n_terms;
            waiting->x[row] = x;
            waiting->rests[row] = not_below_zero(whole - weight) + a;
            waiting->owns[row] = 1.0 + weight * rates[class];
        }
        waiting->n_terms++;
    }
}

static void
sum_document(const Sums *sums, size_t document)
{
    Waiting waiting;
    waiting.length = waiting.n_terms = 0;
    size_t first = document * sums->n_classes;
    int64_t end = sums->begins[document + 1];
    for (int64_t term = sums->begins[document]; term < end; term++) {
        if (term + AHEAD < end) {
            uint64_t next = (uint64_t)sums->places[term + AHEAD];
            uint64_t soon = (uint64_t)sums->places[term + AHEAD / 2];
            if (next < sums->n_terms)
                PREFETCH(sums->starts + next);
            if (soon < sums->n_terms) {
                uint64_t entry = (uint64_t)sums->starts[soon];
                if (entry < sums->n_entries) {
                    PREFETCH(sums->weights + entry);
                    PREFETCH(sums->classes + entry);
                }
                PREFETCH(sums->wholes + soon);
            }
        }
        add_term(sums, document, term, &waiting);
    }
    add_up(&waiting, sums->complements + first, sums->owns + first);
}

const char add_by_class_doc[] =
"add_by_class(starts, classes, weights, wholes, begins, places, x, own, labels, rates,\n"
"             smoothing, complements, owns)\n"
"--\n\n"
"Add up what the terms of documents say for each class, as\n"
"`nbtext.scoring.models.contrast_sums.add_by_class` says.\n";

PyObject *
add_by_class(PyObject *module, PyObject *args)
{
    Py_buffer b[12] = {{0}};
    Sums sums = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*y*y*dw*w*:add_by_class", &b[0], &b[1],
                          &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8], &b[9],
                          &sums.smoothing, &b[10], &b[11]))
        return NULL;
    sums.n_terms = (size_t)b[3].len / 8;
    sums.n_entries = (size_t)b[2].len / 8;
    sums.n_documents = (size_t)b[8].len / 8;
    size_t n_terms = (size_t)b[5].len / 8; /* of the documents */
    size_t n_cells = (size_t)b[9].len / 8;
    sums.n_classes = sums.n_documents ? n_cells / sums.n_documents : 0;
    sums.starts = b[0].buf;
    sums.classes = b[1].buf;
    sums.weights = b[2].buf;
    sums.wholes = b[3].buf;
    sums.begins = b[4].buf;
    sums.places = b[5].buf;
    sums.x = b[6].buf;
    sums.own = b[7].buf;
    sums.labels = b[8].buf;
    sums.rates = b[9].buf;
    sums.complements = b[10].buf;
    sums.owns = b[11].buf;
    bool is_sound = has_size(&b[0], sums.n_terms + 1, 8)
                    && has_size(&b[1], sums.n_entries, 2)
                    && has_size(&b[2], sums.n_entries, 8)
                    && has_size(&b[3], sums.n_terms, 8)
                    && has_size(&b[4], sums.n_documents + 1, 8)
                    && has_size(&b[5], n_terms, 8) && has_size(&b[6], n_terms, 8)
                    && has_size(&b[7], n_terms, 8)
                    && has_size(&b[8], sums.n_documents, 8)
                    && has_size(&b[9], sums.n_documents * sums.n_classes, 8)
                    && has_size(&b[10], n_cells, 8) && has_size(&b[11], n_cells, 8)
                    && are_starts(sums.begins, sums.n_documents, (int64_t)n_terms);
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t document = 0; document < sums.n_documents; document++)
            sum_document(&sums, document);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no terms with weights");
    }
    for (size_t n = 0; n < 12; n++)
        PyBuffer_Release(&b[n]);
    if (!is_sound)
        return NULL;
    return counted_none();
}
