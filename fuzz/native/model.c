/*
 * Any bytes as a model file for one message: header, arrays, look-ups and the score,
 * without Python, which fuzz/stored.py compares them with.
 */

#include "lesson.h"
#include "loop.h"
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
    uint64_t keys[MOST_VIEWS][MOST_KEYS];
    Slice slices[MOST_VIEWS];
    double value;
    int64_t known;
    size_t n_keys = 0;
    for (size_t view = 0; view < model->first.n_views; view++) {
        size_t n = random_below(MOST_KEYS + 1);
        const uint8_t *at = (const uint8_t *)keys[view];
        choose_keys(model, view, keys[view], n);
        slices[view] = slice(at, at + 8 * n);
        n_keys += n;
    }
    if (!mean_score(model, slices, &value, &known))
        return;
    HOLDS(known >= 0 && (size_t)known <= n_keys);
    HOLDS(value == value);
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

/* Learn mails, as one_by_one.c does; return the outcome, and the table if there is one. */
static Taught
learn(const Model *model, Lesson *lesson, Output *output)
{
    enum { MOST_KEYS = 48 };
    Taught taught = LEARNT;
    static const uint8_t WRITTEN[] = "2026-11-22T00:00:00+00:00";
    lesson->model = model;
    lesson->class = random_below(2);
    lesson->written = lesson->writer = slice(WRITTEN, WRITTEN + sizeof WRITTEN - 1);
    for (size_t n = 1 + random_below(MOST_MAILS); n && taught == LEARNT; n--) {
        uint64_t keys[MOST_VIEWS][MOST_KEYS];
        uint8_t digest[DIGEST_SIZE];
        Slice slices[MOST_VIEWS];
        for (size_t view = 0; view < model->first.n_views; view++) {
            size_t n_keys = random_below(MOST_KEYS + 1);
            const uint8_t *at = (const uint8_t *)keys[view];
            choose_keys(model, view, keys[view], n_keys);
            for (size_t k = 0; k < n_keys; k++)
                keys[view][k] &= (UINT64_C(1) << KEY_BITS) - 1;
            slices[view] = slice(at, at + 8 * n_keys);
        }
        choose_digest(model, digest);
        InLedger found = look_up(model, digest, lesson->class);
        if (found == COUNTED_ELSEWHERE || found == NOT_SAID)
            taught = NOT_HERE;
        else if (found == NOT_COUNTED)
            taught = add_mail(lesson, slices, digest);
    }
    if (taught == LEARNT && lesson->n_mails)
        taught = add_up(lesson);
    if (taught == LEARNT && lesson->n_mails)
        taught = write_table(lesson, output);
    return taught;
}

/* Whether another lesson leaves every sum of a model within its bounds. */
static bool
has_room(const Model *model)
{
    const int64_t most = MOST_COUNT / 2;
    for (size_t class = 0; class < 2; class++) {
        if (model->first.documents[class] > most)
            return false;
        for (size_t view = 0; view < model->first.n_views; view++)
            for (size_t n = 0; n < N_COLUMNS; n++)
                if (model->first.totals[view][class][n] > most)
                    return false;
    }
    return model->n_tables < MOST_TABLES;
}

/* Whether two models decide alike, about terms that one of them has, and others. */
static void
check_alike(const Model *one, const Model *other)
{
    enum { MOST_KEYS = 64 };
    uint64_t keys[MOST_VIEWS][MOST_KEYS];
    Slice slices[MOST_VIEWS];
    double scores[2];
    int64_t known[2];
    for (size_t view = 0; view < one->first.n_views; view++) {
        const uint8_t *at = (const uint8_t *)keys[view];
        choose_keys(one, view, keys[view], MOST_KEYS);
        keys[view][random_below(MOST_KEYS)] = UINT64_MAX;
        slices[view] = slice(at, at + sizeof keys[view]);
    }
    bool is_scored = mean_score(one, slices, scores, known);
    HOLDS(is_scored == mean_score(other, slices, scores + 1, known + 1));
    HOLDS(!is_scored || (scores[0] == scores[1] && known[0] == known[1]));
}

/* Whether a model decides as before once it is in memory, and a table is appended if any. */
static void
check_gathered(const Model *model, Slice file, Slice table)
{
    Model gathered = {0};
    HOLDS(open_model(file, &gathered) == FILLED);
    gather_tail(&gathered, random_bits() | 1);
    if (length_of(table))
        HOLDS(append_to_model(&gathered, table) == FILLED);
    check_alike(model, &gathered);
    release_model(&gathered);
}

/* Learn, and open what comes of it: it is a model that has learnt these mails. */
static void
check_lesson(const Model *model, Slice file)
{
    Lesson lesson = {0};
    Output output = {0};
    bool is_failing = random_below(8) == 0;
    if (is_failing)
        fail_at(1 + (long)random_below(100));
    Taught taught = learn(model, &lesson, &output);
    fail_at(-1);
    HOLDS(is_failing || taught != LESSON_NO_MEMORY);
    if (taught == LEARNT && lesson.n_mails && !lies && has_room(model)) {
        size_t length = length_of(file);
        Model after = {0};
        uint8_t *whole = malloc(length + output.length);
        HOLDS(whole);
        put(put(whole, file), slice(output.bytes, output.bytes + output.length));
        HOLDS(open_model(slice(whole, whole + length + output.length), &after) == FILLED);
        HOLDS(after.n_tables == model->n_tables + 1 && after.last.has_ledger);
        HOLDS(after.first.documents[lesson.class]
              == model->first.documents[lesson.class] + (int64_t)lesson.n_mails);
        if (model->n_tables == 1)
            check_gathered(&after, file, slice(output.bytes, output.bytes + output.length));
        are_checked = true;
        for (size_t n = 0; n < lesson.n_mails; n++) {
            InLedger found = look_up(&after, lesson.mails[n].digest, lesson.class);
            HOLDS(found == COUNTED_HERE || found == NOT_SAID);
        }
        release_model(&after);
        free(whole);
    }
    free(output.bytes);
    release_lesson(&lesson);
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
            check_gathered(model, slice(file, file + length), slice(file, file));
        if (random_below(4) == 0)
            check_lesson(model, slice(file, file + length));
        if (random_below(4) == 0) /* somebody writes to it */
            for (size_t n = random_below(40); n; n--)
                file[random_below(length)] = (uint8_t)random_bits();
        score(model);
        release_model(model);
    }
    free(file);
    free(model);
}
