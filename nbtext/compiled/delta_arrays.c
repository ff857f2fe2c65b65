/*
 * The arrays of a lesson's table, and the fewest bytes that their values take; twin of
 * nbtext/learning/delta_writing.py and nbtext/store/schema.py.
 */

#include "lesson.h"

#include <stdlib.h>

enum { STRIDE = 16, NEAR_BITS = 14, IMPLIED_BITS = 16, MOST_INDEX_BITS = 32 };

/* Begin an array of the fewest bytes that its values take. */
static OutArray *
new_array(OutArrays *arrays, const char *prefix, Slice view, const char *name)
{
    OutArray *array = arrays->arrays + arrays->n++;
    *array = (OutArray){prefix, name, view, {0}, 0, 'u'};
    return array;
}

static void
push(OutArrays *arrays, OutArray *array, uint64_t value)
{
    if (arrays->has_failed || !make_room(&array->values, 1))
        arrays->has_failed = true;
    else
        array->values.values[array->values.length++] = value;
}

/* Choose the width of an array, if it is not given. */
static void
choose_width(OutArray *array)
{
    uint64_t all = 0;
    for (size_t n = 0; n < array->values.length; n++)
        all |= array->values.values[n];
    if (!array->width)
        array->width = all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
}

/* How many top bits the index of so many keys has. */
static int
index_bits_for(size_t n_keys)
{
    int bits = -4;
    for (; n_keys; n_keys >>= 1)
        bits++;
    if (bits >= NEAR_BITS && bits < IMPLIED_BITS)
        return IMPLIED_BITS;
    return bits < 0 ? 0 : bits > MOST_INDEX_BITS ? MOST_INDEX_BITS : bits;
}

/* The index of sorted keys, and what of them is not in it. */
static void
add_keys(OutArrays *arrays, Slice view, const Keys *keys)
{
    int bits = index_bits_for(keys->length);
    OutArray *buckets = new_array(arrays, "", view, "buckets");
    OutArray *stored = new_array(arrays, "", view, "keys");
    uint64_t mask = bits >= IMPLIED_BITS ? UINT32_MAX : UINT64_MAX;
    size_t place = 0;
    stored->width = bits >= IMPLIED_BITS ? 4 : 8;
    for (uint64_t bucket = 0; bucket <= UINT64_C(1) << bits; bucket++) {
        while (place < keys->length && keys->values[place] < bucket << (KEY_BITS - bits))
            place++;
        push(arrays, buckets, place);
    }
    for (size_t n = 0; n < keys->length; n++)
        push(arrays, stored, keys->values[n] & mask);
}

/* A view's terms: those that count 1 only have nothing but their code. */
static void
add_terms(OutArrays *arrays, Slice view, const Terms *terms)
{
    add_keys(arrays, view, &terms->keys);
    OutArray *codes = new_array(arrays, "", view, "codes");
    OutArray *starts = new_array(arrays, "", view, "starts");
    OutArray *classes = new_array(arrays, "", view, "classes");
    OutArray *occurrences = new_array(arrays, "", view, "occurrences");
    OutArray *documents = new_array(arrays, "", view, "documents");
    for (size_t n = 0; n < terms->keys.length; n++) {
        uint64_t times = terms->occurrences.values[n], mails = terms->documents.values[n];
        if (n % STRIDE == 0)
            push(arrays, starts, classes->values.length);
        push(arrays, codes, times != 1 || mails != 1);
        if (times != 1 || mails != 1) {
            push(arrays, classes, 0);
            push(arrays, occurrences, times);
            push(arrays, documents, mails);
        }
    }
}

/* Of which of two mails the row of the ledger comes first. */
static int
by_digest(const void *one, const void *other)
{
    const Learnt *const *first = one, *const *second = other;
    return memcmp((*first)->digest, (*second)->digest, DIGEST_SIZE);
}

/* Say which mails there are; return the array of what else is kept of each. */
static OutArray *
add_documents(OutArrays *arrays, const char *const *names, const Learnt *const *mails,
              size_t n_mails)
{
    OutArray *first = arrays->arrays + arrays->n;
    for (size_t n = 0; n < 5; n++)
        new_array(arrays, "", slice(NULL, NULL), names[n])->width = n < 3 ? 8 : 0;
    for (size_t n = 0; n < n_mails; n++) {
        push(arrays, first, half_of(mails[n]->digest));
        push(arrays, first + 1, half_of(mails[n]->digest + 8));
        push(arrays, first + 2, mails[n]->fingerprint);
        push(arrays, first + 3, 0);
    }
    return first + 4;
}

static void
add_ledger(OutArrays *arrays, const Learnt **mails, size_t n_mails)
{
    qsort(mails, n_mails, sizeof *mails, by_digest);
    OutArray *counts = add_documents(arrays, LEDGER_NAMES, mails, n_mails);
    for (size_t n = 0; n < n_mails; n++)
        push(arrays, counts, 1);
}

/* What the last of several mails left, to be undone; one alone is its own record. */
static size_t
add_records(OutArrays *arrays, const Lesson *lesson, const Learnt **mails)
{
    size_t n_mails = lesson->n_mails, kept = n_mails;
    if ((uint64_t)lesson->model->last.keep < kept)
        kept = (size_t)lesson->model->last.keep;
    if (n_mails < 2 || kept == 0)
        return 0;
    mails += n_mails - kept;
    OutArray *bins = add_documents(arrays, RECORD_NAMES, mails, kept);
    bins->width = 2;
    bins->sign = 'i';
    for (size_t n = 0; n < kept; n++)
        push(arrays, bins, (uint64_t)(int64_t)mails[n]->bin);
    for (size_t view = 0; view < lesson->model->first.n_views; view++) {
        Slice name = lesson->model->first.views[view].name;
        OutArray *sizes = new_array(arrays, "undo.", name, "sizes");
        OutArray *keys = new_array(arrays, "undo.", name, "keys");
        OutArray *counts = new_array(arrays, "undo.", name, "counts");
        keys->width = 8;
        for (size_t n = 0; n < kept; n++) {
            const Terms *terms = mails[n]->views + view;
            push(arrays, sizes, terms->keys.length);
            for (size_t i = 0; i < terms->keys.length; i++) {
                push(arrays, keys, terms->keys.values[i]);
                push(arrays, counts, terms->occurrences.values[i]);
            }
        }
    }
    return kept;
}

bool
make_arrays(const Lesson *lesson, OutArrays *arrays)
{
    const Learnt *mails[MOST_MAILS], *sorted[MOST_MAILS];
    for (size_t n = 0; n < lesson->n_mails; n++)
        mails[n] = sorted[n] = lesson->mails + n;
    for (size_t view = 0; view < lesson->model->first.n_views; view++)
        add_terms(arrays, lesson->model->first.views[view].name, lesson->views + view);
    add_ledger(arrays, sorted, lesson->n_mails);
    arrays->n_records = add_records(arrays, lesson, mails);
    for (size_t n = 0; n < arrays->n; n++)
        choose_width(arrays->arrays + n);
    return !arrays->has_failed;
}

void
release_arrays(OutArrays *arrays)
{
    for (size_t n = 0; n < arrays->n; n++)
        release_keys(&arrays->arrays[n].values);
}
