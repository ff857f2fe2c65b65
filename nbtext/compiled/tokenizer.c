/* Tokens and the keys of their terms; twin of nbtext/tokens/tokenizer.py. */

#include "core.h"

enum { TOGETHER = 512 }; /* tokens whose keys are made at a time */

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

/* Hash a token of ASCII; `end` is that of the text, which may be loaded from. */
static inline Token
ascii_token(const uint8_t *at, const uint8_t *after, const uint8_t *end)
{
    Token token = {0, 0};
    uint64_t factor = 1;
    for (;; at += 8, factor *= BASE) {
        int64_t n = after - at < 8 ? after - at : 8;
        uint64_t word = end - at >= 8 ? word_at(at, 8) & UINT64_MAX >> (64 - 8 * n)
                                      : word_at(at, (size_t)n);
        token.written += word * factor;
        token.folded += folded_ascii(word) * factor;
        if (after - at <= 8)
            return token;
    }
}

/* Read the next token, whatever it is made of, and where it begins; false if there is none. */
static inline bool
next_token(const Tables *tables, Slice *text, Token *token, const uint8_t **start)
{
    int kind = SEPARATOR;
    while (kind == SEPARATOR && (*start = text->at) < text->end)
        kind = kind_of(tables, next_code(&text->at, text->end));
    if (kind == SEPARATOR)
        return false;
    const uint8_t *after = text->at = *start, *end = text->end;
    while (kind != SINGLE && after < end && *after < 0x80 && kind_of(tables, *after) == kind)
        after++;
    if (after == *start || (after < end && *after >= 0x80)) {
        *token = wide_token(tables, text, kind);
    } else {
        *token = ascii_token(*start, after, end);
        text->at = after;
    }
    return true;
}

/* Tokens in their order: polynomials as they are written, and where each of them stands. Those
   of up to eight bytes of ASCII are folded when keys are made; others are listed. */
typedef struct {
    uint64_t written[TOGETHER], folded[TOGETHER]; /* the latter of others alone */
    size_t others[TOGETHER], n, n_others;
    Slice spans[TOGETHER];
} Tokens;

/* Add one of the others. */
static inline void
add_token(Tokens *tokens, size_t n, Token token)
{
    tokens->written[n] = token.written;
    tokens->folded[tokens->n_others] = token.folded;
    tokens->others[tokens->n_others++] = n;
}

/* What the keys of terms are made of, and the hash of the token before, if any. */
typedef struct {
    View view;
    uint64_t salt, before;
    bool has_before;
} Hashing;

/* Write the keys of tokens, and of each with the one before; return where they end. */
FOR_EACH_PROCESSOR static uint64_t *
put_keys(Hashing *hashing, const Tokens *tokens, uint64_t *restrict at)
{
    const View *view = &hashing->view;
    uint64_t hashes[TOGETHER + 1], folded[TOGETHER], *last = hashes, salt = hashing->salt;
    const uint64_t *alone = view->fold_tokens ? folded : tokens->written;
    const uint64_t *paired = view->fold_pairs ? folded : tokens->written;
    size_t n = tokens->n;
    for (size_t i = 0; i < n; i++)
        folded[i] = folded_ascii(tokens->written[i]);
    for (size_t i = 0; i < tokens->n_others; i++)
        folded[tokens->others[i]] = tokens->folded[i];
    hashes[0] = hashing->before;
    for (size_t i = 0; view->pairs && i < n; i++)
        hashes[i + 1] = mixed((paired[i] + salt) * SPREAD);
    if (view->pairs && n) {
        hashing->before = hashes[n];
        if (!hashing->has_before) { /* the first token has none */
            hashing->has_before = true;
            if (view->tokens)
                *at++ = mixed((*alone++ + salt) * SPREAD) >> (64 - KEY_BITS);
            last++;
            n--;
        }
    }
    if (view->tokens && view->pairs)
        for (size_t i = 0; i < n; i++) {
            at[2 * i] = mixed((alone[i] + salt) * SPREAD) >> (64 - KEY_BITS);
            at[2 * i + 1] = mixed(last[i] * PAIR + last[i + 1]) >> (64 - KEY_BITS);
        }
    else
        for (size_t i = 0; i < n; i++)
            at[i] = (view->tokens ? mixed((alone[i] + salt) * SPREAD)
                                  : mixed(last[i] * PAIR + last[i + 1])) >> (64 - KEY_BITS);
    return at + n * ((size_t)view->tokens + view->pairs);
}

/*
 * Read at most so many tokens of the ASCII that a text begins with, 64 bytes at the most.
 * A token that may go on behind these is left. Return whether all of the 64 are ASCII.
 */
static inline bool
read_ascii(const Tables *tables, Slice *text, size_t most, Tokens *tokens)
{
    const uint8_t *at = text->at;
    AsciiKinds kinds;
    size_t length = length_of(*text) < 64 ? length_of(*text) : 64;
    read_ascii_kinds(tables, at, length, &kinds);
    uint64_t is_token = kinds.low | kinds.high, is_single = kinds.low & kinds.high;
    uint64_t is_other = (kinds.low ^ kinds.low << 1) | (kinds.high ^ kinds.high << 1);
    uint64_t valid = kinds.n < 64 ? ((uint64_t)1 << kinds.n) - 1 : UINT64_MAX;
    uint64_t starts = (is_other | is_single) & is_token & valid, open = 0;
    uint64_t ends = (is_other | is_single) & is_token << 1 & valid;
    size_t n = tokens->n;
    int last = length_of(*text) < 72 ? (int)length_of(*text) - 8 : 64; /* where a word begins */
    if (starts > ends && at + kinds.n == text->end && kinds.n < 64)
        ends |= (uint64_t)1 << kinds.n;
    else if (starts > ends)
        starts ^= open = (uint64_t)1 << (63 - __builtin_clzll(starts));
    for (; starts && n < most; n++, starts &= starts - 1, ends &= ends - 1) {
        int start = __builtin_ctzll(starts), end = __builtin_ctzll(ends);
        tokens->spans[n] = slice(at + start, at + end);
        if (end - start <= 8 && start <= last)
            tokens->written[n] = word_at(at + start, 8) & UINT64_MAX >> 8 * (8 + start - end);
        else
            add_token(tokens, n, ascii_token(at + start, at + end, text->end));
    }
    tokens->n = n;
    starts |= open;
    text->at = at + (starts ? (size_t)__builtin_ctzll(starts) : kinds.n);
    return kinds.n == length;
}

/* Read at most so many tokens. */
static inline void
read_some(const Tables *tables, Slice *text, size_t most, Tokens *tokens)
{
    Token token;
    bool is_ascii = true; /* as far as is known */
    tokens->n = tokens->n_others = 0;
    while (tokens->n < most && text->at < text->end) {
        const uint8_t *before = text->at;
        if (is_ascii)
            is_ascii = read_ascii(tables, text, most, tokens);
        if (text->at > before)
            continue;
        if (!next_token(tables, text, &token, &before))
            break;
        is_ascii = text->at[-1] < 0x80;
        tokens->spans[tokens->n] = slice(before, text->at);
        add_token(tokens, tokens->n++, token);
    }
}

bool
read_field(const Tables *tables, const View *view, Slice text, uint64_t salt,
           size_t *left, Keys *keys, Keys *spans)
{
    Hashing hashing = {*view, salt, 0, false};
    Tokens tokens;
    while (*left && text.at < text.end) {
        size_t n = *left < TOGETHER ? *left : TOGETHER;
        if (!make_room(keys, 2 * n) || (spans && !make_room(spans, WORDS_OF_SPAN * n)))
            return false;
        read_some(tables, &text, n, &tokens);
        *left -= tokens.n;
        keys->length = (size_t)(put_keys(&hashing, &tokens, keys->values + keys->length)
                                - keys->values);
        if (spans) {
            memcpy(spans->values + spans->length, tokens.spans, tokens.n * sizeof(Slice));
            spans->length += WORDS_OF_SPAN * tokens.n;
        }
    }
    return true;
}
