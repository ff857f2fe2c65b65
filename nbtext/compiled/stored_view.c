/* All terms of a table, one after the other; twin of nbtext/scoring/stored_view.py. */

#include "model.h"

#include <stdlib.h>

enum { STRIDE = 16, IMPLIED_BITS = 16 };

/* Read the counts of one term, and move `entry` behind its own. */
static bool
read_term(const Table *table, const TermArrays *terms, uint64_t place, uint64_t *entry,
          Change *term)
{
    uint64_t code = value_at(&terms->codes, place), seen = 0;
    if (place % STRIDE == 0 && value_at(&terms->starts, place / STRIDE) != *entry)
        return false;
    if (code < table->n_classes) {
        for (size_t n = 0; n < N_CHANGED; n++)
            term->columns[table->places[code]][n] = 1;
        return true;
    }
    uint64_t size = code - table->n_classes + 1, end = *entry + size;
    if (size > table->n_classes || end > terms->classes.length)
        return false;
    for (; *entry < end; (*entry)++) {
        uint64_t class = value_at(&terms->classes, *entry);
        if (class >= table->n_classes || seen >> class & 1)
            return false;
        seen |= UINT64_C(1) << class;
        for (size_t n = 0; n < N_CHANGED; n++)
            if (!add_count_of(terms->columns + n, *entry,
                              term->columns[table->places[class]] + n))
                return false;
    }
    return true;
}

/* Whether all bytes of a view's arrays are as they were written. */
static bool
is_verified(const Table *table, const TermArrays *terms)
{
    bool is_sound = verify(table, &terms->buckets, 0, terms->buckets.length)
                    && verify(table, &terms->keys, 0, terms->keys.length)
                    && verify(table, &terms->codes, 0, terms->codes.length)
                    && verify(table, &terms->starts, 0, terms->starts.length)
                    && verify(table, &terms->classes, 0, terms->classes.length);
    for (size_t n = 0; is_sound && n < terms->n_columns; n++)
        is_sound = verify(table, terms->columns + n, 0, terms->columns[n].length);
    return is_sound;
}

bool
walk_terms(const Table *table, const TermArrays *terms, Take *take, void *into)
{
    uint64_t place = 0, entry = 0;
    if (terms->n_columns != N_CHANGED || !is_verified(table, terms))
        return false;
    for (uint64_t bucket = 0; bucket + 1 < terms->buckets.length; bucket++) {
        uint64_t end = value_at(&terms->buckets, bucket + 1), top = 0;
        if (value_at(&terms->buckets, bucket) != place || end < place
            || end > terms->keys.length)
            return false;
        if (terms->keys.width == 4)
            top = bucket >> (terms->index_bits - IMPLIED_BITS) << (KEY_BITS - IMPLIED_BITS);
        for (uint64_t least = 0; place < end; place++) {
            Change term = {.key = value_at(&terms->keys, place) | top};
            if (term.key < least || term.key >> (KEY_BITS - terms->index_bits) != bucket
                || !read_term(table, terms, place, &entry, &term)
                || !take(into, place, &term))
                return false;
            least = term.key + 1;
        }
    }
    return place == terms->keys.length;
}

/* --- counts in memory --------------------------------------------------------------- */

/* Keep what is counted of a term, unless it is to be looked up in the file. */
static bool
take_counts(void *into, uint64_t place, const Change *term)
{
    Kept *kept = (Kept *)into + place;
    bool is_odd = false;
    for (size_t class = 0; class < 2; class++) {
        int64_t count = term->columns[class][0];
        is_odd |= count < 0 || count >= LOOK_IT_UP || term->columns[class][1] < 0;
        kept->counts[class] = (uint32_t)count;
    }
    if (is_odd || (!kept->counts[0] && !kept->counts[1]))
        kept->counts[0] = LOOK_IT_UP;
    return true;
}

void
keep_counts(Model *model)
{
    Table *table = model->tables;
    for (size_t view = 0; view < model->first.n_views; view++) {
        TermArrays *terms = table->views + view;
        Kept *kept = terms->kept ? NULL : calloc(terms->keys.length + 1, sizeof *kept);
        if (kept && walk_terms(table, terms, take_counts, kept))
            terms->kept = kept;
        else
            free(kept);
    }
}
