/*
 * The terms of messages that are read in one call: the distinct keys of each, and how often
 * each of them occurs, or its keys as they come; twin of nbtext/tokens/batch_reading.py.
 *
 * Keys are told apart by a table of their places, in which a secret of the process chooses
 * where each is looked for first: nobody can write a message whose keys meet there more
 * often than by chance. A message in which they do all the same is refused, and so is one
 * in which a term occurs more often than 16 bits can say.
 */

#include "batch.h"

enum { LEAST_BITS = 6, EASY_BITS = 13, MOST_STEPS = 256, N_FACTS = 4,
       MOST_WAITING = 1 << 18 }; /* bytes of a text that is hashed beside others */

/* Count keys; write the distinct ones, in the order in which they occur first. Whether one is
   new is hard to foretell, so nothing but a collision is a branch. Slots below `first` are
   empty: what messages before have left. */
static Outcome
count_keys(const Keys *keys, uint64_t secret, int bits, uint32_t *slots, uint32_t first,
           uint64_t *distinct, uint16_t *counts, size_t *n_distinct)
{
    size_t mask = ((size_t)1 << bits) - 1;
    uint32_t n = 0;
    for (size_t i = 0; i < keys->length; i++) {
        uint64_t key = keys->values[i];
        size_t slot = (size_t)(key * secret >> (64 - bits));
        int left = MOST_STEPS;
        distinct[n] = key; /* if it is new */
        counts[n] = 0;
        uint32_t place;
        for (;; slot = (slot + 1) & mask) {
            place = slots[slot] - first; /* that of its key, or if it is empty the next one */
            place = place < n ? place : n;
            if (distinct[place] == key || !left--)
                break;
        }
        if (left < 0 || counts[place] == UINT16_MAX)
            return REFUSED;
        slots[slot] = first + place;
        counts[place] = (uint16_t)(counts[place] + 1);
        n += place == n;
    }
    *n_distinct = n;
    return READ;
}

/* Add up what keys and their counts say by a factor. */
FOR_EACH_PROCESSOR static uint64_t
mark_of(const uint64_t *keys, const uint16_t *counts, size_t n, uint64_t factor)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += mixed(mixed(keys[i] * factor + (uint64_t)counts[i]));
    return sum;
}

/* Add a message's keys in one view as they come. */
static Outcome
copy_keys(BatchView *view, const Keys *keys)
{
    if (!make_room(&view->keys, keys->length))
        return OUT_OF_MEMORY;
    if (keys->length)
        memcpy(view->keys.values + view->keys.length, keys->values,
               keys->length * sizeof *keys->values);
    view->keys.length += keys->length;
    return READ;
}

/* Add a message's distinct keys in one view, and unless a factor is 0 what they say by it to
   the message's fingerprint. */
static Outcome
push_keys(Batch *batch, BatchView *view, const Keys *keys, uint64_t factor, uint64_t *mark)
{
    size_t n = keys->length, before = view->keys.length, n_distinct = 0;
    int bits = LEAST_BITS;
    while ((size_t)1 << bits < (bits < EASY_BITS ? 8 : 2) * n) /* 32 KiB are in the caches */
        bits++;
    size_t room = batch->slots.room;
    view->counts.length = (before + 3) / 4;
    if (n > INT32_MAX || !make_room(&view->keys, n) || !make_room(&view->counts, n / 4 + 1)
        || !make_room(&batch->slots, (size_t)1 << (bits - 1))) /* last, to be cleared now */
        return OUT_OF_MEMORY;
    uint32_t *slots = (uint32_t *)(void *)batch->slots.values;
    if (room < batch->slots.room || n > UINT32_MAX - batch->n_slotted) {
        memset(slots, 0, batch->slots.room * sizeof *batch->slots.values);
        batch->n_slotted = 1;
    }
    uint64_t *distinct = view->keys.values + before;
    uint16_t *counts = (uint16_t *)(void *)view->counts.values + before;
    Outcome outcome = count_keys(keys, batch->secret, bits, slots, batch->n_slotted, distinct,
                                 counts, &n_distinct);
    batch->n_slotted += (uint32_t)n;
    if (factor)
        *mark += mark_of(distinct, counts, n_distinct, factor);
    view->keys.length = before + n_distinct;
    view->counts.length = (view->keys.length + 3) / 4;
    return outcome;
}

/* Add a message's terms in all views; none of them if it is refused. */
static Outcome
push_terms(Batch *batch, Mail *mail, uint64_t *mark)
{
    size_t before[MOST_VIEWS];
    Outcome outcome = READ;
    for (size_t n = 0; n < mail->n_views; n++)
        before[n] = batch->views[n].keys.length;
    for (size_t n = 0; n < mail->n_views && outcome == READ; n++)
        outcome = batch->are_counted ? push_keys(batch, batch->views + n, mail->keys + n,
                                                 mail->is_named ? 2 * n + 3 : 0, mark)
                                     : copy_keys(batch->views + n, mail->keys + n);
    for (size_t n = 0; n < mail->n_views && outcome != READ; n++)
        batch->views[n].keys.length = before[n];
    return outcome;
}

void
find_digests(Batch *batch, int n_left)
{
    while (batch->n_lanes > n_left) {
        bool is_full = batch->n_lanes == LANES;
        if (is_full)
            hash_together(batch->lanes);
        for (int n = batch->n_lanes; n--;) {
            Hash *lane = batch->lanes + n;
            if (is_full && length_of(lane->rest) > HASHED)
                continue;
            add_to_hash(lane, lane->rest);
            end_hash(lane, (uint8_t *)(batch->facts.values + lane->place));
            Hash ended = *lane;
            *lane = batch->lanes[--batch->n_lanes];
            batch->lanes[batch->n_lanes] = ended;
        }
    }
}

bool
push_message(Batch *batch, Mail *mail, bool is_read)
{
    uint64_t mark = 1;
    Outcome outcome = is_read ? push_terms(batch, mail, &mark) : REFUSED;
    if (outcome == OUT_OF_MEMORY || !make_room(&batch->facts, N_FACTS))
        return false;
    for (size_t n = 0; n < mail->n_views; n++)
        if (!push_key(&batch->views[n].ends, batch->views[n].keys.length))
            return false;
    uint64_t *facts = batch->facts.values + batch->facts.length;
    memset(facts, 0, DIGEST_SIZE);
    facts[2] = mark;
    facts[3] = outcome == READ ? 1 + (uint64_t)mail->is_typical : 0;
    if (outcome == READ && mail->is_named) {
        bool may_wait = length_of(mail->named.rest) <= MOST_WAITING && mail->n_views
                        && mail->views->tables->has_vectors;
        mail->named.place = batch->facts.length;
        Hash named = mail->named;
        mail->named = batch->lanes[batch->n_lanes];
        batch->lanes[batch->n_lanes++] = named;
        find_digests(batch, may_wait ? LANES - 1 : 0);
    }
    batch->facts.length += N_FACTS;
    return true;
}

PyObject *
batch_of(const Batch *batch, size_t n_views)
{
    PyObject *views = PyTuple_New((Py_ssize_t)n_views);
    for (size_t n = 0; views && n < n_views; n++) {
        const BatchView *of = batch->views + n;
        PyObject *view = Py_BuildValue("(NNN)", bytes_of_keys(&of->keys),
                                       bytes_of_keys(&of->counts), bytes_of_keys(&of->ends));
        if (!view || PyTuple_SetItem(views, (Py_ssize_t)n, view) < 0)
            Py_CLEAR(views);
    }
    return Py_BuildValue("(NN)", views, bytes_of_keys(&batch->facts));
}

void
release_batch(Batch *batch)
{
    for (size_t n = 0; n < MOST_VIEWS; n++) {
        release_keys(&batch->views[n].keys);
        release_keys(&batch->views[n].counts);
        release_keys(&batch->views[n].ends);
    }
    for (int n = 0; n < LANES; n++)
        release_keys(&batch->lanes[n].room);
    release_keys(&batch->facts);
    release_keys(&batch->slots);
}
