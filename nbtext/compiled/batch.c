/* The scores of one document or many; twin of nbtext/scoring/batch.py. */

#include "stored.h"

#include <stdlib.h>

enum { N_BUFFERS = 3 }; /* of a view: keys, how often each occurs, where documents end */

/* Documents as `MailReader.read` returns them, view by view. */
typedef struct {
    Py_buffer buffers[MOST_VIEWS][N_BUFFERS];
    size_t n_views, n_documents; /* views whose buffers are to be released */
} Documents;

static void
release_documents(Documents *documents)
{
    for (; documents->n_views; documents->n_views--)
        for (size_t n = 0; n < N_BUFFERS; n++)
            PyBuffer_Release(&documents->buffers[documents->n_views - 1][n]);
}

/* Where the terms of the first documents end in a view. */
static uint64_t
end_of(const Documents *documents, size_t view, size_t n_first)
{
    uint64_t end = 0;
    if (n_first)
        memcpy(&end, (const uint8_t *)documents->buffers[view][2].buf + 8 * (n_first - 1), 8);
    return end;
}

/* Whether a view is of as many documents as the first, and has as many terms as it says. */
static bool
is_whole(Documents *documents, size_t view)
{
    const Py_buffer *of = documents->buffers[view];
    uint64_t n_terms = (uint64_t)of[0].len / 8, n_counts = (uint64_t)of[1].len / 2;
    size_t n = (size_t)of[2].len / 8;
    if (view == 0)
        documents->n_documents = n;
    for (size_t i = 0; i < n; i++)
        if (end_of(documents, view, i) > end_of(documents, view, i + 1))
            return false;
    return n == documents->n_documents && (!of[1].len || n_counts >= n_terms)
           && end_of(documents, view, n) <= n_terms;
}

/* Take documents; false with an error. They are to be released in either case. */
static bool
take_documents(Documents *documents, PyObject *views, size_t n_views)
{
    bool is_sound = PyTuple_Check(views) && (size_t)PyTuple_Size(views) == n_views;
    for (size_t view = 0; is_sound && view < n_views; view++) {
        Py_buffer *of = documents->buffers[view];
        PyObject *terms = PyTuple_GetItem(views, (Py_ssize_t)view);
        is_sound = PyTuple_Check(terms);
        if (is_sound && !PyArg_ParseTuple(terms, "y*y*y*;terms", of, of + 1, of + 2))
            return false;
        documents->n_views += is_sound;
        is_sound = is_sound && is_whole(documents, view);
    }
    if (!is_sound)
        PyErr_SetString(PyExc_ValueError, "these are no terms of documents, by view");
    return is_sound;
}

/* Score one of some documents; false if the model is damaged. */
static bool
score_one(const Model *model, const Documents *documents, size_t n, Scored *scored)
{
    Slice keys[MOST_VIEWS], counts[MOST_VIEWS];
    for (size_t view = 0; view < documents->n_views; view++) {
        const Py_buffer *of = documents->buffers[view];
        uint64_t start = end_of(documents, view, n), end = end_of(documents, view, n + 1);
        if (start > end || end > (uint64_t)of[0].len / 8)
            return false; /* somebody else has changed it meanwhile */
        const uint8_t *first_key = of[0].buf, *first_count = of[1].buf;
        keys[view] = slice(first_key + 8 * start, first_key + 8 * end);
        counts[view] = of[1].len ? slice(first_count + 2 * start, first_count + 2 * end)
                                 : slice(first_count, first_count);
    }
    return mean_score(model, keys, counts, scored);
}

/* Return the scores of some documents, and what makes them probabilities. */
static PyObject *
result_of(const Model *model, const Scored *scored, size_t n_documents)
{
    const int64_t *counted = model->first.documents;
    PyObject *rows = PyList_New((Py_ssize_t)n_documents);
    for (size_t n = 0; rows && n < n_documents; n++) {
        PyObject *row = Py_BuildValue("(dLL)", scored[n].score, (long long)scored[n].known,
                                      (long long)scored[n].terms);
        if (!row || PyList_SetItem(rows, (Py_ssize_t)n, row) < 0)
            Py_CLEAR(rows);
    }
    return Py_BuildValue("(N(dd)(LL))", rows, model->last.fit.slope, model->last.fit.offset,
                         (long long)counted[0], (long long)counted[1]);
}

PyObject *
stored_score(PyObject *self, PyObject *views)
{
    const Model *model = model_in(self);
    Documents documents = {.n_views = 0};
    PyObject *result = NULL;
    Scored *scored = NULL;
    if (take_documents(&documents, views, model->first.n_views)) {
        scored = calloc(documents.n_documents + 1, sizeof *scored);
        if (!scored)
            PyErr_NoMemory();
    }
    if (scored) {
        bool is_scored = true;
        ((StoredModel *)(void *)self)->n_busy++;
        Py_BEGIN_ALLOW_THREADS
        for (size_t n = 0; is_scored && n < documents.n_documents; n++)
            is_scored = score_one(model, &documents, n, scored + n);
        Py_END_ALLOW_THREADS
        ((StoredModel *)(void *)self)->n_busy--;
        result = is_scored ? result_of(model, scored, documents.n_documents) : counted_none();
    }
    free(scored);
    release_documents(&documents);
    return result;
}
