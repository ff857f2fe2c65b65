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

bool
begin_to_look(Wanted *wanted)
{
    size_t n = wanted->n_left = (size_t)wanted->terms.n_terms;
    wanted->states = calloc(n + 1, sizeof *wanted->states);
    wanted->starts = calloc(n + 1, sizeof *wanted->starts);
    if (wanted->states)
        wanted->states[n] = IS_TOO_LONG;
    return wanted->states && wanted->starts;
}

/* Find the places of the keys of a field; they end behind the last whose text is missing. */
static bool
find_missing(Finder *finder, const Wanted *wanted, const int64_t **places, size_t *n)
{
    const Keys *keys = &finder->keys;
    if (!make_room(&finder->places, keys->length))
        return false;
    int64_t *found = (int64_t *)(void *)finder->places.values;
    find_places(&wanted->terms, keys->values, found, keys->length);
    *places = found;
    for (*n = keys->length; *n && wanted->states[found[*n - 1]] != MISSING;)
        --*n;
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
keep_term(Wanted *wanted, int64_t place, Slice name, Slice before, Slice token)
{
    const MailView *view = &wanted->view;
    bool is_pair = before.at, fold = is_pair ? view->view.fold_pairs
                                             : view->view.fold_tokens;
    Written text;
    text.length = 0;
    if (view->fields)
        write_part(view->tables, &text, name, false);
    if (is_pair)
        write_part(view->tables, &text, before, fold);
    write_part(view->tables, &text, token, fold);
    return keep_text(wanted, place, text.bytes, text.length - 1);
}

/* Walk through a field, to the last of its terms whose text may be missing. */
static bool
keep_terms(Wanted *wanted, Slice name, Slice text, const int64_t *places, size_t n)
{
    const View *view = &wanted->view.view;
    Slice before = slice(NULL, NULL), token;
    size_t term = 0;
    while (term < n && next_span(wanted->view.tables, &text, &token)) {
        bool has_pair = view->pairs && before.at;
        for (int is_pair = !view->tokens; is_pair <= has_pair && term < n; is_pair++, term++)
            if (wanted->states[places[term]] == MISSING
                && !keep_term(wanted, places[term], name,
                              is_pair ? before : slice(NULL, NULL), token))
                return false;
        before = token;
    }
    return true;
}

bool
find_in_field(Finder *finder, Wanted *wanted, Slice name, Slice text, uint64_t salt,
              size_t *left)
{
    const int64_t *places;
    size_t n;
    finder->keys.length = 0;
    if (!read_field(wanted->view.tables, &wanted->view.view, text, salt, left,
                    &finder->keys)
        || !find_missing(finder, wanted, &places, &n))
        return false;
    bool is_named = wanted->view.fields;
    if (is_named && (find_byte(name, PART_END) || find_byte(name, TEXT_END)))
        return true; /* which no text can have */
    return keep_terms(wanted, name, text, places, n);
}

bool
find_in_ngrams(Finder *finder, Wanted *wanted, const Mail *mail)
{
    const int64_t *places;
    size_t n;
    Normalised text;
    finder->keys.length = 0;
    if (!push_ngrams(mail, &wanted->view, &text, &finder->keys)
        || !find_missing(finder, wanted, &places, &n))
        return false;
    const uint8_t *at = text.bytes;
    for (size_t term = 0, size = NGRAM; term < n; term++, at++) {
        if (term == text.length)
            at = text.bytes + EDGE - 1; /* where runs of three begin */
        while (term >= text.length && !(size = run_of_three(at)))
            at++;
        if (wanted->states[places[term]] == MISSING
            && !keep_text(wanted, places[term], at, size))
            return false;
    }
    return true;
}

/* --- all texts --------------------------------------------------------------------- */

void
write_texts(const Wanted *wanted, uint8_t *to)
{
    for (int64_t place = 0; place < wanted->terms.n_terms; place++) {
        if (wanted->states[place] != HAS_TEXT)
            continue;
        const uint8_t *at = wanted->texts + wanted->starts[place];
        Slice rest = {at, wanted->texts + wanted->length};
        size_t length = (size_t)(find_byte(rest, TEXT_END) - at) + 1;
        memcpy(to, at, length);
        to += length;
    }
}
