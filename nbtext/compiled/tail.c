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

enum { LEAST_BITS = 10, MOST_STEPS = 256 };
enum { MOST_CHANGES = 1 << 18 }; /* of a view: 20 MB, or 40 while there is room */

#define NO_KEY UINT64_MAX

static size_t
slots_of(const Tail *tail)
{
    return tail->changes ? (size_t)1 << tail->bits : 0;
}

/* Return where a key is, or where it would go; NULL if that is too far away. */
static Change *
slot_of(const Tail *tail, uint64_t key)
{
    size_t mask = slots_of(tail) - 1, slot = (size_t)(key * tail->secret >> (64 - tail->bits));
    for (int left = MOST_STEPS; left; left--, slot = (slot + 1) & mask) {
        Change *change = tail->changes + slot;
        if (change->key == key || change->key == NO_KEY)
            return change;
    }
    return NULL;
}

/* Have room for one change more; false if there is none. */
static bool
grow(Tail *tail)
{
    size_t size = slots_of(tail);
    if (2 * tail->n < size)
        return true;
    Tail larger = {NULL, tail->n, size ? tail->bits + 1 : LEAST_BITS, tail->secret};
    larger.changes = malloc(sizeof *larger.changes << larger.bits);
    bool is_sound = larger.changes && tail->n < MOST_CHANGES;
    for (size_t n = 0; larger.changes && n < (size_t)1 << larger.bits; n++)
        larger.changes[n].key = NO_KEY;
    for (size_t n = 0; is_sound && n < size; n++)
        if (tail->changes[n].key != NO_KEY) {
            Change *slot = slot_of(&larger, tail->changes[n].key);
            is_sound = slot;
            if (slot)
                *slot = tail->changes[n];
        }
    free(is_sound ? tail->changes : larger.changes);
    if (is_sound)
        *tail = larger;
    return is_sound;
}

/* Add counts to others; false if they are too large. */
static bool
add_columns(int64_t (*to)[N_COLUMNS], const int64_t (*added)[N_COLUMNS])
{
    for (size_t n = 0; n < 2 * N_COLUMNS; n++) {
        int64_t *count = to[n / N_COLUMNS] + n % N_COLUMNS;
        *count += added[n / N_COLUMNS][n % N_COLUMNS];
        if (*count < -MOST_COUNT || *count > MOST_COUNT)
            return false;
    }
    return true;
}

/* Add what a table changes of a term; false if there is no room, or the sum is too large. */
static bool
take_change(void *into, uint64_t place, uint64_t key, const Counts *counts)
{
    Tail *tail = into;
    Change *change = grow(tail) ? slot_of(tail, key) : NULL;
    (void)place;
    if (change && change->key == NO_KEY) {
        *change = (Change){.key = key};
        tail->n++;
    }
    return change && add_columns(change->columns, counts->columns);
}

void
release_tail(Model *model)
{
    for (size_t view = 0; view < MOST_VIEWS; view++) {
        free(model->tails[view].changes);
        model->tails[view] = (Tail){NULL, 0, 0, 0};
    }
    model->has_tail = false;
}

void
add_to_tail(Model *model, size_t n)
{
    const Table *table = model->tables + n;
    for (size_t view = 0; model->has_tail && view < model->first.n_views; view++)
        if (!walk_terms(table, table->views + view, take_change, model->tails + view))
            release_tail(model);
}

void
gather_tail(Model *model, uint64_t secret)
{
    if (model->has_tail)
        return;
    model->has_tail = true;
    for (size_t view = 0; view < MOST_VIEWS; view++)
        model->tails[view].secret = secret;
    keep_counts(model);
    for (size_t n = 1; n < model->n_tables; n++)
        add_to_tail(model, n);
}

const Change *
find_change(const Model *model, size_t view, uint64_t key)
{
    const Tail *tail = model->tails + view;
    const Change *change = tail->changes ? slot_of(tail, key) : NULL;
    return change && change->key == key && key != NO_KEY ? change : NULL;
}

Lookup
add_changes(const Model *model, size_t view, uint64_t key, Counts *counts)
{
    const Change *change = find_change(model, view, key);
    if (!change)
        return UNKNOWN_TERM;
    return add_columns(counts->columns, change->columns) ? KNOWN_TERM : IS_DAMAGED;
}
