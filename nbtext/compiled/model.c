/* The tables of a model file, added up as they are read; twin of nbtext/scoring/model.py. */

#include "model.h"

#include <stdlib.h>

enum { NEAR = 16 };

/* Say which classes of the model those of a table are, and add up what it says of them. */
static bool
add_header(Model *model, const Header *header, Table *table)
{
    Header *first = &model->first;
    for (size_t n = 0; n < header->n_classes; n++) {
        size_t place = is_same(header->classes[n], first->classes[0]) ? 0 : 1;
        if (!is_same(header->classes[n], first->classes[place]))
            return false;
        table->places[n] = (uint8_t)place;
        if (model->n_tables == 0)
            continue;
        first->documents[place] += header->documents[n];
        for (size_t view = 0; view < first->n_views; view++)
            for (size_t column = 0; column < N_COLUMNS; column++)
                first->totals[view][place][column] += header->totals[view][n][column];
    }
    return true;
}

/* Whether a table adds to the first, and asks to be scored as that does. */
static bool
is_alike(const Model *model, const Header *header, uint64_t offset)
{
    const Header *first = &model->first;
    return (uint64_t)header->offset == offset && is_same(header->settings, first->settings)
           && memcmp(&header->scoring, &first->scoring, sizeof first->scoring) == 0;
}

/* Whether both classes have documents, and no sum is below zero, or too large. */
static bool
are_counts(const Model *model)
{
    const Header *first = &model->first;
    for (size_t class = 0; class < 2; class++) {
        if (first->documents[class] < 1 || first->documents[class] > MOST_COUNT)
            return false;
        for (size_t view = 0; view < first->n_views; view++)
            for (size_t n = 0; n < N_COLUMNS; n++) {
                int64_t total = first->totals[view][class][n];
                if (total < 0 || total > MOST_COUNT)
                    return false;
            }
    }
    return true;
}

/* Read the table that bytes behind those of a model begin with, its header as the last. */
static Filling
add_table(Slice rest, Model *model)
{
    Header *header = &model->last;
    bool is_first = model->n_tables == 0;
    *header = (Header){.n_views = 0};
    if (model->n_tables == MOST_TABLES || !read_header(rest, header))
        return UNSOUND;
    if (is_first)
        model->first = *header;
    if (is_first ? header->offset >= 0 || header->n_classes != 2
                 : !is_alike(model, header, model->size))
        return UNSOUND;
    Table *table = model->tables + model->n_tables;
    *table = (Table){.length = 0};
    Filling filling = read_table(rest, header, table);
    if (filling != FILLED)
        return filling;
    bool is_added = add_header(model, header, table);
    model->n_tables++; /* and so it is released */
    model->size += table->length;
    table->held_out = header->held_out;
    table->policy = header->packed_policy;
    return is_added ? FILLED : UNSOUND;
}

Filling
open_model(Slice file, Model *model)
{
    model->tables = malloc(MOST_TABLES * sizeof *model->tables); /* few are used */
    model->n_tables = 0;
    model->size = 0;
    Filling filling = model->tables ? FILLED : NO_MEMORY;
    while (filling == FILLED && model->size < length_of(file))
        filling = add_table(slice(file.at + model->size, file.end), model);
    if (filling == FILLED && (!model->n_tables || !are_counts(model)))
        filling = UNSOUND;
    if (filling != FILLED)
        release_model(model);
    return filling;
}

Filling
append_to_model(Model *model, Slice bytes)
{
    const Header before = model->last;
    Filling filling = add_table(bytes, model);
    if (filling != FILLED) {
        model->last = before;
        return filling;
    }
    size_t last = model->n_tables - 1;
    if (!are_counts(model) || model->tables[last].length != length_of(bytes))
        return UNSOUND;
    add_to_tail(model, last);
    return FILLED;
}

void
release_model(Model *model)
{
    release_tail(model);
    for (size_t n = 0; n < model->n_tables; n++) {
        free(model->tables[n].verified);
        for (size_t view = 0; view < MOST_VIEWS; view++)
            free(model->tables[n].views[view].kept.terms);
    }
    free(model->tables);
    model->tables = NULL;
    model->n_tables = 0;
}

/* --- a term ----------------------------------------------------------------------- */

/* Find the place of a key among those of a table. */
static Lookup
find_key(const Table *table, const TermArrays *terms, uint64_t key, uint64_t *place)
{
    const Array *keys = &terms->keys;
    uint64_t bucket = key >> (KEY_BITS - terms->index_bits);
    if (bucket + 1 >= terms->buckets.length)
        return UNKNOWN_TERM;
    if (!verify(table, &terms->buckets, bucket, bucket + 2))
        return IS_DAMAGED;
    uint64_t low = value_at(&terms->buckets, bucket);
    uint64_t end = value_at(&terms->buckets, bucket + 1), high = end;
    if (low > high || high > keys->length || !verify(table, keys, low, high))
        return IS_DAMAGED;
    if (keys->width == 4)
        key &= UINT32_MAX;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (value_at(keys, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return low < end && value_at(keys, low) == key ? KNOWN_TERM : UNKNOWN_TERM;
}

/* Find which values of a term that has `code` are its own; `n_classes` are the table's. */
static bool
find_entries(const Table *table, const TermArrays *terms, uint64_t place, uint64_t code,
             size_t n_columns, uint64_t *start, uint64_t *end)
{
    uint64_t stride = place / STRIDE;
    if (!verify(table, &terms->starts, stride, stride + 1))
        return false;
    *start = value_at(&terms->starts, stride);
    for (uint64_t before = stride * STRIDE; before < place; before++) {
        uint64_t other = value_at(&terms->codes, before);
        if (other >= table->n_classes)
            *start += other - table->n_classes + 1;
    }
    *end = *start + code - table->n_classes + 1;
    if (*end < *start || *end - *start > table->n_classes || *end > terms->classes.length
        || !verify(table, &terms->classes, *start, *end))
        return false;
    for (size_t n = 0; n < n_columns; n++)
        if (!verify(table, terms->columns + n, *start, *end))
            return false;
    return true;
}

bool
add_number(const Array *column, uint64_t place, int64_t *count)
{
    uint64_t value = value_at(column, place);
    if (column->is_signed && column->width < 8 && value >> (8 * column->width - 1))
        value |= ~UINT64_C(0) << 8 * column->width;
    if (!column->is_signed && value > (uint64_t)MOST_COUNT)
        return false;
    int64_t added = (int64_t)value;
    if (added < -MOST_COUNT || added > MOST_COUNT)
        return false;
    *count += added;
    return *count >= -MOST_COUNT && *count <= MOST_COUNT;
}

bool
add_term(const Table *table, const TermArrays *terms, uint64_t code, uint64_t start,
         uint64_t end, size_t n_columns, Counts *counts)
{
    uint64_t seen = 0;
    for (size_t n = 0; code < table->n_classes && n < n_columns; n++)
        counts->columns[table->places[code]][n]++;
    for (; start < end; start++) {
        uint64_t class = value_at(&terms->classes, start);
        if (class >= table->n_classes || seen >> class & 1)
            return false;
        seen |= UINT64_C(1) << class;
        for (size_t n = 0; n < n_columns; n++)
            if (!add_number(terms->columns + n, start,
                              counts->columns[table->places[class]] + n))
                return false;
    }
    return true;
}

/* Add what one table counts for a term. */
static Lookup
add_counts(const Table *table, size_t view, uint64_t key, size_t n_columns, Counts *counts)
{
    const TermArrays *terms = table->views + view;
    uint64_t place, start = 0, end = 0;
    Lookup found = find_key(table, terms, key, &place);
    if (found != KNOWN_TERM)
        return found;
    if (!verify(table, &terms->codes, place / STRIDE * STRIDE, place + 1))
        return IS_DAMAGED;
    uint64_t code = value_at(&terms->codes, place);
    bool is_found = code < table->n_classes
                    || find_entries(table, terms, place, code, n_columns, &start, &end);
    is_found = is_found && add_term(table, terms, code, start, end, n_columns, counts);
    return is_found ? KNOWN_TERM : IS_DAMAGED;
}

/* The bucket of a key among terms in memory. */
static size_t
kept_bucket(const Kept *kept, uint64_t key)
{
    return key >> (KEY_BITS - kept->bits) & ((UINT64_C(1) << kept->bits) - 1);
}

/* Ask memory for what it keeps of some terms. */
static void
fetch_kept(const Kept *kept, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        PREFETCH(kept->buckets + kept_bucket(kept, keys[i]));
    for (size_t i = 0; i < n; i++) {
        const KeptTerm *terms = kept->terms + kept->buckets[kept_bucket(kept, keys[i])];
        PREFETCH(terms);
        PREFETCH(terms + A_BUCKET - 1); /* often in the next line */
    }
}

/* Find a term in memory; NULL if it is not there. */
static const KeptTerm *
find_kept(const Kept *kept, uint64_t key)
{
    size_t bucket = kept_bucket(kept, key);
    size_t low = kept->buckets[bucket], end = kept->buckets[bucket + 1];
    uint32_t lower = (uint32_t)key;
    while (end - low > NEAR) { /* keys chosen to lie close together */
        size_t middle = low + (end - low) / 2;
        if (kept->terms[middle].key <= lower)
            low = middle;
        else
            end = middle;
    }
    for (; low < end; low++)
        if (kept->terms[low].key == lower) /* what has more bits is no key */
            return key >> KEY_BITS ? NULL : kept->terms + low;
    return NULL;
}

/* Take what is kept of a term, and add what has changed; false if all is to be looked up. */
static bool
take_kept(const KeptTerm *kept, const Change *change, Found *found)
{
    *found = (Found){UNKNOWN_TERM, {0, 0}};
    if (kept)
        *found = (Found){KNOWN_TERM, {kept->counts[0], kept->counts[1]}};
    if (!change || found->counts[0] == LOOK_IT_UP)
        return found->counts[0] != LOOK_IT_UP;
    const int64_t *first = change->columns[0], *second = change->columns[1];
    int64_t all = first[0] | first[1] | second[0] | second[1];
    *found = (Found){all ? KNOWN_TERM : found->lookup,
                     {found->counts[0] + first[0], found->counts[1] + second[0]}};
    return all >= 0 && all < LOOK_IT_UP; /* nothing is taken away, and no sum too large */
}

/* Add up what the tables count for a term. */
static Found
add_up_term(const Model *model, size_t view, uint64_t key)
{
    size_t n_columns = model->n_tables > 1 ? N_COLUMNS : model->tables[0].views[view].n_read;
    const Found damaged = {IS_DAMAGED, {0, 0}};
    Lookup lookup = UNKNOWN_TERM;
    Counts counts = {0};
    for (size_t n = 0; n < (model->has_tail ? 2 : model->n_tables); n++) {
        Lookup here = n && model->has_tail
                          ? add_changes(model, view, key, &counts)
                          : add_counts(model->tables + n, view, key, n_columns, &counts);
        if (here == IS_DAMAGED)
            return damaged;
        lookup = here == KNOWN_TERM ? KNOWN_TERM : lookup;
    }
    bool is_counted = model->n_tables == 1;
    for (size_t class = 0; class < 2; class++)
        for (size_t n = 0; n < n_columns; n++) {
            if (counts.columns[class][n] < 0)
                return damaged;
            is_counted |= counts.columns[class][n] > 0;
        }
    /* what later tables have taken away is not known any more */
    return (Found){is_counted ? lookup : UNKNOWN_TERM,
                   {counts.columns[0][0], counts.columns[1][0]}};
}

void
find_counts(const Model *model, size_t view, const uint64_t *keys, size_t n, Found *found)
{
    const Kept *kept = &model->tables[0].views[view].kept;
    bool are_kept = model->has_tail && kept->terms;
    if (are_kept)
        fetch_kept(kept, keys, n);
    for (size_t i = 0; i < n; i++)
        if (!are_kept || !take_kept(find_kept(kept, keys[i]), find_change(model, view, keys[i]),
                                found + i))
            found[i] = add_up_term(model, view, keys[i]);
}
