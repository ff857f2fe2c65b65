/* The mean score of a document; twin of nbtext/scoring/models/mean.py. */

#include "model.h"

#include <math.h>

/* What the terms of a view say, by their counts. */
typedef struct {
    double sizes[2], h, least;
} Odds;

static Odds
odds_of(const Model *model, size_t view)
{
    const MeanScoring *scoring = &model->first.scoring;
    Odds odds = {{0, 0}, 0, exp(scoring->least)};
    for (size_t class = 0; class < 2; class++) {
        int64_t total = model->first.totals[view][class][0];
        odds.sizes[class] = (double)(total > 1 ? total : 1);
    }
    odds.h = 2 * scoring->smoothing / (odds.sizes[0] + odds.sizes[1]);
    return odds;
}

/* What a term says, in nats; 0 if that is less than the least that counts. */
static double
log_odds(const Odds *of, const int64_t *counts)
{
    double second = (double)counts[1] / of->sizes[1] + of->h;
    double first = (double)counts[0] / of->sizes[0] + of->h;
    double odds = second / first;
    return odds >= of->least || odds * of->least <= 1.0 ? log(odds) : 0.0;
}

/* What is added up of a view. */
typedef struct {
    double sum;
    int64_t kept, known;
} Sum;

/* Add what some terms say, each so many times; false if the model is damaged. */
static bool
add_terms(const Model *model, size_t view, const Odds *odds, const uint64_t *keys,
          const uint16_t *times, size_t n, Sum *sum)
{
    Found found[AT_ONCE];
    find_counts(model, view, keys, n, found);
    for (size_t i = 0; i < n; i++) {
        if (found[i].lookup == IS_DAMAGED)
            return false;
        if (found[i].lookup == UNKNOWN_TERM)
            continue;
        double says = log_odds(odds, found[i].counts);
        sum->known += times[i];
        sum->sum += times[i] * says;
        sum->kept += says != 0 ? times[i] : 0;
    }
    return true;
}

bool
mean_score(const Model *model, const Slice *keys, const Slice *counts, Scored *scored)
{
    *scored = (Scored){0, 0, 0};
    for (size_t view = 0; view < model->first.n_views; view++) {
        Odds odds = odds_of(model, view);
        Sum sum = {0, 0, 0};
        Slice left = keys[view], more = counts[view];
        while (left.at < left.end) {
            uint64_t some[AT_ONCE];
            uint16_t times[AT_ONCE];
            size_t n = 0;
            for (; n < AT_ONCE && left.at < left.end; n++, left.at += sizeof *some) {
                memcpy(some + n, left.at, sizeof *some);
                times[n] = 1;
                if (more.at < more.end) {
                    memcpy(times + n, more.at, sizeof *times);
                    more.at += sizeof *times;
                }
                scored->terms += times[n];
            }
            if (!add_terms(model, view, &odds, some, times, n, &sum))
                return false;
        }
        scored->known += sum.known;
        scored->score += sum.sum / (double)(sum.kept ? sum.kept : 1);
    }
    return true;
}
