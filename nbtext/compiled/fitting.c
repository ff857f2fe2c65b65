/*
 * What turns the scores of two classes into probabilities, fitted to those that were held
 * out; twin of nbtext/counts/fitting.py. The same steps in the same order, so that every
 * bit is the same.
 */

#include "model.h"

#include <math.h>
#include <stdlib.h>

#define MIN_STEP 1e-6
#define TOLERANCE 1e-9
#define ROUNDING 0x1p-52
#define LEAST_SLOPE 0x1p-6
#define PINNED 0x1p40
enum { BINS_A_NAT = 16, MOST_STEPS = 50 };

/* A score, how many documents have it, whether they are of the second class; and of the fit
   that was tried last x, and exp(-|x|). */
typedef struct {
    double score, n, is_second, x, falls;
} Scores;

/* Not known to the compiler: Python calls pow() for a square, too. */
static volatile double two = 2.0;

/* --- what tables keep ------------------------------------------------------------- */

bool
add_to_bin(HeldOut *held_out, int64_t bin, size_t class, int64_t n)
{
    int64_t *count = held_out->counts[bin + FARTHEST_BIN] + class;
    held_out->least = bin < held_out->least ? bin : held_out->least;
    held_out->most = bin > held_out->most ? bin : held_out->most;
    *count += n;
    return *count <= MOST_HELD_OUT && *count >= -MOST_HELD_OUT;
}

/* Add what one table counts; names that are no classes of the model count for nothing. */
static bool
add_counts_of(const Header *first, Pack counts, HeldOut *held_out)
{
    size_t length;
    take_array(&counts, &length); /* as it was when the header was read */
    for (; length; length--) {
        int64_t bin, n;
        Slice name;
        if (!take_held_out(&counts, &bin, &name, &n))
            return false;
        for (size_t class = 0; class < 2; class++)
            if (is_same(name, first->classes[class]) && !add_to_bin(held_out, bin, class, n))
                return false;
    }
    return true;
}

Filling
add_held_out(Model *model)
{
    HeldOut *all = model->held_out;
    if (!all)
        all = model->held_out = calloc(1, sizeof *all);
    if (!all)
        return NO_MEMORY;
    for (; all->n_tables < model->n_tables; all->n_tables++)
        if (!add_counts_of(&model->first, model->tables[all->n_tables].held_out, all)) {
            free(all);
            model->held_out = NULL;
            return UNSOUND;
        }
    return FILLED;
}

/* --- the fit ---------------------------------------------------------------------- */

static double
loss_of(Scores *rows, size_t n_rows, Fit fit, const Prior *prior)
{
    double penalty = prior->precision * pow(fit.slope - prior->slope, two)
                     + prior->offset * pow(fit.offset, two);
    double total = 0.0;
    for (Scores *row = rows; row < rows + n_rows; row++) {
        row->x = fit.slope * row->score + fit.offset;
        row->falls = exp(-fabs(row->x));
        double x = row->is_second != 0 ? -row->x : row->x;
        total += row->n * ((x > 0.0 ? x : 0.0) + log(1 + row->falls));
    }
    return 0.5 * penalty + total;
}

/* The step of Newton's method from the fit that was tried last, and what it should gain;
   false if there is none. */
static bool
step_from(const Scores *rows, size_t n_rows, Fit fit, const Prior *prior, Fit *step,
          double *expected)
{
    double g_slope = prior->precision * (fit.slope - prior->slope);
    double h_slope = prior->precision, h_both = 0.0;
    double g_offset = prior->offset * fit.offset, h_offset = prior->offset;
    for (const Scores *row = rows; row < rows + n_rows; row++) {
        double p = (row->x >= 0 ? 1 : row->falls) / (1 + row->falls);
        double error = row->n * (p - row->is_second), weight = row->n * p * (1 - p);
        g_slope += error * row->score;
        g_offset += error;
        h_slope += weight * row->score * row->score;
        h_both += weight * row->score;
        h_offset += weight;
    }
    double determinant = h_slope * h_offset - h_both * h_both;
    if (determinant <= 0)
        return false;
    step->slope = (g_slope * h_offset - g_offset * h_both) / determinant;
    step->offset = (g_offset * h_slope - g_slope * h_both) / determinant;
    *expected = 0.5 * (g_slope * step->slope + g_offset * step->offset);
    return true;
}

static Fit
improved(Scores *rows, size_t n_rows, Fit fit, const Prior *prior, double documents)
{
    double loss = loss_of(rows, n_rows, fit, prior), expected;
    for (int n = 0; n < MOST_STEPS; n++) {
        Fit step, tried = fit;
        double tried_loss = loss, scale = 1.0;
        if (!step_from(rows, n_rows, fit, prior, &step, &expected)
            || expected <= ROUNDING * loss)
            break;
        for (; scale > MIN_STEP; scale /= 2) {
            tried.slope = fit.slope - scale * step.slope;
            tried.offset = fit.offset - scale * step.offset;
            tried_loss = loss_of(rows, n_rows, tried, prior);
            if (tried_loss < loss)
                break;
        }
        if (scale <= MIN_STEP)
            break;
        double gained = loss - tried_loss;
        fit = tried;
        loss = tried_loss;
        if (gained < TOLERANCE * documents)
            break;
    }
    return fit;
}

/* Gather the scores that documents have, in their order; return how many there are. */
static size_t
rows_of(const HeldOut *held_out, Scores *rows)
{
    size_t n_rows = 0;
    for (int64_t bin = held_out->least; bin <= held_out->most; bin++)
        for (int class = 0; class < 2; class++) {
            int64_t n = held_out->counts[bin + FARTHEST_BIN][class];
            if (n > 0)
                rows[n_rows++] = (Scores){.score = ((double)bin + 0.5) / BINS_A_NAT,
                                          .n = (double)n, .is_second = class};
        }
    return n_rows;
}

/* The same to whole nats, in the order in which nats and classes first come. */
static size_t
coarse_rows(const Scores *rows, size_t n_rows, Scores *coarse)
{
    size_t n_coarse = 0;
    for (size_t i = 0; i < n_rows; i++) {
        Scores row = rows[i];
        row.score = floor(row.score) + 0.5;
        size_t place = n_coarse > 2 ? n_coarse - 2 : 0;
        while (place < n_coarse
               && (coarse[place].score != row.score
                   || coarse[place].is_second != row.is_second))
            place++;
        if (place < n_coarse)
            coarse[place].n += row.n;
        else
            coarse[n_coarse++] = row;
    }
    return n_coarse;
}

bool
fit_to(const HeldOut *held_out, Prior prior, Fit *fit, int64_t *documents)
{
    size_t n_bins = (size_t)(held_out->most - held_out->least + 1);
    Scores *rows = malloc(2 * 2 * n_bins * sizeof *rows); /* by class, and again to nats */
    double by_class[2] = {0, 0};
    if (!rows)
        return false;
    size_t n_rows = rows_of(held_out, rows);
    Scores *coarse = rows + n_rows;
    size_t n_coarse = coarse_rows(rows, n_rows, coarse);
    for (size_t n = 0; n < n_rows; n++)
        by_class[rows[n].is_second != 0] += rows[n].n;
    double ratio = log((by_class[1] + 1) / (by_class[0] + 1));
    prior.offset = 1 / (1 / prior.offset + ratio * ratio);
    double n = fmax(by_class[0] + by_class[1], 1.0);
    Fit start = improved(coarse, n_coarse, (Fit){prior.slope, 0.0}, &prior, n);
    *fit = improved(rows, n_rows, start, &prior, n);
    if (fit->slope < LEAST_SLOPE) {
        prior.slope = LEAST_SLOPE;
        prior.precision = PINNED;
        *fit = improved(rows, n_rows, (Fit){LEAST_SLOPE, 0.0}, &prior, n);
    }
    *documents = (int64_t)(by_class[0] + by_class[1]);
    free(rows);
    return true;
}
