/* From a score to the log posterior of two classes; twin of nbtext/scoring/posterior.py. */

#include "model.h"

#include <math.h>

/* ln(1 + exp(x)), without overflow. */
static double
softplus(double x)
{
    return (x > 0 ? x : 0.0) + log1p(exp(-fabs(x)));
}

/* No class is more probable than the documents of the other can say: a rule of succession. */
static void
cap(const int64_t *documents, Posterior *posterior)
{
    const double *uncapped = posterior->log_posterior;
    size_t best = uncapped[1] > uncapped[0];
    double others = (double)documents[1 - best];
    double most = log((others + 1) / (others + 2));
    memcpy(posterior->printed, uncapped, sizeof posterior->printed);
    if (uncapped[best] > most) {
        posterior->printed[best] = most;
        posterior->printed[1 - best] = -log(others + 2);
    }
}

Posterior
posterior_of(const Model *model, double score, int64_t known)
{
    const int64_t *documents = model->first.documents;
    Posterior posterior;
    if (known) {
        double log_odds = model->last.fit.slope * score + model->last.fit.offset;
        posterior.log_posterior[0] = -softplus(log_odds);
        posterior.log_posterior[1] = -softplus(-log_odds);
    } else {
        double whole = (double)(documents[0] + documents[1]);
        for (size_t n = 0; n < 2; n++)
            posterior.log_posterior[n] = log((double)documents[n] / whole);
    }
    cap(documents, &posterior);
    return posterior;
}
