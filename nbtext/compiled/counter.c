/* Terms of documents, sorted and added up by key; twin of nbtext/counts/counter.py. */

#include "module.h"

#include <stdlib.h>

enum { COUNT_BITS = 64 - KEY_BITS };
enum { A_SLOT = 64, LOOKED_AT = 16, MOST_SLOTS = 1 << 14 }; /* 256 KiB are in a cache */

/* Terms of some documents. */
typedef struct {
    Py_buffer keys, counts;
} Pile;

/* A key that occurs often, as in a value; and what it has: 2^40 times the number of its
   documents, and how often it occurs in them. */
typedef struct {
    uint64_t key, had;
} Slot;

enum { SUM_BITS = 40, NO_KEY = 1, FOR_OTHERS = 8 };

/* Slots of keys that occur often, and behind them some for all other keys. */
typedef struct {
    Slot *slots;
    uint64_t mask;
} Often;

static inline uint64_t
place_of(Often often, uint64_t value)
{
    return value >> COUNT_BITS & often.mask;
}

/* Choose for each slot the key that most of those have that go there, if one has, by some of
   the terms; none if they are too many for a slot (Boyer and Moore, "MJRTY: a fast majority
   vote algorithm", 1981). */
static void
choose_often(const Pile *piles, size_t n_piles, size_t n_terms, Often often)
{
    for (size_t n = 0; n <= often.mask; n++)
        often.slots[n].key = NO_KEY;
    for (size_t pile = 0; pile < n_piles && !(n_terms >> (64 - SUM_BITS)); pile++)
        for (size_t i = 0; i < (size_t)piles[pile].keys.len / 8 / LOOKED_AT; i++) {
            uint64_t key = ((const uint64_t *)piles[pile].keys.buf)[i] << COUNT_BITS;
            Slot *slot = often.slots + place_of(often, key);
            slot->key = slot->had ? slot->key : key;
            slot->had += slot->key == key ? 1 : UINT64_MAX;
        }
    for (size_t n = 0; n <= often.mask; n++)
        often.slots[n].had = 0;
}

/*
 * Write each term as a number but those of keys that occur often, of which half of all terms
 * are: they are added up as they come, and each is written once, with a count of 0. Return how
 * many numbers there are. Whether a key occurs often is hard to foretell: there is no branch.
 */
static size_t
gather_terms(const Pile *piles, size_t n_piles, Often often, uint64_t *values)
{
    size_t n_values = 0;
    for (size_t pile = 0; pile < n_piles; pile++) {
        const uint64_t *keys = piles[pile].keys.buf;
        const uint16_t *counts = piles[pile].counts.buf;
        for (size_t i = 0; i < (size_t)piles[pile].keys.len / 8; i++) {
            uint64_t key = keys[i] << COUNT_BITS, count = counts[i];
            uint64_t place = place_of(often, key), is_rare = often.slots[place].key != key;
            place += (often.mask + 1 + i % FOR_OTHERS - place) & -is_rare;
            often.slots[place].had += ((uint64_t)1 << SUM_BITS) + count;
            values[n_values] = key | count;
            n_values += is_rare;
        }
    }
    for (size_t n = 0; n <= often.mask; n++)
        if (often.slots[n].had)
            values[n_values++] = often.slots[n].key;
    return n_values;
}

/*
 * Add up values that are sorted; return how many keys they have, -1 if a sum is too large.
 * Where values of the same key end is hard to foretell, so that there is no branch.
 */
static int64_t
sum_values(uint64_t *values, Often often, int32_t *occurrences, int32_t *documents, size_t n)
{
    uint64_t before = UINT64_MAX, sum = 0, times = 0, most = 0;
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = values[i] >> COUNT_BITS;
        uint64_t count = values[i] & (((uint64_t)1 << COUNT_BITS) - 1);
        uint64_t is_new = key != before, if_same = is_new - 1; /* all bits or none */
        Slot slot = {0, ((uint64_t)1 << SUM_BITS) + count};
        if (!count && often.slots[place_of(often, values[i])].key == values[i])
            slot = often.slots[place_of(often, values[i])];
        written += is_new;
        sum = (sum & if_same) + (slot.had & (((uint64_t)1 << SUM_BITS) - 1));
        times = (times & if_same) + (slot.had >> SUM_BITS);
        most |= sum | times;
        values[written - 1] = before = key;
        occurrences[written - 1] = (int32_t)sum;
        documents[written - 1] = (int32_t)times;
    }
    return most > INT32_MAX ? -1 : (int64_t)written;
}

/* Take the terms of some documents; false with an error if they are none. */
static bool
take_pile(Pile *pile, PyObject *terms, size_t *n_terms)
{
    bool is_pair = PyTuple_Check(terms);
    if (is_pair && !PyArg_ParseTuple(terms, "y*y*;terms", &pile->keys, &pile->counts))
        return false;
    size_t n = (size_t)pile->keys.len / 8;
    *n_terms += n;
    if (is_pair && has_size(&pile->keys, n, 8) && has_size(&pile->counts, n, 2))
        return true;
    return refuse(PyExc_ValueError, "these are no keys and counts");
}

/* Add up terms that were taken, in arrays with room for all; NULL with an error. */
static PyObject *
sums_of(const Pile *piles, size_t n_piles, size_t n_terms)
{
    static const Py_ssize_t sizes[] = {8, 4, 4};
    PyObject *all = Py_BuildValue("NNN", array_of(n_terms + 1, 8), array_of(n_terms, 4),
                                  array_of(n_terms, 4));
    Often often = {NULL, 0};
    while (often.mask < MOST_SLOTS - 1 && often.mask < n_terms / A_SLOT)
        often.mask = 2 * often.mask + 1;
    often.slots = calloc(often.mask + 1 + FOR_OTHERS, sizeof *often.slots);
    uint64_t *scratch = malloc((n_terms + 1) * sizeof *scratch);
    bool is_sound = all && often.slots && scratch;
    if (all && !is_sound)
        PyErr_NoMemory();
    int64_t n = -1;
    if (is_sound) {
        uint64_t *values = memory_of(all, 0);
        int32_t *occurrences = memory_of(all, 1), *documents = memory_of(all, 2);
        Py_BEGIN_ALLOW_THREADS
        choose_often(piles, n_piles, n_terms, often);
        size_t n_values = gather_terms(piles, n_piles, often, values);
        sort_keys(values, scratch, n_values);
        n = sum_values(values, often, occurrences, documents, n_values);
        Py_END_ALLOW_THREADS
        for (Py_ssize_t k = 0; is_sound && n >= 0 && k < 3; k++)
            is_sound = !PyByteArray_Resize(PyTuple_GetItem(all, k), (Py_ssize_t)n * sizes[k]);
    }
    free(often.slots);
    free(scratch);
    if (is_sound && n >= 0)
        return all;
    Py_XDECREF(all);
    return is_sound ? counted_none() : NULL;
}

PyObject *
sum_terms(PyObject *module, PyObject *terms)
{
    PyObject *result = NULL;
    size_t n_terms = 0;
    (void)module;
    if (!PyTuple_Check(terms))
        return PyErr_Format(PyExc_TypeError, "a tuple of terms was expected");
    size_t n_piles = (size_t)PyTuple_Size(terms);
    Pile *piles = calloc(n_piles + 1, sizeof *piles);
    bool is_sound = piles;
    if (!piles)
        PyErr_NoMemory();
    for (size_t i = 0; is_sound && i < n_piles; i++)
        is_sound = take_pile(piles + i, PyTuple_GetItem(terms, (Py_ssize_t)i), &n_terms);
    if (is_sound)
        result = sums_of(piles, n_piles, n_terms);
    for (size_t i = 0; piles && i < n_piles; i++) {
        PyBuffer_Release(&piles[i].keys);
        PyBuffer_Release(&piles[i].counts);
    }
    free(piles);
    return result;
}
