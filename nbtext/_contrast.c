/*
 * The loops of many classes: what terms say for each class, and the passes that make a
 * correction. `nbtext.scoring.models.contrast_sums` and `nbtext.learning.passes` specify
 * them; property tests hold them together.
 *
 * As in `_compiled.c`, no array that is given makes anything read or write out of
 * bounds.
 */

#include "_contrast.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

enum { AHEAD = 8 }; /* terms whose entries are asked for before they are read */
enum { ROWS = 1024 }; /* entries whose logarithms are computed together */

static bool
has_size(const Py_buffer *buffer, size_t n, size_t size)
{
    return (size_t)buffer->len == n * size && (uintptr_t)buffer->buf % size == 0;
}

/* Whether n + 1 places begin at 0, never fall, and end at `end`. */
static bool
are_starts(const int64_t *starts, size_t n, int64_t end)
{
    bool is_sound = starts[0] == 0 && starts[n] == end;
    for (size_t i = 0; is_sound && i < n; i++)
        is_sound = starts[i] <= starts[i + 1];
    return is_sound;
}

/* --- logarithms ------------------------------------------------------------------- */

/* Compiled for several generations of a processor where the loader can choose. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

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
                uint64_t first = (uint64_t)sums->starts[soon];
                if (first < sums->n_entries) {
                    PREFETCH(sums->weights + first);
                    PREFETCH(sums->classes + first);
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
    Py_IncRef(Py_None); /* Py_RETURN_NONE of 3.12 does not count, which 3.11 needs */
    return Py_None;
}

/* --- passes ----------------------------------------------------------------------- */

enum { MOST_VIEWS = 16, UNITS = 256, BASE_UNITS = 4096, SIGNALS_EVERY = 256 };

static const double BIAS_RATE = 0.1;
static const double LENGTH = 65535.0; /* of a document's vector of integers */

/* What is beyond this is no correction. */
static const int64_t MOST = (int64_t)1 << 47;

typedef enum { DONE, NO_MEMORY, TOO_LARGE } Outcome;

/*
 * What a term has learnt: numbers of the store, from a first one on. As long as it is
 * of few classes, a number is 2^16 times the value, and the class; then there is a value
 * for each class.
 */
typedef struct {
    uint32_t first;
    uint16_t length, room; /* how many numbers there are; FULL: one for each class */
} Row;

enum { FULL = UINT16_MAX, LEAST_FULL = 6 };

/* Rows by term. A row that grows moves to the end of the store. */
typedef struct {
    Row *rows;
    int64_t *entries;
    size_t n_terms, n_classes, length, room;
} Store;

/* The documents in one view: where each one's terms begin, their places and weights. */
typedef struct {
    Py_buffer begins_buffer, places_buffer, weights_buffer;
    const int64_t *begins;
    const int32_t *places;
    const uint16_t *weights;
} View;

/* The documents, and what has been learnt from them. */
typedef struct {
    View views[MOST_VIEWS];
    size_t n_views, n_documents, n_classes;
    const int64_t *labels, *times;
    const int32_t *base; /* scores, in units of 1/4096 */
    int16_t *amounts;
    double rate, cut;
    Store store;
    int64_t *biases;
    uint64_t *dots;
    double *logits;
    int32_t *steps;  /* of the document that is visited, by class */
    uint16_t *moved; /* the classes whose step is not zero */
    size_t n_moved;
} Passes;

static bool
make_room(Store *store, size_t more)
{
    if (store->length + more <= store->room)
        return true;
    size_t room = 2 * store->room + more + 1024;
    if (room > UINT32_MAX)
        return false;
    int64_t *entries = realloc(store->entries, room * sizeof *entries);
    if (!entries)
        return false;
    store->entries = entries;
    store->room = room;
    return true;
}

static uint16_t
class_of(int64_t entry)
{
    return (uint16_t)((uint64_t)entry & UINT16_MAX);
}

static int64_t
value_of(int64_t entry)
{
    return entry >> 16;
}

static int64_t
entry_of(uint16_t class, int64_t value)
{
    return (int64_t)((uint64_t)value << 16 | class);
}

/* Give a row room for more; it has a value for each class once it has many. */
static bool
widen(Store *store, Row *row)
{
    size_t n = store->n_classes, from = row->first;
    bool is_full = row->length >= LEAST_FULL && row->length >= n / 3;
    size_t room = is_full ? n : row->room ? 2 * (size_t)row->room : 2;
    if (room >= FULL || !make_room(store, room))
        return false;
    int64_t *to = store->entries + store->length;
    if (is_full) {
        memset(to, 0, n * sizeof *to);
        for (size_t k = from; k < from + row->length; k++)
            to[class_of(store->entries[k])] = value_of(store->entries[k]);
        row->length = FULL;
    } else {
        memcpy(to, store->entries + from, row->length * sizeof *to);
    }
    row->first = (uint32_t)store->length;
    row->room = (uint16_t)room;
    store->length += room;
    return true;
}

/* Add to a class of a term. */
static Outcome
add_value(Store *store, size_t term, uint16_t class, int64_t value)
{
    Row *row = store->rows + term;
    size_t n = row->first, end = n + row->length;
    if (row->length != FULL) {
        while (n < end && class_of(store->entries[n]) != class)
            n++;
        if (n < end)
            value += value_of(store->entries[n]);
        else if (row->length == row->room && !widen(store, row))
            return NO_MEMORY;
        else if (row->length != FULL)
            n = (size_t)row->first + row->length++;
    }
    if (row->length == FULL) { /* perhaps since now */
        n = (size_t)row->first + class;
        value += store->entries[n];
    }
    if (value <= -MOST || value >= MOST)
        return TOO_LARGE;
    store->entries[n] = row->length == FULL ? value : entry_of(class, value);
    return DONE;
}

/* Compute the corrected logits of a document. */
FOR_EACH_PROCESSOR static void
find_logits(Passes *passes, size_t document)
{
    size_t n_classes = passes->n_classes;
    const Store *store = &passes->store;
    uint64_t *restrict dots = passes->dots;
    memset(dots, 0, n_classes * sizeof *dots);
    for (size_t v = 0; v < passes->n_views; v++) {
        const View *view = passes->views + v;
        int64_t end = view->begins[document + 1];
        for (int64_t term = view->begins[document]; term < end; term++) {
            if (term + AHEAD < end) {
                PREFETCH(store->rows + view->places[term + AHEAD]);
                if (term + AHEAD / 2 < end) {
                    uint32_t first = store->rows[view->places[term + AHEAD / 2]].first;
                    PREFETCH(store->entries + first);
                }
            }
            Row row = store->rows[view->places[term]];
            uint64_t weight = view->weights[term];
            const int64_t *entries = store->entries + row.first;
            if (row.length == FULL) {
                for (size_t c = 0; c < n_classes; c++)
                    dots[c] += weight * (uint64_t)entries[c];
                continue;
            }
            for (size_t n = 0; n < row.length; n++)
                dots[class_of(entries[n])] += weight * (uint64_t)value_of(entries[n]);
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
    double *logits = passes->logits, best = logits[0], sum = 0.0;
    passes->n_moved = 0;
    for (size_t c = 1; c < passes->n_classes; c++)
        best = logits[c] > best ? logits[c] : best;
    for (size_t c = 0; c < passes->n_classes; c++)
        sum += logits[c] = exp(logits[c] - best);
    for (size_t c = 0; c < passes->n_classes; c++) {
        double truth = (int64_t)c == passes->labels[document] ? 1.0 : 0.0;
        double step = passes->rate * (truth - logits[c] / sum);
        passes->steps[c] = fabs(step) < passes->cut ? 0 : (int32_t)rint(step * UNITS);
        if (passes->steps[c])
            passes->moved[passes->n_moved++] = (uint16_t)c;
    }
}

/* Add a document's vector to the classes that move. */
static Outcome
learn(Passes *passes, size_t document)
{
    int64_t times = passes->times[document];
    for (size_t n = 0; n < passes->n_moved; n++) {
        size_t c = passes->moved[n];
        passes->biases[c] += passes->steps[c] * times;
        passes->amounts[document * passes->n_classes + c] += (int16_t)passes->steps[c];
    }
    for (size_t v = 0; v < passes->n_views; v++) {
        const View *view = passes->views + v;
        int64_t end = view->begins[document + 1];
        for (int64_t term = view->begins[document]; term < end; term++) {
            size_t place = (size_t)view->places[term];
            int64_t weight = view->weights[term];
            for (size_t n = 0; n < passes->n_moved; n++) {
                uint16_t c = passes->moved[n];
                int64_t value = weight * passes->steps[c] * times;
                Outcome outcome = add_value(&passes->store, place, c, value);
                if (outcome != DONE)
                    return outcome;
            }
        }
    }
    return DONE;
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
        if (outcome == NO_MEMORY)
            PyErr_NoMemory();
        if (outcome == TOO_LARGE)
            PyErr_SetString(PyExc_OverflowError, "a value of the correction");
        if (outcome != DONE || PyErr_CheckSignals())
            return false;
    }
    return true;
}

static PyObject *
array_of(const void *data, size_t n, size_t size)
{
    return PyByteArray_FromStringAndSize(data, (Py_ssize_t)(n * size));
}

/* Read an entry of a row; false if there is nothing. */
static bool
read_entry(const Store *store, Row row, size_t n, uint16_t *class, int64_t *value)
{
    int64_t entry = store->entries[row.first + n];
    *class = row.length == FULL ? (uint16_t)n : class_of(entry);
    *value = row.length == FULL ? entry : value_of(entry);
    return *value != 0;
}

/* Write the entries that are not zero, by term; count them alone if there is no room. */
static size_t
write_entries(const Store *store, int32_t *places, uint16_t *classes, int64_t *values)
{
    size_t written = 0;
    for (size_t term = 0; term < store->n_terms; term++) {
        Row row = store->rows[term];
        size_t length = row.length == FULL ? store->n_classes : row.length;
        for (size_t n = 0; n < length; n++) {
            uint16_t class;
            int64_t value;
            if (!read_entry(store, row, n, &class, &value))
                continue;
            if (places) {
                places[written] = (int32_t)term;
                classes[written] = class;
                values[written] = value;
            }
            written++;
        }
    }
    return written;
}

/* Return the entries that are not zero: places, classes and values. */
static PyObject *
entries_of(const Store *store)
{
    size_t n = write_entries(store, NULL, NULL, NULL);
    PyObject *places = array_of(NULL, n, 4), *classes = array_of(NULL, n, 2);
    PyObject *values = array_of(NULL, n, 8), *result = NULL;
    if (places && classes && values) {
        write_entries(store, (int32_t *)(void *)PyByteArray_AsString(places),
                      (uint16_t *)(void *)PyByteArray_AsString(classes),
                      (int64_t *)(void *)PyByteArray_AsString(values));
        result = Py_BuildValue("(OOO)", places, classes, values);
    }
    Py_XDECREF(places);
    Py_XDECREF(classes);
    Py_XDECREF(values);
    return result;
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
    View *view = passes->views + passes->n_views;
    if (passes->n_views == MOST_VIEWS
        || !PyArg_ParseTuple(arrays, "y*y*y*", &view->begins_buffer,
                             &view->places_buffer, &view->weights_buffer)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "these are too many views");
        return false;
    }
    passes->n_views++; /* from here on its buffers are released */
    size_t n = (size_t)view->places_buffer.len / 4;
    view->begins = view->begins_buffer.buf;
    view->places = view->places_buffer.buf;
    view->weights = view->weights_buffer.buf;
    bool is_sound = has_size(&view->begins_buffer, passes->n_documents + 1, 8)
                    && has_size(&view->places_buffer, n, 4)
                    && has_size(&view->weights_buffer, n, 2)
                    && are_starts(view->begins, passes->n_documents, (int64_t)n);
    for (size_t i = 0; is_sound && i < n; i++)
        is_sound = view->places[i] >= 0 && (size_t)view->places[i] < n_terms;
    if (!is_sound)
        PyErr_SetString(PyExc_ValueError, "these are no documents in a view");
    return is_sound;
}

static bool
allocate(Passes *passes, size_t n_terms)
{
    size_t n = passes->n_classes;
    passes->store.n_terms = n_terms;
    passes->store.n_classes = n;
    passes->store.rows = calloc(n_terms + 1, sizeof *passes->store.rows);
    passes->biases = calloc(n + 1, sizeof *passes->biases);
    passes->dots = calloc(n + 1, sizeof *passes->dots);
    passes->logits = calloc(n + 1, sizeof *passes->logits);
    passes->steps = calloc(n + 1, sizeof *passes->steps);
    passes->moved = calloc(n + 1, sizeof *passes->moved);
    bool has_room = passes->store.rows && passes->biases && passes->dots
                    && passes->logits && passes->steps && passes->moved
                    && make_room(&passes->store, 1);
    if (!has_room)
        PyErr_NoMemory();
    return has_room;
}

static void
release(Passes *passes)
{
    for (size_t v = 0; v < passes->n_views; v++) {
        PyBuffer_Release(&passes->views[v].begins_buffer);
        PyBuffer_Release(&passes->views[v].places_buffer);
        PyBuffer_Release(&passes->views[v].weights_buffer);
    }
    free(passes->store.rows);
    free(passes->store.entries);
    free(passes->biases);
    free(passes->dots);
    free(passes->logits);
    free(passes->steps);
    free(passes->moved);
}

/* Write the corrected logits of some documents, one row of classes after the other. */
static void
write_logits(Passes *passes, const Py_buffer *documents, double *to)
{
    for (size_t n = 0; n < (size_t)documents->len / 8; n++) {
        find_logits(passes, (size_t)((const int64_t *)documents->buf)[n]);
        memcpy(to + n * passes->n_classes, passes->logits, passes->n_classes * 8);
    }
}

const char correct_doc[] =
"correct(views, n_terms, order, scored, labels, times, base, n_passes, rate, cut,\n"
"        amounts, logits)\n"
"--\n\n"
"Make a correction, as `nbtext.learning.passes.correct_by_arrays` does.\n\n"
"Returns:\n"
"    Its entries, three arrays: places (32 bits), classes (16) and values (64).\n";

PyObject *
correct(PyObject *module, PyObject *args)
{
    PyObject *views, *result = NULL;
    Py_buffer b[7] = {{0}};
    Passes passes = {0};
    Py_ssize_t n_terms, n_passes;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!ny*y*y*y*y*nddw*w*:correct", &PyList_Type, &views,
                          &n_terms, &b[0], &b[1], &b[2], &b[3], &b[4], &n_passes,
                          &passes.rate, &passes.cut, &b[5], &b[6]))
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
                    && are_below(passes.labels, n, passes.n_classes);
    if (!is_sound)
        PyErr_SetString(PyExc_ValueError, "these are no documents with base scores");
    for (Py_ssize_t v = 0; is_sound && v < PyList_Size(views); v++)
        is_sound = take_view(&passes, PyList_GetItem(views, v), (size_t)n_terms);
    is_sound = is_sound && allocate(&passes, (size_t)n_terms);
    for (Py_ssize_t pass = 0; is_sound && pass < n_passes; pass++)
        is_sound = visit_all(&passes, b[0].buf, n_order);
    if (is_sound) {
        write_logits(&passes, &b[1], b[6].buf);
        result = entries_of(&passes.store);
    }
    release(&passes);
    for (size_t k = 0; k < 7; k++)
        PyBuffer_Release(&b[k]);
    return result;
}
