/*
 * The texts of terms whose keys are wanted: twin of nbtext/tokens/text_finding.py.
 *
 * A field is read down to keys first, as it is when it is counted; only if one of them is
 * wanted and has no text yet, its tokens are walked through once more.
 */

#include "text_finding.h"

#include <stdlib.h>

enum { FEWEST_BUCKETS = 16, BYTES_OF_CODE = 4 };
enum { FAR_AHEAD = 32, AHEAD = 16 }; /* terms whose memory is asked for before it is read */

/* --- what is wanted --------------------------------------------------------------- */

bool
are_keys(const uint64_t *keys, size_t n)
{
    for (size_t place = 1; place < n; place++)
        if (keys[place - 1] >= keys[place])
            return false;
    return !n || (n < UINT32_MAX && keys[n - 1] >> KEY_BITS == 0);
}

bool
want(Wanted *wanted, const uint64_t *keys, size_t n)
{
    size_t n_buckets = FEWEST_BUCKETS;
    wanted->shift = KEY_BITS - 4;
    while (n_buckets < n && wanted->shift) {
        n_buckets *= 2;
        wanted->shift--;
    }
    wanted->keys = malloc((n + 1) * sizeof *wanted->keys);
    wanted->buckets = malloc((n_buckets + 1) * sizeof *wanted->buckets);
    wanted->starts = calloc(n + 1, sizeof *wanted->starts);
    wanted->states = calloc(n + 1, sizeof *wanted->states);
    if (!wanted->keys || !wanted->buckets || !wanted->starts || !wanted->states)
        return false;
    wanted->n = wanted->n_left = n;
    size_t place = 0;
    for (size_t bucket = 0; bucket <= n_buckets; bucket++) {
        while (place < n && keys[place] >> wanted->shift < bucket)
            place++;
        wanted->buckets[bucket] = (uint32_t)place;
    }
    for (place = 0; place < n; place++)
        wanted->keys[place] = keys[place];
    return true;
}

void
release_finder(Finder *finder)
{
    for (size_t n = 0; n < finder->n_views; n++) {
        Wanted *wanted = finder->views + n;
        free(wanted->keys);
        free(wanted->buckets);
        free(wanted->starts);
        free(wanted->states);
        free(wanted->texts);
    }
    release_keys(&finder->keys);
    free(finder->hits);
}

/* --- which keys have no text yet -------------------------------------------------- */

/* Return the place of a key, n if it is not wanted. */
static inline size_t
place_of(const Wanted *wanted, uint64_t key)
{
    uint64_t bucket = key >> wanted->shift;
    size_t low = wanted->buckets[bucket], end = wanted->buckets[bucket + 1];
    for (size_t high = end; low < high;) { /* which hold one or two, unless chosen */
        size_t middle = low + (high - low) / 2;
        if (wanted->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && wanted->keys[low] == key ? low : wanted->n;
}

/* Ask for the bucket of a term that is looked up later, and for the keys of a nearer one. */
static inline void
fetch(const Wanted *wanted, const Keys *keys, size_t term)
{
    if (keys->length - term > FAR_AHEAD)
        PREFETCH(wanted->buckets + (keys->values[term + FAR_AHEAD] >> wanted->shift));
    if (keys->length - term > AHEAD)
        PREFETCH(wanted->keys
                 + wanted->buckets[keys->values[term + AHEAD] >> wanted->shift]);
}

/* Note which of the keys of a field have no text yet. */
static bool
find_hits(Finder *finder, const Wanted *wanted)
{
    const Keys *keys = &finder->keys;
    finder->n_hits = 0;
    for (size_t term = 0; term < keys->length; term++) {
        fetch(wanted, keys, term);
        size_t place = place_of(wanted, keys->values[term]);
        if (place == wanted->n || wanted->states[place] != MISSING)
            continue;
        if (finder->n_hits == finder->hits_room) {
            size_t room = 2 * finder->hits_room + 256;
            Hit *hits = realloc(finder->hits, room * sizeof *hits);
            if (!hits)
                return false;
            finder->hits = hits;
            finder->hits_room = room;
        }
        finder->hits[finder->n_hits++] = (Hit){term, place};
    }
    return true;
}

/* --- one text --------------------------------------------------------------------- */

/* A text that is being written: its parts, each behind the end of the one before. */
typedef struct {
    uint8_t bytes[MOST_TEXT + BYTES_OF_CODE];
    size_t length; /* more than MOST_TEXT if it is too long */
} Written;

static void
end_part(Written *text)
{
    if (text->length <= MOST_TEXT)
        text->bytes[text->length++] = PART_END;
}

static void
write_name(Written *text, Slice name)
{
    size_t length = length_of(name);
    if (length > MOST_TEXT) {
        text->length = MOST_TEXT + 1;
        return;
    }
    if (length)
        memcpy(text->bytes, name.at, length);
    text->length = length;
    end_part(text);
}

static void
write_token(const Tables *tables, Written *text, Slice token, bool is_folded)
{
    while (token.at < token.end && text->length <= MOST_TEXT) {
        uint32_t code = next_code(&token.at, token.end);
        uint8_t *at = text->bytes + text->length;
        at = put_code(at, is_folded ? folded(tables, code) : code);
        text->length = (size_t)(at - text->bytes);
    }
}

/* Keep the text of a term; false if there is no memory. */
static bool
keep_text(Wanted *wanted, size_t place, const uint8_t *bytes, size_t length)
{
    bool is_short = length <= MOST_TEXT;
    if (wanted->states[place] != MISSING)
        return true;
    if (is_short && wanted->room - wanted->length <= length) {
        size_t room = 2 * wanted->room + 65536;
        uint8_t *texts = room > UINT32_MAX ? NULL : realloc(wanted->texts, room);
        if (!texts)
            return false;
        wanted->texts = texts;
        wanted->room = room;
    }
    if (is_short) {
        wanted->starts[place] = (uint32_t)wanted->length;
        memcpy(wanted->texts + wanted->length, bytes, length);
        wanted->length += length;
        wanted->texts[wanted->length++] = TEXT_END;
    }
    wanted->states[place] = is_short ? HAS_TEXT : IS_TOO_LONG;
    wanted->n_left--;
    return true;
}

/* --- the tokens of a field -------------------------------------------------------- */

/* Return the kind of the code point at a place, and where it ends. */
static inline int
kind_at(const Tables *tables, const uint8_t *at, const uint8_t *end, const uint8_t **after)
{
    *after = at + 1;
    if (*at < 0x80)
        return tables->ascii_kinds[*at];
    *after = at;
    return kind_of(tables, next_code(after, end));
}

/* Find the next token, as tokenizer.c does; false if there is none. */
static inline bool
next_span(const Tables *tables, Slice *text, Slice *token)
{
    const uint8_t *at = text->at, *end = text->end, *after = at, *next;
    int kind = SEPARATOR;
    while (at < end && (kind = kind_at(tables, at, end, &after)) == SEPARATOR)
        at = after;
    text->at = after;
    if (kind == SEPARATOR)
        return false;
    while (kind != SINGLE && after < end && kind_at(tables, after, end, &next) == kind)
        after = next;
    text->at = after;
    *token = (Slice){at, after};
    return true;
}

/* Keep the text of a term of one token, or of two if there is one before. */
static bool
keep_term(Wanted *wanted, size_t place, Slice name, Slice before, Slice token)
{
    const MailView *view = &wanted->view;
    bool is_pair = before.at, fold = is_pair ? view->view.fold_pairs
                                             : view->view.fold_tokens;
    Written text;
    text.length = 0;
    if (view->fields)
        write_name(&text, name);
    if (is_pair) {
        write_token(view->tables, &text, before, fold);
        end_part(&text);
    }
    write_token(view->tables, &text, token, fold);
    return keep_text(wanted, place, text.bytes, text.length);
}

/* Walk through a field, to the last term that is a hit. */
static bool
keep_hits(const Finder *finder, Wanted *wanted, Slice name, Slice text)
{
    const Hit *hit = finder->hits, *end = hit + finder->n_hits;
    const View *view = &wanted->view.view;
    static const Slice NOTHING = {NULL, NULL};
    Slice before = NOTHING, token;
    size_t term = 0;
    while (hit < end && next_span(wanted->view.tables, &text, &token)) {
        bool has_pair = view->pairs && before.at;
        for (int is_pair = !view->tokens; is_pair <= has_pair; is_pair++, term++) {
            if (hit == end || hit->term != term)
                continue;
            if (!keep_term(wanted, hit->place, name, is_pair ? before : NOTHING, token))
                return false;
            hit++;
        }
        before = token;
    }
    return true;
}

bool
find_in_field(Finder *finder, Wanted *wanted, Slice name, Slice text, uint64_t salt,
              size_t *left)
{
    finder->keys.length = 0;
    if (!read_field(wanted->view.tables, &wanted->view.view, text, salt, left,
                    &finder->keys)
        || !find_hits(finder, wanted))
        return false;
    bool is_named = wanted->view.fields;
    if (is_named && (find_byte(name, PART_END) || find_byte(name, TEXT_END)))
        return true; /* which no text can have */
    return keep_hits(finder, wanted, name, text);
}

bool
find_in_ngrams(Finder *finder, Wanted *wanted, Normalised *text)
{
    finder->keys.length = 0;
    if (!push_ngrams(text, &finder->keys) || !find_hits(finder, wanted))
        return false;
    for (size_t n = 0; n < finder->n_hits; n++) {
        Hit hit = finder->hits[n];
        if (!keep_text(wanted, hit.place, text->bytes + hit.term, NGRAM))
            return false;
    }
    return true;
}

/* --- all texts -------------------------------------------------------------------- */

void
write_texts(const Wanted *wanted, uint8_t *to)
{
    for (size_t place = 0; place < wanted->n; place++) {
        if (wanted->states[place] != HAS_TEXT)
            continue;
        const uint8_t *at = wanted->texts + wanted->starts[place];
        Slice rest = {at, wanted->texts + wanted->length};
        size_t length = (size_t)(find_byte(rest, TEXT_END) - at) + 1;
        memcpy(to, at, length);
        to += length;
    }
}
