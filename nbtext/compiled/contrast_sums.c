/* What terms say for each of many classes; twin of nbtext/scoring/models/contrast_sums.py. */

#include "module.h"

enum { ROWS = 1024 }; /* entries whose logarithms are computed together */

/* --- logarithms ------------------------------------------------------------------- */

static const uint64_t ONE = 0x3FF0000000000000u;          /* the bits of 1 */
static const uint64_t ROOT_OF_HALF = 0x3FE6A09E667F3BCDu; /* of the root of 1/2 */

typedef union {
    double value;
    uint64_t bits;
} Number;

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
        Number given = {values[i]}, part, exponent;
        /* the exponent, more by 1023, such that the rest is from sqrt(1/2) to sqrt(2) */
        uint64_t shift = (given.bits + (ONE - ROOT_OF_HALF)) >> 52;
        part.bits = given.bits - (shift << 52) + ONE;
        exponent.bits = shift | 0x4330000000000000u; /* as the lowest bits of 2^52 */
        double f = part.value - 1.0;
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
        values[i] = (exponent.value - 0x1p52 - 1023.0) * 6.93147180559945286227e-01
                    + (f - (half - s * (half + (even + odd))));
    }
}

/* --- sums ------------------------------------------------------------------------- */

/* The weights of one view by term, and documents; see contrast_sums.add_by_class. */
typedef struct {
    Spread of; /* whose values are weights */
    const int64_t *labels;
    const double *own, *rates;
    double smoothing;
    double *complements, *owns; /* the latter NULL if nobody wants it */
} Sums;

static double
not_below_zero(double value)
{
    return value > 0.0 ? value : 0.0;
}

/* Entries that wait for their logarithms, and the terms that they are of. */
typedef struct {
    double weights[ROWS]; /* of the last term only */
    double rests[ROWS], owns[ROWS], tops[ROWS], x[ROWS];
    const uint16_t *classes[ROWS]; /* of each term's entries */
    uint16_t lengths[ROWS];
    size_t length, n_terms;
} Waiting;

/* Add what waits to the sums of a document. */
FOR_EACH_PROCESSOR static void
add_up(const Sums *sums, size_t document, Waiting *waiting)
{
    size_t n_classes = sums->of.n_classes;
    double *restrict complements = sums->complements + document * n_classes;
    double *restrict owns = sums->owns ? sums->owns + document * n_classes : NULL;
    take_logarithms(waiting->tops, waiting->n_terms);
    take_logarithms(waiting->rests, waiting->length);
    take_logarithms(waiting->owns, owns ? waiting->length : 0);
    const double *rest = waiting->rests, *own = waiting->owns;
    for (size_t t = 0; t < waiting->n_terms; t++) {
        double x = waiting->x[t], top = waiting->tops[t];
        const uint16_t *classes = waiting->classes[t];
        size_t length = waiting->lengths[t];
        if (length == n_classes) { /* it is in all classes, which are in order */
            for (size_t c = 0; c < length; c++)
                complements[c] += x * (top - rest[c]);
            for (size_t c = 0; owns && c < length; c++)
                owns[c] += x * own[c];
        } else {
            for (size_t n = 0; n < length; n++)
                complements[classes[n]] += x * (top - rest[n]);
            for (size_t n = 0; owns && n < length; n++)
                owns[classes[n]] += x * own[n];
        }
        rest += length;
        own += length;
    }
    waiting->length = waiting->n_terms = 0;
}

/* Return the sum of some weights. */
FOR_EACH_PROCESSOR static int64_t
sum_weights(Integers weights, size_t first, size_t length)
{
    uint64_t sum = 0;
    for (size_t n = first; n < first + length; n++)
        sum += (uint64_t)integer_at(weights, n);
    return (int64_t)sum;
}

/* A term of a document: where its entries are, and W_t. */
typedef struct {
    size_t first, length;
    double x, own, whole;
} Term;

/* Let some entries of a term wait. */
FOR_EACH_PROCESSOR static void
add_entries(const Sums *sums, size_t document, Term term, Waiting *waiting)
{
    double a = sums->smoothing, whole = term.whole;
    int64_t label = sums->labels[document];
    const double *rates = sums->rates + document * sums->of.n_classes;
    const uint16_t *restrict classes = sums->of.classes + term.first;
    double *restrict weights = waiting->weights;
    double *restrict rests = waiting->rests + waiting->length;
    double *restrict owns = waiting->owns + waiting->length;
    Integers values = sums->of.values;
    for (size_t k = 0; k < term.length; k++)
        weights[k] = (double)integer_at(values, term.first + k);
    for (size_t k = 0; k < term.length; k++) {
        double rest = not_below_zero(weights[k] - term.own); /* in the document's class */
        weights[k] = classes[k] == label ? rest : weights[k];
        rests[k] = not_below_zero(whole - weights[k]) + a;
    }
    for (size_t k = 0; sums->owns && k < term.length; k++)
        owns[k] = 1.0 + weights[k] * rates[classes[k]];
    waiting->tops[waiting->n_terms] = whole + a;
    waiting->x[waiting->n_terms] = term.x;
    waiting->classes[waiting->n_terms] = classes;
    waiting->lengths[waiting->n_terms++] = (uint16_t)term.length;
    waiting->length += term.length;
}

/* Whether all of some classes exist. */
static bool
are_classes(const uint16_t *classes, size_t length, size_t n_classes)
{
    uint16_t largest = 0;
    for (size_t n = 0; n < length; n++)
        largest = classes[n] > largest ? classes[n] : largest;
    return largest < n_classes;
}

/* Let the entries of a term wait, some at a time. */
static void
add_term(const Sums *sums, size_t document, int64_t number, Waiting *waiting)
{
    int64_t end, n = entries_at(&sums->of, sums->of.places[number], &end);
    if (sums->of.x[number] == 0.0 || n >= end)
        return;
    size_t first = (size_t)n, left = (size_t)(end - n);
    double own = sums->own[number];
    Term term = {.x = sums->of.x[number], .own = own};
    term.whole = not_below_zero((double)sum_weights(sums->of.values, first, left) - own);
    for (; left; first += term.length, left -= term.length) {
        term.first = first;
        term.length = left < ROWS ? left : ROWS;
        if (waiting->length + term.length > ROWS)
            add_up(sums, document, waiting);
        if (are_classes(sums->of.classes + first, term.length, sums->of.n_classes))
            add_entries(sums, document, term, waiting);
    }
}

static void
sum_document(const Sums *sums, size_t document)
{
    Waiting waiting;
    waiting.length = waiting.n_terms = 0;
    int64_t end = sums->of.begins[document + 1];
    for (int64_t term = sums->of.begins[document]; term < end; term++) {
        if (term + SOON < end)
            fetch_term(&sums->of, term);
        add_term(sums, document, term, &waiting);
    }
    add_up(sums, document, &waiting);
}

PyObject *
add_by_class(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer b[11] = {{0}};
    Sums sums = {0};
    Py_ssize_t n_all_terms;
    if (!PyArg_ParseTuple(args, "ny*y*y*y*y*y*y*y*y*dw*w*:add_by_class", &n_all_terms,
                          &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8],
                          &sums.smoothing, &b[9], &b[10]))
        return NULL;
    size_t n = (size_t)b[4].len / 8, n_cells = (size_t)b[8].len / 8;
    sums.own = b[6].buf;
    sums.labels = b[7].buf;
    sums.rates = b[8].buf;
    sums.complements = b[9].buf;
    sums.owns = b[10].len ? b[10].buf : NULL;
    bool is_sound = take_spread(&sums.of, n_all_terms, b) && has_size(&b[6], n, 8)
                    && has_size(&b[7], sums.of.n_documents, 8);
    sums.of.n_classes = is_sound && sums.of.n_documents ? n_cells / sums.of.n_documents : 0;
    is_sound = is_sound && has_size(&b[8], sums.of.n_documents * sums.of.n_classes, 8)
               && has_size(&b[9], n_cells, 8)
               && (!sums.owns || has_size(&b[10], n_cells, 8));
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t document = 0; document < sums.of.n_documents; document++)
            sum_document(&sums, document);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no terms with weights");
    }
    for (n = 0; n < 11; n++)
        PyBuffer_Release(&b[n]);
    return is_sound ? counted_none() : NULL;
}
