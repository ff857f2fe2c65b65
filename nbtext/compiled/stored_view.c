/* All terms of a table, one after the other; twin of nbtext/scoring/stored_view.py. */

#include "model.h"

#include <stdlib.h>

enum { MOST_BUCKET_BITS = 22 };

/* Read the counts of one term, and move `entry` behind its own. */
static bool
read_term(const Table *table, const TermArrays *terms, uint64_t place, uint64_t *entry,
          Counts *counts)
{
    uint64_t code = value_at(&terms->codes, place), start = *entry;
    if (place % STRIDE == 0 && value_at(&terms->starts, place / STRIDE) != start)
        return false;
    if (code >= table->n_classes)
        *entry += code - table->n_classes + 1;
    return *entry >= start && *entry - start <= table->n_classes
           && *entry <= terms->classes.length
           && add_term(table, terms, code, start, *entry, N_COLUMNS, counts);
}

bool
walk_terms(const Table *table, const TermArrays *terms, Take *take, void *into)
{
    uint64_t place = 0, entry = 0;
    const Array whole = {table->contents.at, length_of(table->contents), 1, false};
    if (!verify(table, &whole, 0, whole.length))
        return false;
    for (uint64_t bucket = 0; bucket + 1 < terms->buckets.length; bucket++) {
        uint64_t end = value_at(&terms->buckets, bucket + 1), top = 0, least = 0;
        if (value_at(&terms->buckets, bucket) != place || end < place
            || end > terms->keys.length)
            return false;
        if (terms->keys.width == 4)
            top = bucket >> (terms->index_bits - IMPLIED_BITS) << (KEY_BITS - IMPLIED_BITS);
        for (; place < end; place++) {
            uint64_t key = value_at(&terms->keys, place) | top;
            Counts counts = {0};
            if (key < least || key >> (KEY_BITS - terms->index_bits) != bucket
                || !read_term(table, terms, place, &entry, &counts)
                || !take(into, place, key, &counts))
                return false;
            least = key + 1;
        }
    }
    return place == terms->keys.length;
}

/* Terms that are being kept: the bucket that is to begin next. */
typedef struct {
    Kept kept;
    uint64_t next;
} Keeping;

/* Say that all buckets up to one begin at a place, unless they begin before. */
static void
begin_buckets(Keeping *keeping, uint64_t last, uint64_t place)
{
    while (keeping->next <= last)
        keeping->kept.buckets[keeping->next++] = (uint32_t)place;
}

/* Keep what is counted of a term, unless it is to be looked up in the file. */
static bool
keep_term(void *into, uint64_t place, uint64_t key, const Counts *counts)
{
    Keeping *keeping = into;
    KeptTerm *term = keeping->kept.terms + place;
    bool is_odd = false;
    begin_buckets(keeping, key >> (KEY_BITS - keeping->kept.bits), place);
    term->key = (uint32_t)key;
    for (size_t class = 0; class < 2; class++) {
        int64_t count = counts->columns[class][0];
        is_odd |= count < 0 || count >= LOOK_IT_UP || counts->columns[class][1] < 0;
        term->counts[class] = (uint32_t)count;
    }
    if (is_odd || !(term->counts[0] | term->counts[1]))
        term->counts[0] = LOOK_IT_UP;
    return true;
}

/* Keep the terms of a view, if there is room, and they are sound. */
static void
keep_view(const Table *table, TermArrays *terms)
{
    uint64_t n_terms = terms->keys.length, n_padded = n_terms + A_BUCKET;
    int bits = IMPLIED_BITS; /* of as many, the lower half of a word tells the rest */
    while (bits < MOST_BUCKET_BITS && n_terms >> bits > A_BUCKET)
        bits++;
    uint64_t n_buckets = UINT64_C(1) << bits;
    KeptTerm *all = n_terms < UINT32_MAX
                        ? calloc(1, n_padded * sizeof *all + (n_buckets + 1) * sizeof(uint32_t))
                        : NULL;
    if (!all)
        return;
    Keeping keeping = {{all, (uint32_t *)(void *)(all + n_padded), bits}, 0};
    if (walk_terms(table, terms, keep_term, &keeping)) {
        begin_buckets(&keeping, n_buckets, n_terms);
        terms->kept = keeping.kept;
    } else {
        free(all);
    }
}

void
keep_counts(Model *model)
{
    Table *table = model->tables;
    for (size_t view = 0; view < model->first.n_views; view++)
        if (!table->views[view].kept.terms)
            keep_view(table, table->views + view);
}
