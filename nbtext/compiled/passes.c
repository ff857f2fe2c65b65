/* The passes that make a correction; twin of nbtext/learning/passes.py. */

#include "rows.h"

#include <math.h>
#include <stdlib.h>

enum { AHEAD = 64 }; /* terms whose entries are asked for before they are read */
enum { WHOLE = 256 }; /* classes; of fewer, all values of a term are asked for */
enum { MOST_VIEWS = 16, UNITS = 256, BASE_UNITS = 4096, SIGNALS_EVERY = 256 };
enum { MOST_COPIES = 256 }; /* that teach as much as one document */

static const double BIAS_RATE = 0.02;
static const double MOST_RATE = 127.0; /* a step of it has 16 bits */
static const int64_t MOST_TIMES = UINT32_MAX; /* times a weight and a step it has 64 bits */
static const double LENGTH = 65535.0; /* of a document's vector of integers */

/* The documents in one view: where each one's terms begin, their places and weights. */
typedef struct {
    Py_buffer buffers[3];
    const int64_t *begins;
    const int32_t *places;
    const uint16_t *weights;
} Documents;

/* The documents, and what has been learnt from them. */
typedef struct {
    Documents views[MOST_VIEWS];
    size_t n_views, n_documents, n_classes;
    const int64_t *labels, *times;
    const int32_t *base; /* scores, in units of 1/4096 */
    int16_t *amounts;
    double rate, cut, decay, doubt;
    Store store;
    int64_t *biases;
    uint64_t *dots;
    double *logits; /* which begins the memory of all that is by class */
    double *sizes;   /* of each class, the root of how many documents there are, and one */
    int32_t *steps;  /* of the document that is visited, by class */
    uint16_t *moved; /* the classes whose step is not zero */
    size_t n_moved;
} Passes;

/* Add up what a document's terms say in a view, where rows are full. */
static inline __attribute__((always_inline)) void
add_full(const Documents *view, size_t document, const Store *store, uint64_t *dots)
{
    const int32_t *all = (const int32_t *)(const void *)(store->entries + store->first);
    int64_t end = view->begins[document + 1];
    uint64_t sums[2 * MOST_OF_FEW] = {0}; /* of rows behind, too */
    for (int64_t term = view->begins[document]; term < end; term++) {
        if (term + AHEAD < end)
            PREFETCH(all + 2 * store->full * (size_t)view->places[term + AHEAD]);
        const int32_t *values = all + 2 * store->full * (size_t)view->places[term];
        for (size_t c = 0; c < 2 * MOST_OF_FEW; c++)
            sums[c] += (uint64_t)((int64_t)values[c] * (int32_t)view->weights[term]);
    }
    for (size_t c = 0; c < 2 * store->full; c++)
        dots[c] += sums[c];
}

/* Compute the corrected logits of a document. */
FOR_EACH_PROCESSOR static void
find_logits(Passes *passes, size_t document)
{
    size_t n_classes = passes->n_classes, ahead = n_classes < WHOLE ? n_classes / 2 : LINE;
    const Store local = passes->store, *store = &local; /* that nothing here writes to */
    uint64_t *restrict dots = passes->dots;
    memset(dots, 0, (n_classes + 1) * sizeof *dots);
    for (size_t v = 0; v < passes->n_views; v++) {
        const Documents *view = passes->views + v;
        int64_t end = view->begins[document + 1];
        if (store->are_full)
            add_full(view, document, store, dots);
        for (int64_t term = view->begins[document]; !store->are_full && term < end; term++) {
            if (term + AHEAD < end)
                PREFETCH(store->rows + view->places[term + AHEAD]);
            if (term + AHEAD / 2 < end) {
                uint32_t first = row_of(store, (size_t)view->places[term + AHEAD / 2]).first;
                for (size_t n = 0; n <= ahead; n += LINE)
                    PREFETCH(store->entries + first + n);
            }
            Row row = row_of(store, (size_t)view->places[term]);
            int64_t weight = view->weights[term];
            const int64_t *entries = store->entries + row.first;
            if (row.length == NARROW) {
                const int32_t *restrict values = narrow_values(store, row);
                for (size_t c = 0; c < n_classes; c++)
                    dots[c] += (uint64_t)((int64_t)values[c] * (int32_t)weight);
            } else if (row.length == WIDE) {
                for (size_t c = 0; c < n_classes; c++)
                    dots[c] += (uint64_t)weight * (uint64_t)entries[c];
            } else {
                for (size_t n = 0; n < row.length; n++)
                    dots[class_of(entries[n])] +=
                        (uint64_t)weight * (uint64_t)value_of(entries[n]);
            }
        }
    }
    for (size_t c = 0; c < n_classes; c++) {
        double base = (double)passes->base[document * n_classes + c] / BASE_UNITS;
        double bias = BIAS_RATE * (double)passes->biases[c] / UNITS;
        double dot = (double)(int64_t)dots[c] / (UNITS * LENGTH * LENGTH);
        passes->logits[c] = base + bias + dot;
    }
}

/* Compute by how much each class moves, and which do. */
static void
find_steps(Passes *passes, size_t document)
{
    double *logits = passes->logits, best = logits[0], sum = 0.0, most = 0.0;
    size_t label = (size_t)passes->labels[document];
    for (size_t c = 1; c < passes->n_classes; c++)
        best = logits[c] > best ? logits[c] : best;
    for (size_t c = 0; c < passes->n_classes; c++)
        sum += logits[c] = exp(logits[c] - best);
    for (size_t c = 0; c < passes->n_classes; c++)
        most = fmax(most, logits[c] / passes->sizes[c]);
    double likely = logits[label] / passes->sizes[label] / most;
    double copies = fmin(fmax((double)passes->times[document], 1.0), MOST_COPIES);
    double rate = passes->rate * pow(likely, passes->doubt) / copies, cut = passes->cut / copies;
    passes->n_moved = 0;
    for (size_t c = 0; c < passes->n_classes; c++) {
        double step = rate * ((c == label ? 1.0 : 0.0) - logits[c] / sum);
        passes->steps[c] = fabs(step) < cut ? 0 : (int32_t)rint(step * UNITS);
        if (passes->steps[c])
            passes->moved[passes->n_moved++] = (uint16_t)c;
    }
}

/* Add to terms whose rows are full; false if a value leaves its 32 bits. */
FOR_EACH_PROCESSOR static bool
add_to_full(const Passes *passes, const Documents *view, size_t document, uint32_t times)
{
    typedef uint32_t Lanes __attribute__((vector_size(8 * MOST_OF_FEW))); /* a row and more */
    const Store store = passes->store;
    int64_t end = view->begins[document + 1];
    Lanes steps, values, lost = {0};
    memcpy(&steps, passes->steps, sizeof steps);
    for (int64_t term = view->begins[document]; term < end; term++) {
        int64_t *row = store.entries + store.first + store.full * (size_t)view->places[term];
        memcpy(&values, row, sizeof values);
        Lanes more = steps * (view->weights[term] * times), sum = values + more;
        memcpy(row, &sum, sizeof sum);
        lost |= (values ^ sum) & (more ^ sum);
    }
    uint32_t any = 0;
    for (size_t c = 0; c < 2 * MOST_OF_FEW; c++)
        any |= lost[c];
    return any <= INT32_MAX;
}

/* Add a document's vector to the classes that move. */
static Outcome
learn(Passes *passes, size_t document)
{
    Outcome outcome = DONE;
    int64_t times = passes->times[document];
    bool are_small = true; /* steps are: 32 bits have them, times a weight */
    if (!passes->n_moved || times < 0 || times > MOST_TIMES)
        return passes->n_moved ? TOO_LARGE : DONE;
    for (size_t n = 0; n < passes->n_moved; n++) {
        size_t c = passes->moved[n];
        uint64_t moved = (uint64_t)passes->steps[c] * (uint64_t)times;
        passes->biases[c] = (int64_t)((uint64_t)passes->biases[c] + moved);
        are_small = are_small && (int64_t)moved == (int16_t)moved;
        passes->amounts[document * passes->n_classes + c] += (int16_t)passes->steps[c];
    }
    for (size_t v = 0; v < passes->n_views; v++) {
        const Documents *view = passes->views + v;
        int64_t term = view->begins[document], end = view->begins[document + 1];
        bool is_full = are_small && passes->store.are_full;
        bool is_done = is_full && add_to_full(passes, view, document, (uint32_t)times);
        if (is_full && !is_done) /* what was added is taken back */
            add_to_full(passes, view, document, -(uint32_t)times);
        for (; !is_done && outcome == DONE && term < end; term++)
            outcome = add_values(&passes->store, (size_t)view->places[term],
                                 passes->moved, passes->n_moved, passes->steps,
                                 view->weights[term] * times);
    }
    return outcome;
}

/* Visit documents in an order; false, with an error, if that cannot be done. */
static bool
visit_all(Passes *passes, const int64_t *order, size_t n)
{
    for (size_t i = 0; i < n;) {
        Outcome outcome = DONE;
        size_t end = i + SIGNALS_EVERY < n ? i + SIGNALS_EVERY : n;
        Py_BEGIN_ALLOW_THREADS
        for (; outcome == DONE && i < end; i++) {
            size_t document = (size_t)order[i];
            find_logits(passes, document);
            find_steps(passes, document);
            outcome = learn(passes, document);
        }
        Py_END_ALLOW_THREADS
        if (outcome == OUT_OF_MEMORY)
            PyErr_NoMemory();
        if (outcome == TOO_LARGE)
            PyErr_SetString(PyExc_OverflowError, "a value of the correction");
        if (outcome != DONE || PyErr_CheckSignals())
            return false;
    }
    return true;
}

static bool
are_below(const int64_t *values, size_t n, size_t bound)
{
    bool is_sound = true;
    for (size_t i = 0; i < n; i++)
        is_sound = is_sound && values[i] >= 0 && (size_t)values[i] < bound;
    return is_sound;
}

/* Take the arrays of a view; false, with an error, if they do not fit. */
static bool
take_view(Passes *passes, PyObject *arrays, size_t n_terms)
{
    Documents *view = passes->views + passes->n_views;
    if (passes->n_views == MOST_VIEWS || !PyTuple_Check(arrays)
        || !PyArg_ParseTuple(arrays, "y*y*y*", &view->buffers[0], &view->buffers[1],
                             &view->buffers[2]))
        return !PyErr_Occurred() && refuse(PyExc_ValueError, "these are no views, or too many");
    passes->n_views++; /* from here on its buffers are released */
    size_t n = (size_t)view->buffers[1].len / 4;
    view->begins = view->buffers[0].buf;
    view->places = view->buffers[1].buf;
    view->weights = view->buffers[2].buf;
    bool is_sound = has_size(&view->buffers[0], passes->n_documents + 1, 8)
                    && has_size(&view->buffers[1], n, 4) && has_size(&view->buffers[2], n, 2)
                    && are_starts(view->begins, passes->n_documents, (int64_t)n);
    for (size_t i = 0; is_sound && i < n; i++)
        is_sound = view->places[i] >= 0 && (size_t)view->places[i] < n_terms;
    return is_sound || refuse(PyExc_ValueError, "these are no documents in a view");
}

static bool
allocate(Passes *passes, size_t n_terms)
{
    size_t n = passes->n_classes + 2 * MOST_OF_FEW; /* so many steps are read at a time */
    passes->logits = calloc(n, 4 * sizeof(double) + 6); /* bytes of all */
    if (!make_store(&passes->store, n_terms, passes->n_classes) || !passes->logits)
        return PyErr_NoMemory();
    passes->sizes = passes->logits + n;
    passes->biases = (int64_t *)(void *)(passes->sizes + n);
    passes->dots = (uint64_t *)(void *)(passes->biases + n);
    passes->steps = (int32_t *)(void *)(passes->dots + n);
    passes->moved = (uint16_t *)(void *)(passes->steps + n);
    return true;
}

PyObject *
correct(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *views;
    Py_buffer b[7] = {{0}};
    Passes passes = {0};
    Py_ssize_t n_terms, n_passes;
    int is_kept;
    if (!PyArg_ParseTuple(args, "O!ny*y*y*y*y*nddddw*w*p:correct", &PyList_Type, &views,
                          &n_terms, &b[0], &b[1], &b[2], &b[3], &b[4], &n_passes,
                          &passes.rate, &passes.cut, &passes.decay, &passes.doubt,
                          &b[5], &b[6], &is_kept))
        return NULL;
    size_t n_order = (size_t)b[0].len / 8, n_scored = (size_t)b[1].len / 8;
    size_t n = passes.n_documents = (size_t)b[2].len / 8;
    passes.n_classes = n ? (size_t)b[4].len / 4 / n : 0;
    passes.labels = b[2].buf;
    passes.times = b[3].buf;
    passes.base = b[4].buf;
    passes.amounts = b[5].buf;
    bool is_sound = n_terms >= 0 && n_terms < INT32_MAX
                    && passes.n_classes <= UINT16_MAX && has_size(&b[0], n_order, 8)
                    && has_size(&b[1], n_scored, 8) && has_size(&b[2], n, 8)
                    && has_size(&b[3], n, 8) && has_size(&b[4], n * passes.n_classes, 4)
                    && has_size(&b[5], n * passes.n_classes, 2)
                    && has_size(&b[6], n_scored * passes.n_classes, 8)
                    && are_below(b[0].buf, n_order, n)
                    && are_below(b[1].buf, n_scored, n)
                    && are_below(passes.labels, n, passes.n_classes)
                    && passes.rate >= 0.0 && passes.rate <= MOST_RATE
                    && passes.decay >= 0.0 && passes.decay <= 1.0
                    && passes.doubt >= 0.0 && passes.doubt <= 1.0;
    if (!is_sound)
        PyErr_SetString(PyExc_ValueError, "these are no documents with base scores");
    for (Py_ssize_t v = 0; is_sound && v < PyList_Size(views); v++)
        is_sound = take_view(&passes, PyList_GetItem(views, v), (size_t)n_terms);
    is_sound = is_sound && allocate(&passes, (size_t)n_terms);
    const int64_t *order = b[0].buf, *scored = b[1].buf;
    for (size_t i = 0; is_sound && i < n_order; i++)
        passes.sizes[passes.labels[order[i]]] += 1.0;
    for (size_t c = 0; is_sound && c < passes.n_classes; c++)
        passes.sizes[c] = sqrt(passes.sizes[c] + 1.0);
    for (Py_ssize_t pass = 0; is_sound && n_order && pass < n_passes; pass++) {
        is_sound = visit_all(&passes, order, n_order);
        passes.rate *= passes.decay;
        passes.cut *= passes.decay;
    }
    for (size_t i = 0; is_sound && i < n_scored; i++) {
        find_logits(&passes, (size_t)scored[i]);
        memcpy((double *)b[6].buf + i * passes.n_classes, passes.logits,
               passes.n_classes * sizeof *passes.logits);
    }
    for (n = 0; n < 3 * passes.n_views; n++)
        PyBuffer_Release(&passes.views[n / 3].buffers[n % 3]);
    free(passes.logits);
    is_sound = is_sound && PyList_SetSlice(views, 0, PyList_Size(views), NULL) == 0;
    passes.store.n_terms *= (size_t)is_kept; /* of none, no entries are told */
    PyObject *result = is_sound ? entries_of(&passes.store) : NULL;
    release_store(&passes.store);
    for (size_t k = 0; k < 7; k++)
        PyBuffer_Release(&b[k]);
    return result;
}
