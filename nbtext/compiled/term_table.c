/* Keys to their places in a sorted table; twin of nbtext/counts/term_table.py. */

#include "module.h"

/* Keys from one stage to the next; steps taken without a branch, and until halving. */
enum { AHEAD = 32, FIRST = 4, NEAR = 16 };

/* The first place from which on keys are not below one; the sentinel is not. */
static int64_t
place_from(const TermKeys *terms, int64_t place, uint64_t key)
{
    int64_t end = terms->n_terms;
    for (int64_t n = 0, first = place; n < FIRST && end - first >= FIRST; n++)
        place += terms->keys[first + n] < key; /* no branch: it is hard to foretell */
    for (int step = 0; step < NEAR; step++, place++)
        if (place == end || terms->keys[place] >= key)
            return place;
    while (place < end) { /* keys chosen to lie close together */
        int64_t middle = place + (end - place) / 2;
        if (terms->keys[middle] < key)
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

bool
take_terms(TermKeys *terms, const Py_buffer *keys, const Py_buffer *buckets, int shift)
{
    bool is_sound = shift > 0 && shift < KEY_BITS && keys->len >= 8;
    if (is_sound) {
        uint64_t n_buckets = (uint64_t)1 << (KEY_BITS - shift);
        *terms = (TermKeys){keys->buf, integers_of(buckets, n_buckets), keys->len / 8 - 1,
                            n_buckets, shift};
        is_sound = terms->buckets.width && has_size(keys, (size_t)terms->n_terms + 1, 8);
    }
    return is_sound || refuse(PyExc_ValueError, "these are no keys with buckets");
}

void
find_places(const TermKeys *of, const uint64_t *wanted, int64_t *places, size_t n)
{
    const TermKeys terms = *of; /* which what is written cannot change */
    int64_t guessed[AHEAD] = {0};
    size_t ahead = n < AHEAD ? n : AHEAD;
    /* what memory has to bring is asked for AHEAD keys before, its bucket twice as many */
    for (size_t i = 0; i < n + 2 * ahead; i++) {
        size_t next = i - ahead, now = next - ahead;
        if (i < n)
            PREFETCH(address_of(terms.buckets, bucket_of(&terms, wanted[i])));
        if (now < n) {
            uint64_t key = wanted[now];
            int64_t place = place_from(&terms, guessed[now % AHEAD], key);
            places[now] = terms.keys[place] == key ? place : terms.n_terms;
        }
        if (next < n) {
            int64_t place = integer_at(terms.buckets, bucket_of(&terms, wanted[next]));
            place = (uint64_t)place > (uint64_t)terms.n_terms ? terms.n_terms : place;
            guessed[next % AHEAD] = place;
            PREFETCH(terms.keys + place);
            PREFETCH(terms.keys + place + FIRST - 1); /* often in the next line */
        }
    }
}

PyObject *
find(PyObject *module, PyObject *args)
{
    Py_buffer b[4] = {{0}}; /* keys, buckets, those that are wanted, and their places */
    TermKeys terms;
    int shift;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*iy*w*:find", &b[0], &b[1], &shift, &b[2], &b[3]))
        return NULL;
    size_t n = (size_t)b[2].len / 8;
    bool is_sound = take_terms(&terms, &b[0], &b[1], shift);
    if (is_sound && has_size(&b[2], n, 8) && has_size(&b[3], n, 8)) {
        Py_BEGIN_ALLOW_THREADS
        find_places(&terms, b[2].buf, b[3].buf, n);
        Py_END_ALLOW_THREADS
    } else if (is_sound) {
        PyErr_SetString(PyExc_ValueError, "these are no keys with places");
    }
    for (n = 0; n < 4; n++)
        PyBuffer_Release(&b[n]);
    return PyErr_Occurred() ? NULL : counted_none();
}
