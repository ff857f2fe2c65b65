/*
 * Terms of documents, sorted and added up by key; twin of nbtext/counts/counter.py.
 *
 * Keys are hashes, so their top bits part them evenly: each term is moved once to those
 * of the same top bits, which then fit in a cache, and are sorted and added up there.
 * Chosen keys make the parts uneven, and the sorting of them no slower than `sort_keys`.
 */

#include "module.h"

#include <stdlib.h>

enum { COUNT_BITS = 64 - KEY_BITS, MOST_TOP_BITS = 10, PART = 1 << 10 };

/* Terms of some documents. */
typedef struct {
    Py_buffer keys, counts;
} Pile;

/* Where terms go: the sums, and how they are parted. */
typedef struct {
    uint64_t *values; /* each term as key and count, and then the distinct keys */
    int32_t *occurrences, *documents;
    uint64_t *scratch; /* two times as many as the largest part has */
    size_t n_terms, most; /* of all parts, and of the largest */
    size_t ends[1 << MOST_TOP_BITS];
    int shift; /* how many bits of a key do not choose its part */
} Sums;

/* Count what each part will have, and make of that where it begins. */
static void
measure_parts(Sums *sums, const Pile *piles, size_t n_piles)
{
    size_t sum = 0;
    for (size_t pile = 0; pile < n_piles; pile++) {
        const uint64_t *keys = piles[pile].keys.buf;
        size_t n = (size_t)piles[pile].keys.len / 8;
        for (size_t i = 0; i < n; i++)
            sums->ends[(keys[i] & (UINT64_MAX >> COUNT_BITS)) >> sums->shift]++;
    }
    for (size_t part = 0; part < 1 << MOST_TOP_BITS; part++) {
        size_t size = sums->ends[part];
        sums->most = size > sums->most ? size : sums->most;
        sums->ends[part] = sum;
        sum += size;
    }
}

/* Move all terms to their parts; after that each part's end is known. */
static void
part_terms(Sums *sums, const Pile *piles, size_t n_piles)
{
    for (size_t pile = 0; pile < n_piles; pile++) {
        const uint64_t *keys = piles[pile].keys.buf;
        const uint16_t *counts = piles[pile].counts.buf;
        size_t n = (size_t)piles[pile].keys.len / 8;
        for (size_t i = 0; i < n; i++) {
            uint64_t value = keys[i] << COUNT_BITS | counts[i];
            size_t place = sums->ends[value >> COUNT_BITS >> sums->shift]++;
            if (place < sums->n_terms) /* or somebody else changes keys meanwhile */
                sums->values[place] = value;
        }
    }
}

/*
 * Add up sorted values, one or more, behind what is `written`. Where values of the same key
 * end is hard to foretell, so that there is no branch.
 */
static size_t
sum_values(Sums *sums, const uint64_t *values, size_t n, size_t written, uint64_t *all)
{
    uint64_t before = ~(values[0] >> COUNT_BITS), sum = 0, times = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = values[i] >> COUNT_BITS;
        uint64_t count = values[i] & (((uint64_t)1 << COUNT_BITS) - 1);
        uint64_t is_new = key != before, if_same = is_new - 1; /* all bits or none */
        written += is_new;
        sum = (sum & if_same) + count;
        times = (times & if_same) + 1;
        most |= sum | times;
        sums->values[written - 1] = before = key;
        sums->occurrences[written - 1] = (int32_t)sum;
        sums->documents[written - 1] = (int32_t)times;
    }
    *all |= most;
    return written;
}

/* Sort and add up all terms, part by part; return how many keys they have, -1 if not. */
static int64_t
sum_parts(Sums *sums, size_t n_parts)
{
    size_t start = 0, written = 0;
    uint64_t all = 0;
    for (size_t part = 0; part < n_parts; part++) {
        size_t end = sums->ends[part], n = end - start;
        if (end < start || end > sums->n_terms || n > sums->most || n > UINT32_MAX)
            return -1;
        if (!n)
            continue;
        memcpy(sums->scratch, sums->values + start, n * sizeof *sums->scratch);
        sort_keys(sums->scratch, sums->scratch + sums->most, n);
        written = sum_values(sums, sums->scratch, n, written, &all);
        start = end;
    }
    return all >> 31 ? -1 : (int64_t)written;
}

/* The same, and first part the terms; false if there is no memory. */
static bool
sum_piles(Sums *sums, const Pile *piles, size_t n_piles, int64_t *n_keys)
{
    int bits = 0;
    while (bits < MOST_TOP_BITS && sums->n_terms >> bits > PART)
        bits++;
    sums->shift = KEY_BITS - bits;
    measure_parts(sums, piles, n_piles);
    sums->scratch = calloc(2 * sums->most + 1, sizeof *sums->scratch);
    if (!sums->scratch)
        return false;
    part_terms(sums, piles, n_piles);
    *n_keys = sum_parts(sums, (size_t)1 << bits);
    free(sums->scratch);
    return true;
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

/* Add up terms that were taken; NULL with an error. */
static PyObject *
sums_of(const Pile *piles, size_t n_piles, size_t n_terms, const Py_buffer *room)
{
    if (!has_size(&room[0], n_terms, 8) || !has_size(&room[1], n_terms, 4)
        || !has_size(&room[2], n_terms, 4))
        return PyErr_Format(PyExc_ValueError, "these are no terms, and room for their sums");
    Sums *sums = calloc(1, sizeof *sums);
    bool has_memory = sums;
    int64_t n_keys = 0;
    if (sums) {
        Py_BEGIN_ALLOW_THREADS
        sums->values = room[0].buf;
        sums->occurrences = room[1].buf;
        sums->documents = room[2].buf;
        sums->n_terms = n_terms;
        has_memory = sum_piles(sums, piles, n_piles, &n_keys);
        Py_END_ALLOW_THREADS
    }
    free(sums);
    return has_memory ? PyLong_FromLongLong(n_keys) : PyErr_NoMemory();
}

PyObject *
sum_terms(PyObject *module, PyObject *args)
{
    PyObject *terms, *result = NULL;
    Py_buffer room[3] = {{0}};
    size_t n_terms = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!w*w*w*:sum_terms", &PyTuple_Type, &terms, &room[0],
                          &room[1], &room[2]))
        return NULL;
    size_t n_piles = (size_t)PyTuple_Size(terms);
    Pile *piles = calloc(n_piles + 1, sizeof *piles);
    bool is_sound = piles;
    if (!piles)
        PyErr_NoMemory();
    for (size_t i = 0; is_sound && i < n_piles; i++)
        is_sound = take_pile(piles + i, PyTuple_GetItem(terms, (Py_ssize_t)i), &n_terms);
    if (is_sound)
        result = sums_of(piles, n_piles, n_terms, room);
    for (size_t i = 0; piles && i < n_piles; i++) {
        PyBuffer_Release(&piles[i].keys);
        PyBuffer_Release(&piles[i].counts);
    }
    free(piles);
    for (size_t i = 0; i < 3; i++)
        PyBuffer_Release(&room[i]);
    return result;
}
