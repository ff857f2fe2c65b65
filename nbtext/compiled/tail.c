/*
 * The tables behind the first as one table of changes in memory; twin of
 * nbtext/scoring/tail.py.
 *
 * A secret of the process chooses where a key is looked for first: nobody can teach a model
 * keys that meet there more often than by chance. If they do all the same, or are too
 * many, there is no such table, and keys are looked up in each table of the file.
 */

#include "model.h"

#include <stdlib.h>

enum { STRIDE = 16, IMPLIED_BITS = 16, LEAST_BITS = 10, MOST_STEPS = 256 };
enum { MOST_CHANGES = 1 << 18 }; /* of a view: 20 MB, or 40 while there is room */

#define NO_KEY UINT64_MAX

static size_t
slots_of(const Tail *tail)
{
    return tail->changes ? (size_t)1 << tail->bits : 0;
}

/* Return where a key is, or where it would go; NULL if that is too far away. */
static Change *
slot_of(const Tail *tail, uint64_t secret, uint64_t key)
{
    size_t mask = slots_of(tail) - 1, slot = (size_t)(key * secret >> (64 - tail->bits));
    for (int left = MOST_STEPS; left; left--, slot = (slot + 1) & mask) {
        Change *change = tail->changes + slot;
        if (change->key == key || change->key == NO_KEY)
            return change;
    }
    return NULL;
}

/* Have room for one change more; false if there is none. */
static bool
grow(Tail *tail, uint64_t secret)
{
    size_t size = slots_of(tail);
    if (2 * tail->n < size)
        return true;
    Tail larger = {NULL, tail->n, size ? tail->bits + 1 : LEAST_BITS};
    larger.changes = malloc(sizeof *larger.changes << larger.bits);
    bool is_sound = larger.changes && tail->n < MOST_CHANGES;
    for (size_t n = 0; larger.changes && n < (size_t)1 << larger.bits; n++)
        larger.changes[n].key = NO_KEY;
    for (size_t n = 0; is_sound && n < size; n++)
        if (tail->changes[n].key != NO_KEY) {
            Change *slot = slot_of(&larger, secret, tail->changes[n].key);
            is_sound = slot;
            if (slot)
                *slot = tail->changes[n];
        }
    free(is_sound ? tail->changes : larger.changes);
    if (is_sound)
        *tail = larger;
    return is_sound;
}

/* Return what is known to change of a key, nothing yet if it is new; NULL if it cannot be. */
static Change *
change_of(Tail *tail, uint64_t secret, uint64_t key)
{
    Change *change = grow(tail, secret) ? slot_of(tail, secret, key) : NULL;
    if (change && change->key == NO_KEY) {
        *change = (Change){.key = key};
        tail->n++;
    }
    return change;
}

/* Add the counts of one term, and move `entry` behind its own. */
static bool
add_term(const Table *table, const TermArrays *terms, uint64_t place, uint64_t *entry,
         Change *change)
{
    uint64_t code = value_at(&terms->codes, place), seen = 0;
    if (place % STRIDE == 0 && value_at(&terms->starts, place / STRIDE) != *entry)
        return false;
    if (code < table->n_classes) {
        for (size_t n = 0; n < N_CHANGED; n++)
            change->columns[table->places[code]][n]++;
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
                           change->columns[table->places[class]] + n))
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

static bool
add_view(const Table *table, const TermArrays *terms, Tail *tail, uint64_t secret)
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
        for (; place < end; place++) {
            uint64_t key = value_at(&terms->keys, place) | top;
            Change *change = key >> KEY_BITS ? NULL : change_of(tail, secret, key);
            if (!change || !add_term(table, terms, place, &entry, change))
                return false;
        }
    }
    return place == terms->keys.length;
}

void
release_tail(Model *model)
{
    for (size_t view = 0; view < MOST_VIEWS; view++) {
        free(model->tails[view].changes);
        model->tails[view] = (Tail){NULL, 0, 0};
    }
    model->has_tail = false;
}

void
add_to_tail(Model *model, size_t n)
{
    const Table *table = model->tables + n;
    for (size_t view = 0; model->has_tail && view < model->first.n_views; view++)
        if (!add_view(table, table->views + view, model->tails + view, model->secret))
            release_tail(model);
}

void
gather_tail(Model *model, uint64_t secret)
{
    if (model->has_tail)
        return;
    model->has_tail = true;
    model->secret = secret;
    for (size_t n = 1; n < model->n_tables; n++)
        add_to_tail(model, n);
}

Lookup
add_changes(const Model *model, size_t view, uint64_t key, Counts *counts)
{
    const Tail *tail = model->tails + view;
    const Change *change = tail->changes ? slot_of(tail, model->secret, key) : NULL;
    if (!change || change->key != key || key == NO_KEY)
        return UNKNOWN_TERM;
    for (size_t class = 0; class < 2; class++)
        for (size_t n = 0; n < N_CHANGED; n++) {
            int64_t *count = counts->columns[class] + n;
            *count += change->columns[class][n];
            if (*count > MOST_COUNT)
                return IS_DAMAGED;
        }
    return KNOWN_TERM;
}
