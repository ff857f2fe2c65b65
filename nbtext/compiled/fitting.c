/*
 * What turns the scores of two classes into probabilities, fitted to those that were held
 * out; twin of `_newton` in nbtext/counts/fitting.py. The same steps in the same order, so
 * that every bit is the same.
 */

#include "module.h"

#include "model.h"

#include <math.h>

#define MIN_STEP 1e-6
#define TOLERANCE 1e-9
#define ROUNDING 0x1p-52
enum { MOST_STEPS = 50 };

/* Twice the bin of a score, and one more in the second class; how many documents have it. */
typedef struct {
    int64_t where, n;
} ScoreRow;

/* Scores, and what is expected of a fit, as `nbtext.counts.calibration.Prior`. */
typedef struct {
    const ScoreRow *rows, *end;
    double slope, precision, offset, documents;
    int bins_a_nat;
} Scores;

/* What a fit loses, in nats, and its derivatives: by slope and offset, and by two of them. */
typedef struct {
    double loss, g_slope, g_offset, h_slope, h_both, h_offset;
} Loss;

/* Not known to the compiler: Python calls pow() for a square, too. */
static volatile double two = 2.0;

/* Let the offset vary more where classes are of unequal size; see `_for_sizes`. */
static void
fit_to_sizes(Scores *scores)
{
    double by_class[2] = {0, 0};
    for (const ScoreRow *row = scores->rows; row < scores->end; row++)
        by_class[row->where & 1] += (double)row->n;
    double ratio = log((by_class[1] + 1) / (by_class[0] + 1));
    scores->offset = 1 / (1 / scores->offset + ratio * ratio);
    scores->documents = fmax(by_class[0] + by_class[1], 1.0);
}

static Loss
loss_of(const Scores *of, Fit fit)
{
    double penalty = of->precision * pow(fit.slope - of->slope, two)
                     + of->offset * pow(fit.offset, two);
    Loss sum = {0, of->precision * (fit.slope - of->slope), of->offset * fit.offset,
                of->precision, 0, of->offset};
    for (const ScoreRow *row = of->rows; row < of->end; row++) {
        bool is_second = row->where & 1;
        double n = (double)row->n, score = ((double)(row->where >> 1) + 0.5) / of->bins_a_nat;
        double x = fit.slope * score + fit.offset, falls = exp(-fabs(x));
        double p = (x >= 0 ? 1 : falls) / (1 + falls);
        double error = n * (p - is_second), weight = n * p * (1 - p);
        x = is_second ? -x : x;
        sum.loss += n * ((x > 0.0 ? x : 0.0) + log(1 + falls));
        sum.g_slope += error * score;
        sum.g_offset += error;
        sum.h_slope += weight * score * score;
        sum.h_both += weight * score;
        sum.h_offset += weight;
    }
    sum.loss += 0.5 * penalty;
    return sum;
}

static Fit
improved(const Scores *scores, Fit fit)
{
    Loss at = loss_of(scores, fit), there = at;
    for (int n = 0; n < MOST_STEPS; n++) {
        Fit step, tried = fit;
        double determinant = at.h_slope * at.h_offset - at.h_both * at.h_both, scale = 1.0;
        step.slope = (at.g_slope * at.h_offset - at.g_offset * at.h_both) / determinant;
        step.offset = (at.g_offset * at.h_slope - at.g_slope * at.h_both) / determinant;
        double expected = 0.5 * (at.g_slope * step.slope + at.g_offset * step.offset);
        if (determinant <= 0 || expected <= ROUNDING * at.loss)
            break;
        for (; scale > MIN_STEP; scale /= 2) {
            tried.slope = fit.slope - scale * step.slope;
            tried.offset = fit.offset - scale * step.offset;
            there = loss_of(scores, tried);
            if (there.loss < at.loss)
                break;
        }
        if (scale <= MIN_STEP)
            break;
        double gained = at.loss - there.loss;
        fit = tried;
        at = there;
        if (gained < TOLERANCE * scores->documents)
            break;
    }
    return fit;
}

PyObject *
newton(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer rows;
    Scores of = {0};
    Fit fit;
    if (!PyArg_ParseTuple(args, "y*iddddd:newton", &rows, &of.bins_a_nat, &fit.slope,
                          &fit.offset, &of.slope, &of.precision, &of.offset))
        return NULL;
    of.rows = rows.buf;
    of.end = of.rows + rows.len / (Py_ssize_t)sizeof *of.rows;
    bool is_sound = has_size(&rows, 2 * (size_t)(of.end - of.rows), sizeof of.rows->n);
    if (is_sound) {
        fit_to_sizes(&of);
        fit = improved(&of, fit);
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no scores of documents");
    }
    PyBuffer_Release(&rows);
    return is_sound ? Py_BuildValue("dd", fit.slope, fit.offset) : NULL;
}
