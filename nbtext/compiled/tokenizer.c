/* Tokens and the keys of their terms; twin of nbtext/tokens/tokenizer.py. */

#include "core.h"

enum { TOGETHER = 512 }; /* tokens for whose keys room is made at a time */

/* --- the polynomial of a token ---------------------------------------------------- */

typedef struct {
    uint64_t sum, factor, word;
    int filled; /* bits of the word */
} Polynomial;

static const Polynomial EMPTY = {0, 1, 0, 0};

static void
add_code(Polynomial *polynomial, uint32_t code)
{
    uint8_t bytes[4];
    const uint8_t *end = put_code(bytes, code);
    for (const uint8_t *byte = bytes; byte < end; byte++) {
        polynomial->word |= (uint64_t)*byte << polynomial->filled;
        polynomial->filled += 8;
        if (polynomial->filled == 64) {
            polynomial->sum += polynomial->word * polynomial->factor;
            *polynomial = (Polynomial){polynomial->sum, polynomial->factor * BASE, 0, 0};
        }
    }
}

/* Fold eight bytes of ASCII: bit 5 is set where a byte is from A to Z. */
static inline uint64_t
folded_ascii(uint64_t word)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t from_a = word + (0x80 - 'A') * each, behind_z = word + (0x7F - 'Z') * each;
    return word | (from_a & ~behind_z & 0x80 * each) >> 2;
}

/* --- tokens ----------------------------------------------------------------------- */

/* A token's polynomials as it is written and folded. */
typedef struct {
    uint64_t written, folded;
} Token;

/* Which of them are wanted. */
typedef enum { WRITTEN, FOLDED, BOTH } Forms;

/* Read a token code point by code point; the first is one of it. */
static Token
wide_token(const Tables *tables, Slice *text, int kind)
{
    Polynomial written = EMPTY, lower = EMPTY;
    const uint8_t *at = text->at;
    uint32_t code = next_code(&at, text->end);
    do {
        text->at = at;
        add_code(&written, code);
        add_code(&lower, folded(tables, code));
        if (at == text->end || kind == SINGLE)
            break;
        code = next_code(&at, text->end);
    } while (kind_of(tables, code) == kind);
    return (Token){written.sum + written.word * written.factor,
                   lower.sum + lower.word * lower.factor};
}

/*
 * Hash a token of ASCII, in the forms that are wanted; `end` is that of the text, which
 * may be loaded from.
 */
static inline Token
ascii_token(const uint8_t *at, const uint8_t *after, const uint8_t *end, Forms forms)
{
    Token token = {0, 0};
    uint64_t factor = 1;
    for (;; at += 8, factor *= BASE) {
        int64_t n = after - at < 8 ? after - at : 8;
        uint64_t word = end - at >= 8 ? word_at(at, 8) & UINT64_MAX >> (64 - 8 * n)
                                      : word_at(at, (size_t)n);
        if (forms != FOLDED)
            token.written += word * factor;
        if (forms != WRITTEN)
            token.folded += folded_ascii(word) * factor;
        if (after - at <= 8)
            return token;
    }
}

/* Tokens of ASCII in a row after which more of them are expected. */
enum { ENOUGH = 4 };

/* What was found: no token, one of ASCII with ASCII behind it, or another. */
typedef enum { NONE, NARROW, IS_WIDE } Found;

/* Find the next token, whatever it is made of. */
static inline Found
next_token(const Tables *tables, Slice *text, Forms forms, Token *token)
{
    const uint8_t *at = text->at, *end = text->end, *kinds = tables->ascii_kinds;
    int kind = SEPARATOR;
    while (at < end) {
        if (*at < 0x80) {
            if ((kind = kinds[*at]))
                break;
            at++;
        } else {
            const uint8_t *after = at;
            if ((kind = kind_of(tables, next_code(&after, end))))
                break;
            at = after;
        }
    }
    text->at = at;
    if (at == end)
        return NONE;
    const uint8_t *after = at;
    do
        after++;
    while (after < end && *after < 0x80 && kinds[*after] == kind && kind != SINGLE);
    if (*at >= 0x80 || (after < end && *after >= 0x80)) {
        *token = wide_token(tables, text, kind);
        return IS_WIDE;
    }
    *token = ascii_token(at, after, end, forms);
    text->at = after;
    return NARROW;
}

/* What the keys of terms are made of, and the hash of the token before, if any. */
typedef struct {
    View view;
    uint64_t salt, before;
    bool has_before;
} Hashing;

/* Write the keys of a token, and of it with the one before; return where they end. */
static inline uint64_t *
put_keys(Hashing *hashing, Token token, uint64_t *at)
{
    const View *view = &hashing->view;
    if (view->tokens) {
        uint64_t polynomial = view->fold_tokens ? token.folded : token.written;
        *at++ = mixed((polynomial + hashing->salt) * SPREAD) >> (64 - KEY_BITS);
    }
    if (view->pairs) {
        uint64_t polynomial = view->fold_pairs ? token.folded : token.written;
        uint64_t hash = mixed((polynomial + hashing->salt) * SPREAD);
        if (hashing->has_before)
            *at++ = mixed(hashing->before * PAIR + hash) >> (64 - KEY_BITS);
        hashing->before = hash;
        hashing->has_before = true;
    }
    return at;
}

/*
 * Read at most so many tokens of the ASCII that a text begins with, 64 bytes at the most;
 * return how many. A token that may go on behind these is left. `n_narrow` becomes 0 if
 * something else than ASCII is among the 64.
 */
static inline size_t
read_ascii(const Tables *tables, Slice *text, Forms forms, size_t n, Hashing *hashing,
           uint64_t **keys, unsigned *n_narrow)
{
    const uint8_t *at = text->at;
    AsciiKinds kinds;
    size_t length = length_of(*text) < 64 ? length_of(*text) : 64, n_read = 0;
    read_ascii_kinds(tables, at, length, &kinds);
    *n_narrow = kinds.n < length ? 0 : ENOUGH;
    uint64_t is_token = kinds.low | kinds.high, is_single = kinds.low & kinds.high;
    uint64_t is_other = (kinds.low ^ kinds.low << 1) | (kinds.high ^ kinds.high << 1);
    uint64_t valid = kinds.n < 64 ? ((uint64_t)1 << kinds.n) - 1 : UINT64_MAX;
    uint64_t starts = (is_other | is_single) & is_token & valid;
    uint64_t ends = (is_other | is_single) & is_token << 1 & valid;
    bool is_all = at + kinds.n == text->end;
    for (; starts && n_read < n; n_read++) {
        size_t start = (size_t)__builtin_ctzll(starts), end = kinds.n;
        if (ends)
            end = (size_t)__builtin_ctzll(ends);
        else if (!is_all)
            break;
        starts &= starts - 1;
        ends &= ends - 1;
        Token token = ascii_token(at + start, at + end, text->end, forms);
        *keys = put_keys(hashing, token, *keys);
    }
    text->at = at + (starts ? (size_t)__builtin_ctzll(starts) : kinds.n);
    return n_read;
}

/* Read at most so many tokens, and write the keys of their terms; return how many. */
static inline size_t
read_some(const Tables *tables, Slice *text, Forms forms, size_t n, Hashing *hashing,
          Keys *keys)
{
    Token token;
    Hashing own = *hashing; /* which nothing else points to */
    uint64_t *at = keys->values + keys->length;
    size_t n_read = 0;
    unsigned n_narrow = ENOUGH;
    while (n_read < n && text->at < text->end) {
        const uint8_t *before = text->at;
        if (n_narrow >= ENOUGH)
            n_read += read_ascii(tables, text, forms, n - n_read, &own, &at, &n_narrow);
        if (text->at > before)
            continue;
        Found found = next_token(tables, text, forms, &token);
        if (found == NONE)
            break;
        n_narrow = found == NARROW ? n_narrow + 1 : 0;
        at = put_keys(&own, token, at);
        n_read++;
    }
    *hashing = own;
    keys->length = (size_t)(at - keys->values);
    return n_read;
}

bool
read_field(const Tables *tables, const View *view, Slice text, uint64_t salt,
           size_t *left, Keys *keys)
{
    Hashing hashing = {*view, salt, 0, false};
    bool wants_folded = (view->tokens && view->fold_tokens)
                        || (view->pairs && view->fold_pairs);
    bool wants_written = (view->tokens && !view->fold_tokens)
                         || (view->pairs && !view->fold_pairs);
    while (*left && text.at < text.end) {
        size_t n = *left < TOGETHER ? *left : TOGETHER;
        if (!make_room(keys, 2 * n))
            return false;
        if (!wants_folded) /* each a loop of its own */
            *left -= read_some(tables, &text, WRITTEN, n, &hashing, keys);
        else if (!wants_written)
            *left -= read_some(tables, &text, FOLDED, n, &hashing, keys);
        else
            *left -= read_some(tables, &text, BOTH, n, &hashing, keys);
    }
    return true;
}
