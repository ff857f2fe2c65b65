/*
 * The texts of terms whose keys are wanted: twin of nbtext/tokens/text_finding.py.
 *
 * A field is read down to keys first, as it is when it is counted; only if one of them is
 * wanted and has no text yet, its tokens are walked through once more.
 */

#include "text_finding.h"

#include <stdlib.h>

enum { BYTES_OF_CODE = 4 };

/* --- which keys have no text yet -------------------------------------------------- */

/* The byte of the sieve that a key falls on, one for each bucket, and its bit of the eight. */
static inline uint8_t *
sieve_at(const Wanted *wanted, uint64_t key, uint8_t *bit)
{
    *bit = (uint8_t)(1u << (key << SIEVE_BITS >> wanted->terms.shift & 7));
    return wanted->sieve + bucket_of(&wanted->terms, key);
}

bool
begin_to_look(Wanted *wanted)
{
    size_t n = wanted->n_left = (size_t)wanted->terms.n_terms;
    uint8_t bit;
    wanted->starts = calloc(n + 1, sizeof *wanted->starts);
    wanted->sieve = calloc(wanted->terms.n_buckets, sizeof *wanted->sieve);
    if (!wanted->starts || !wanted->sieve)
        return false;
    wanted->starts[n] = IS_TOO_LONG;
    wanted->length = MISSING + 1; /* where no text begins is none */
    for (const uint64_t *key = wanted->terms.keys; n--; key++)
        *sieve_at(wanted, *key, &bit) |= bit;
    return true;
}

/* Have no more keys like one through the sieve, unless the next ones fall where it does. */
static void
close_sieve(const Wanted *wanted, int64_t place)
{
    const uint64_t *key = wanted->terms.keys + place;
    uint8_t bit, *byte = sieve_at(wanted, *key, &bit);
    uint64_t from_last = place ? key[0] ^ key[-1] : UINT64_MAX, from_next = key[0] ^ key[1];
    if (from_last << SIEVE_BITS >> wanted->terms.shift
        && from_next << SIEVE_BITS >> wanted->terms.shift)
        *byte &= (uint8_t)~bit;
}

/* Find which terms of a field may lack a text, and their places. */
static bool
find_missing(Finder *finder, const Wanted *wanted)
{
    uint64_t *keys = finder->keys.values;
    size_t n = 0;
    uint8_t bit;
    if (!make_room(&finder->terms, finder->keys.length)
        || !make_room(&finder->places, finder->keys.length))
        return false;
    for (size_t term = 0; term < finder->keys.length; term++) {
        keys[n] = keys[term];
        finder->terms.values[n] = term;
        n += (*sieve_at(wanted, keys[n], &bit) & bit) != 0;
    }
    find_places(&wanted->terms, keys, (int64_t *)(void *)finder->places.values, n);
    finder->places.length = n;
    for (size_t i = 0; i < n; i++)
        PREFETCH(wanted->starts + finder->places.values[i]);
    return true;
}

/* --- one text --------------------------------------------------------------------- */

/* A text that is being written: three parts at the most, each with its end. */
typedef struct {
    uint8_t bytes[MOST_TEXT + BYTES_OF_CODE + 3];
    size_t length; /* more than MOST_TEXT if it is too long */
} Written;

static void
write_part(const Tables *tables, Written *text, Slice token, bool is_folded)
{
    while (token.at < token.end && text->length <= MOST_TEXT) {
        uint32_t code = next_code(&token.at, token.end);
        uint8_t *at = text->bytes + text->length;
        at = put_code(at, is_folded ? folded(tables, code) : code);
        text->length = (size_t)(at - text->bytes);
    }
    text->bytes[text->length++] = PART_END;
}

/* Keep the text of a term; false if there is no memory. */
static bool
keep_text(Wanted *wanted, int64_t place, const uint8_t *bytes, size_t length)
{
    bool is_short = length <= MOST_TEXT;
    if (is_short && wanted->room <= wanted->length + length) {
        size_t room = 2 * wanted->room + 65536;
        uint8_t *texts = room > UINT32_MAX ? NULL : realloc(wanted->texts, room);
        if (!texts)
            return false;
        wanted->texts = texts;
        wanted->room = room;
    }
    wanted->starts[place] = is_short ? (uint32_t)wanted->length : IS_TOO_LONG;
    if (is_short) {
        memcpy(wanted->texts + wanted->length, bytes, length);
        wanted->length += length;
        wanted->texts[wanted->length++] = TEXT_END;
    }
    wanted->n_left--;
    close_sieve(wanted, place);
    return true;
}

/* --- the terms of a field ---------------------------------------------------------- */

/* Keep the text of a term: of a token, or of it and the one before. */
static bool
keep_term(Wanted *wanted, int64_t place, Slice name, const Slice *tokens, uint64_t term)
{
    const View *view = &wanted->view.view;
    bool is_pair = view->pairs && (!view->tokens || (term && term % 2 == 0));
    bool fold = is_pair ? view->fold_pairs : view->fold_tokens;
    tokens += view->tokens && view->pairs ? (term + 1) / 2 : term + is_pair;
    Written text;
    text.length = 0;
    if (wanted->view.fields)
        write_part(wanted->view.tables, &text, name, false);
    if (is_pair)
        write_part(wanted->view.tables, &text, tokens[-1], fold);
    write_part(wanted->view.tables, &text, tokens[0], fold);
    return keep_text(wanted, place, text.bytes, text.length - 1);
}

bool
find_in_field(Finder *finder, Wanted *wanted, Slice name, Slice text, uint64_t salt,
              size_t *left)
{
    finder->keys.length = finder->spans.length = 0;
    if (!read_field(wanted->view.tables, &wanted->view.view, text, salt, left,
                    &finder->keys, &finder->spans)
        || !find_missing(finder, wanted))
        return false;
    if (wanted->view.fields && (find_byte(name, PART_END) || find_byte(name, TEXT_END)))
        return true; /* which no text can have */
    const Slice *tokens = (const Slice *)(void *)finder->spans.values;
    for (size_t n = 0; n < finder->places.length; n++) {
        int64_t place = (int64_t)finder->places.values[n];
        if (wanted->starts[place] == MISSING
            && !keep_term(wanted, place, name, tokens, finder->terms.values[n]))
            return false;
    }
    return true;
}

bool
find_in_ngrams(Finder *finder, Wanted *wanted, const Mail *mail)
{
    Normalised text;
    finder->keys.length = 0;
    if (!push_ngrams(mail, &wanted->view, &text, &finder->keys)
        || !find_missing(finder, wanted))
        return false;
    const uint8_t *at = text.bytes;
    for (size_t term = 0, size = NGRAM, n = 0; n < finder->places.length; term++, at++) {
        if (term == text.length)
            at = text.bytes + EDGE - 1; /* where runs of three begin */
        while (term >= text.length && !(size = run_of_three(at)))
            at++;
        if (term != finder->terms.values[n])
            continue;
        int64_t place = (int64_t)finder->places.values[n++];
        if (wanted->starts[place] == MISSING && !keep_text(wanted, place, at, size))
            return false;
    }
    return true;
}

/* --- all texts --------------------------------------------------------------------- */

void
write_texts(const Wanted *wanted, uint8_t *to, char *states)
{
    for (int64_t place = 0; place < wanted->terms.n_terms; place++) {
        uint32_t start = wanted->starts[place];
        states[place] = start != MISSING && start != IS_TOO_LONG;
        if (!states[place])
            continue;
        const uint8_t *at = wanted->texts + start;
        Slice rest = {at, wanted->texts + wanted->length};
        to = put(to, slice(at, find_byte(rest, TEXT_END) + 1));
    }
}
