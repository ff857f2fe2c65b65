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
log_odds(const Odds *of, const Counts *counts)
{
    double second = (double)counts->columns[1][0] / of->sizes[1] + of->h;
    double first = (double)counts->columns[0][0] / of->sizes[0] + of->h;
    double odds = second / first;
    return odds >= of->least || odds * of->least <= 1.0 ? log(odds) : 0.0;
}

bool
mean_score(const Model *model, const Slice *keys, double *score, int64_t *known)
{
    *score = 0;
    *known = 0;
    for (size_t view = 0; view < model->first.n_views; view++) {
        Odds odds = odds_of(model, view);
        double sum = 0;
        int64_t kept = 0;
        for (const uint8_t *at = keys[view].at; at < keys[view].end; at += 8) {
            uint64_t key;
            Counts counts;
            memcpy(&key, at, sizeof key);
            Lookup found = find_counts(model, view, key, &counts);
            if (found == IS_DAMAGED)
                return false;
            if (found == UNKNOWN_TERM)
                continue;
            double says = log_odds(&odds, &counts);
            ++*known;
            sum += says;
            kept += says != 0;
        }
        *score += sum / (double)(kept ? kept : 1);
    }
    return true;
}
