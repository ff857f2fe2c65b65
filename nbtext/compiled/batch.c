/* The scores of one document or many; twin of nbtext/scoring/batch.py. */

#include "stored.h"

#include <stdlib.h>

/* The terms of documents in one view: keys, how often each occurs or nothing, and where those of
   each document end. They lie in bytes of Python's, which nobody changes. */
typedef struct {
    Slice keys, counts, ends;
} Terms;

/* Documents as `MailReader.read` returns them, view by view. */
typedef struct {
    Terms views[MOST_VIEWS];
    size_t n_views, n_documents;
} Documents;

/* Where the terms of the first documents end in a view. */
static uint64_t
end_of(const Terms *terms, size_t n_first)
{
    uint64_t end = 0;
    if (n_first)
        memcpy(&end, terms->ends.at + 8 * (n_first - 1), sizeof end);
    return end;
}

/* Whether a view is of so many documents, and has as many terms as it says. */
static bool
is_whole(const Terms *terms, size_t n_documents)
{
    uint64_t n_terms = length_of(terms->keys) / 8, n_counts = length_of(terms->counts) / 2;
    if (length_of(terms->ends) / 8 != n_documents
        || (length_of(terms->counts) && n_counts < n_terms))
        return false;
    for (size_t n = 0; n < n_documents; n++)
        if (end_of(terms, n) > end_of(terms, n + 1))
            return false;
    return end_of(terms, n_documents) <= n_terms;
}

/* Take documents; false with an error. */
static bool
take_documents(Documents *documents, PyObject *views)
{
    bool is_sound = PyTuple_Check(views) && (size_t)PyTuple_Size(views) == documents->n_views;
    for (size_t n = 0; is_sound && n < documents->n_views; n++) {
        PyObject *of = PyTuple_GetItem(views, (Py_ssize_t)n), *keys, *counts, *ends;
        if (!PyTuple_Check(of))
            return refuse(PyExc_TypeError, "the terms of a view are a tuple");
        if (!PyArg_ParseTuple(of, "SSS;terms", &keys, &counts, &ends))
            return false;
        documents->views[n] = (Terms){bytes_in(keys), bytes_in(counts), bytes_in(ends)};
        documents->n_documents = length_of(documents->views->ends) / 8;
        is_sound = is_whole(documents->views + n, documents->n_documents);
    }
    return is_sound || refuse(PyExc_ValueError, "these are no terms of documents, by view");
}

/* Score one of some documents; false if the model is damaged. */
static bool
score_one(const Model *model, const Documents *documents, size_t n, Scored *scored)
{
    Slice keys[MOST_VIEWS], counts[MOST_VIEWS];
    for (size_t view = 0; view < documents->n_views; view++) {
        const Terms *terms = documents->views + view;
        uint64_t start = end_of(terms, n), end = end_of(terms, n + 1);
        keys[view] = slice(terms->keys.at + 8 * start, terms->keys.at + 8 * end);
        counts[view] = terms->counts;
        if (length_of(terms->counts))
            counts[view] = slice(terms->counts.at + 2 * start, terms->counts.at + 2 * end);
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
    Documents documents = {.n_views = model->first.n_views};
    PyObject *result = NULL;
    Scored *scored = NULL;
    if (take_documents(&documents, views)) {
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
    return result;
}
