/*
 * Any bytes as a model file for one message: header, arrays, look-ups and the score,
 * without Python, which fuzz/stored.py compares them with.
 */

#include "loop.h"
#include "model.h"
#include "unchecked.h"

#include <stdlib.h>

const char *const words[] = {
    "\1\x90", "\1\x91", "\1\x92", "\1\x80", "\1\x81", "\1\xc0", "\1\xc2", "\1\xc3",
    "\3\xdc\xff\xff", "\5\xdd\xff\xff\xff\xff", "\3\xde\x01\0", "\5\xdf\0\0\0\1",
    "\5\xdb\0\0\0\1", "\2\xcc\xff", "\3\xcd\xff\xff", "\5\xce\xff\xff\xff\xff",
    "\11\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "\11\xcf\0\x1f\xff\xff\xff\xff\xff\xff",
    "\11\xcf\0\x20\0\0\0\0\0\0", "\11\xd3\xff\xff\xff\xff\xff\xff\xff\xff",
    "\2\xd0\x80", "\3\xd1\x80\0", "\11\xcb\x7f\xf0\0\0\0\0\0\0", "\11\xcb\0\0\0\0\0\0\0\1",
    "\11\xcb\x3f\xf0\0\0\0\0\0\0", "\5\xc6\0\0\0\1", "\6\x92\xa3""end\xcf", "\2u1",
    "\2u2", "\2u4", "\2u8", "\2i1", "\2i2", "\2i4", "\2i8", "\7buckets", "\4keys",
    "\5codes", "\6starts", "\7classes", "\11checksums", "\10headers.", "\4raw.", "\5body.",
    "\6format", "\7version", "\6writer", "\7written", "\10settings", "\5views", "\4name",
    "\4text", "\10alphabet", "\5words", "\5marks", "\6fields", "\5limit", "\7columns",
    "\13occurrences", "\7scoring", "\4mean", "\11smoothing", "\14min_evidence",
    "\12calibrated", "\14calibrations", "\3fit", "\7history", "\6offset", "\6arrays",
    "\6policy", "\12histograms", "\11documents", "\6totals", "\5terms",
    "\17header_checksum", "\1\0", "\1\xff", NULL,
};

bool are_checked;
static unsigned lies; /* how many values of 64 are others */

uint64_t
perhaps(uint64_t value)
{
    if (!lies || random_below(64) >= lies)
        return value;
    uint64_t other = random_bits();
    return random_below(2) ? other >> random_below(64) : value + random_below(5) - 2;
}

void
prepare(const char *path)
{
    (void)path;
    fill_crc_tables();
}

/* Keys to look up: those that the model has, others near to them, and any. */
static void
choose_keys(const Model *model, size_t view, uint64_t *keys, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const Table *table = model->tables + random_below(model->n_tables);
        const TermArrays *terms = table->views + view;
        keys[k] = random_bits() >> random_below(64);
        if (!terms->keys.length || random_below(4) == 0)
            continue;
        uint64_t place = random_below((size_t)terms->keys.length);
        const uint8_t *at = terms->keys.at + place * terms->keys.width;
        memcpy(keys + k, at, terms->keys.width);
        if (terms->keys.width == 4) { /* the bits above are those of a bucket */
            size_t bucket = random_below((size_t)terms->buckets.length);
            keys[k] &= UINT32_MAX;
            keys[k] |= (uint64_t)bucket << (KEY_BITS - terms->index_bits);
        }
    }
}

/* Score a document, after the file has changed if it is told to. */
static void
score(const Model *model)
{
    enum { MOST_KEYS = 64 };
    uint64_t keys[MOST_VIEWS][MOST_KEYS], times[MOST_VIEWS][MOST_KEYS / 4];
    Slice slices[MOST_VIEWS], counts[MOST_VIEWS] = {{0}};
    bool are_counted = random_below(2);
    Scored scored;
    uint64_t n_terms = 0;
    for (size_t view = 0; view < model->first.n_views; view++) {
        size_t n = random_below(MOST_KEYS + 1);
        const uint8_t *at = (const uint8_t *)keys[view];
        choose_keys(model, view, keys[view], n);
        slices[view] = slice(at, at + 8 * n);
        for (size_t k = 0; k < MOST_KEYS / 4; k++)
            times[view][k] = random_bits();
        at = (const uint8_t *)times[view];
        if (are_counted)
            counts[view] = slice(at, at + 2 * n);
        for (size_t k = 0; k < n; k++)
            n_terms += are_counted ? (uint64_t)(at[2 * k] | at[2 * k + 1] << 8) : 1;
    }
    if (!mean_score(model, slices, counts, &scored))
        return;
    HOLDS((uint64_t)scored.terms == n_terms);
    HOLDS(scored.known >= 0 && scored.known <= scored.terms);
    HOLDS(scored.score == scored.score);
}

/* Choose a digest: one that the model has, if it can be read, or any. */
static void
choose_digest(const Model *model, uint8_t *digest)
{
    const Table *table = model->tables + random_below(model->n_tables);
    const LedgerArrays *ledger = &table->ledger;
    for (size_t n = 0; n < DIGEST_SIZE; n++)
        digest[n] = (uint8_t)random_bits();
    if (!ledger->high.length || ledger->high.width != 8 || ledger->low.width != 8
        || ledger->high.length != ledger->low.length || random_below(2))
        return;
    size_t place = random_below((size_t)ledger->high.length);
    for (size_t n = 0; n < 8; n++) {
        digest[7 - n] = ledger->high.at[8 * place + n];
        digest[15 - n] = ledger->low.at[8 * place + n];
    }
}

/* What one_by_one.c asks of a model: where it counts a mail. */
static void
check_lesson(const Model *model)
{
    uint8_t digest[DIGEST_SIZE];
    Rows rows;
    choose_digest(model, digest);
    if (!find_rows(model, digest, &rows))
        return;
    HOLDS(rows.n <= MOST_ROWS);
    for (size_t n = 0; n < rows.n; n++)
        HOLDS(rows.rows[n].class < 2 && rows.rows[n].bin >= NO_BIN
              && rows.rows[n].bin <= INT16_MAX);
}

/* Whether two models decide alike, about terms that one of them has, and others. */
static void
check_alike(const Model *one, const Model *other)
{
    enum { MOST_KEYS = 64 };
    uint64_t keys[MOST_VIEWS][MOST_KEYS];
    Slice slices[MOST_VIEWS], counts[MOST_VIEWS] = {{0}};
    Scored scored[2];
    for (size_t view = 0; view < one->first.n_views; view++) {
        const uint8_t *at = (const uint8_t *)keys[view];
        choose_keys(one, view, keys[view], MOST_KEYS);
        keys[view][random_below(MOST_KEYS)] = UINT64_MAX;
        slices[view] = slice(at, at + sizeof keys[view]);
    }
    bool is_scored = mean_score(one, slices, counts, scored);
    HOLDS(is_scored == mean_score(other, slices, counts, scored + 1));
    HOLDS(!is_scored || (scored[0].score == scored[1].score
                         && scored[0].known == scored[1].known));
}

/* Whether a model decides as before once it is in memory, its last table appended or not. */
static void
check_gathered(const Model *model, Slice file)
{
    Model gathered = {0};
    const Table *last = model->tables + model->n_tables - 1;
    Slice table = slice(file.end, file.end);
    if (random_below(2))
        table.at -= last->length;
    if (open_model(slice(file.at, table.at), &gathered) != FILLED)
        return; /* without the last there may be no documents */
    gather_tail(&gathered, random_bits() | 1);
    if (!length_of(table) || append_to_model(&gathered, table) == FILLED)
        check_alike(model, &gathered);
    release_model(&gathered);
}

void
try_input(const uint8_t *bytes, size_t length)
{
    Model *model = calloc(1, sizeof *model);
    uint8_t *file = malloc(length ? length : 1);
    HOLDS(model && file);
    memcpy(file, bytes, length);
    are_checked = random_below(16) == 0;
    lies = random_below(4) ? 0 : 1 + (unsigned)random_below(16);
    if (random_below(16) == 0)
        fail_at(1 + (long)random_below(8));
    Filling filling = open_model(slice(file, file + length), model);
    fail_at(-1);
    if (filling == FILLED) {
        HOLDS(model->n_tables >= 1 && model->n_tables <= MOST_TABLES);
        if (random_below(4) == 0)
            gather_tail(model, random_bits() | 1);
        score(model);
        if (!lies && random_below(4) == 0)
            check_gathered(model, slice(file, file + length));
        if (random_below(4) == 0)
            check_lesson(model);
        if (random_below(4) == 0) /* somebody writes to it */
            for (size_t n = random_below(40); n; n--)
                file[random_below(length)] = (uint8_t)random_bits();
        score(model);
        release_model(model);
    }
    free(file);
    free(model);
}
