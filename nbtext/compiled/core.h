/*
 * What the compiled engine consists of, but for its calls from Python (module.h).
 *
 * Each file is the twin of a Python module of the same name, which specifies it. These
 * know nothing of Python, and are compiled by gcc and clang: others leave it to Python.
 * No bytes that they are given make them read or write out of bounds; time and memory
 * are in proportion to what is read.
 */

#ifndef NBTEXT_CORE_H
#define NBTEXT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* gcc drops calls of a function that does nothing else: the empty instruction is something */
#define PREFETCH(address) do { __builtin_prefetch(address); __asm__ volatile(""); } while (0)

/* Compiled for several generations of a processor where the loader can choose; the latest
   multiplies vectors of 64-bit integers, which it takes a newer gcc to ask for. */
#if defined(FOR_EACH_PROCESSOR) /* where the loader may not run what chooses */
#elif defined(__clang__) || !defined(__x86_64__) || !defined(__GLIBC__)
#define FOR_EACH_PROCESSOR
#elif __GNUC__ < 12
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif

#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Bytes that are not copied. */
typedef struct {
    const uint8_t *at, *end;
} Slice;

static inline Slice
slice(const uint8_t *at, const uint8_t *end)
{
    return (Slice){at, end};
}

static inline Slice
slice_of(const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    return slice(at, at + strlen(text));
}

static inline size_t
length_of(Slice text)
{
    return (size_t)(text.end - text.at);
}

/* Up to eight bytes as a little-endian word. */
static inline uint64_t
word_at(const uint8_t *at, size_t n_bytes)
{
    uint64_t word = 0;
    if (IS_LITTLE_ENDIAN && __builtin_constant_p(n_bytes)) { /* and so it is one load */
        memcpy(&word, at, n_bytes);
        return word;
    }
    for (size_t n = 0; n < n_bytes; n++)
        word |= (uint64_t)at[n] << 8 * n;
    return word;
}

/* --- code points: codepoints.c ---------------------------------------------------- */

enum { SEPARATOR = 0, SINGLE = 3, N_CLASSES = 6 };
enum { N_CODE_POINTS = 0x110000, BLOCK = 256, N_BLOCKS = N_CODE_POINTS / BLOCK };
enum { REPLACEMENT = 0xFFFD };

/*
 * The kind of token and the folded form of each code point; see
 * nbtext.tokens.codepoints. The values are stored as distinct blocks of BLOCK, with an
 * index of the blocks. They are checked when the tables are filled, and never change, so
 * that no code point leads out of them.
 */
typedef struct {
    uint8_t kind_index[N_BLOCKS], fold_index[N_BLOCKS];
    uint8_t *kinds;
    int32_t *offsets; /* from a code point to its folded form */
    uint8_t ascii_kinds[128];
    uint8_t halves[2][16]; /* the same for vectors: ascii_kinds.c */
    bool has_vectors;
} Tables;

/* What tables are made from, as `nbtext.tokens.codepoints.Blocks` has it. */
typedef struct {
    Slice class_index, classes, fold_index, offsets;
    Slice kinds; /* of each class */
} TableSource;

typedef enum { FILLED, UNSOUND, NO_MEMORY } Filling;

/* Check and copy; what is copied cannot be changed by anybody else. */
Filling fill_tables(Tables *tables, const TableSource *source);
void release_tables(Tables *tables);

/* The kinds of some bytes of ASCII, two bits of each. */
typedef struct {
    uint64_t low, high;
    size_t n; /* how many there are, up to what is not ASCII */
} AsciiKinds;

/* Prepare for that, once ascii_kinds are known. */
void fill_ascii_kinds(Tables *tables);
/* Read up to 64 bytes, of which there are so many. */
void read_ascii_kinds(const Tables *tables, const uint8_t *at, size_t n, AsciiKinds *kinds);

static inline int
kind_of(const Tables *tables, uint32_t code)
{
    if (code < 128)
        return tables->ascii_kinds[code];
    return tables->kinds[tables->kind_index[code / BLOCK] * BLOCK + code % BLOCK];
}

static inline uint32_t
folded(const Tables *tables, uint32_t code)
{
    uint32_t block = tables->fold_index[code / BLOCK];
    int32_t offset = tables->offsets[block * BLOCK + code % BLOCK];
    uint32_t other = code + (uint32_t)offset;
    return other < N_CODE_POINTS ? other : code;
}

/* Read a code point from before the end; what is cut off ends where the text does. */
static inline uint32_t
next_code(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *byte = *at;
    if (*byte < 0x80) {
        *at = byte + 1;
        return *byte;
    }
    int n_more = *byte >= 0xF0 ? 3 : *byte >= 0xE0 ? 2 : 1;
    uint32_t code = *byte++ & (0x3Fu >> n_more);
    while (n_more-- && byte < end)
        code = code << 6 | (*byte++ & 0x3Fu);
    *at = byte;
    return code < N_CODE_POINTS ? code : REPLACEMENT;
}

/* Write a code point as UTF-8, four bytes at the most; return where it ends. */
static inline uint8_t *
put_code(uint8_t *at, uint32_t code)
{
    if (code < 0x80) {
        *at++ = (uint8_t)code;
        return at;
    }
    if (code < 0x800) {
        *at++ = (uint8_t)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *at++ = (uint8_t)(0xE0 | code >> 12);
        } else {
            *at++ = (uint8_t)(0xF0 | code >> 18);
            *at++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        }
        *at++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
    }
    *at++ = (uint8_t)(0x80 | (code & 0x3F));
    return at;
}

/* --- memory: memory.c ------------------------------------------------------------- */

/* 64-bit integers that become more. */
typedef struct {
    uint64_t *values;
    size_t length, room;
} Keys;

/* Make room for so many more; false if there is no memory. */
bool make_room(Keys *keys, size_t more);

static inline bool
push_key(Keys *keys, uint64_t value)
{
    if (!make_room(keys, 1))
        return false;
    keys->values[keys->length++] = value;
    return true;
}
void release_keys(Keys *keys);

/* --- sorting.c -------------------------------------------------------------------- */

/* Sort keys; `scratch` is as long as they are. */
void sort_keys(uint64_t *keys, uint64_t *scratch, size_t n);

/* --- tokens: tokenizer.c, ngrams.c ------------------------------------------------ */

/* The constants of nbtext.tokens.tokenizer. */
#define BASE UINT64_C(0x9E3779B97F4A7C15)
#define SPREAD UINT64_C(0xD6E8FEB86659FD93)
#define PAIR UINT64_C(0xA0761D6478BD642F)
#define MIX UINT64_C(0xE7037ED1A0B428DB)
enum { KEY_BITS = 48 }; /* of the 64 that are mixed, the upper ones */

/* Which terms are read, as in `nbtext.settings.View`. */
typedef struct {
    bool tokens, pairs, fold_tokens, fold_pairs;
    bool ngrams;  /* byte n-grams in place of tokens */
    size_t limit;  /* how many tokens, or bytes of n-grams, of a document are read */
    size_t threes; /* in how many of its first bytes runs of three characters begin */
} View;

static inline uint64_t
mixed(uint64_t value)
{
    value ^= value >> 32;
    value *= MIX;
    return value ^ value >> 29;
}

/* A number that differs for most names. */
static inline uint64_t
hash_of(Slice name)
{
    size_t length = length_of(name), n = length < 8 ? length : 8;
    return mixed((word_at(name.at, n) ^ length) * BASE + word_at(name.end - n, n));
}

/* Push the keys of a field's terms, and unless it is NULL the Slice that each token is, as
   WORDS_OF_SPAN values; `left` more tokens may be read. False: no memory. */
bool read_field(const Tables *tables, const View *view, Slice text, uint64_t salt,
                size_t *left, Keys *keys, Keys *spans);
enum { WORDS_OF_SPAN = 2 };

/* Bytes of an n-gram and of an edge, code points they are cut from. */
enum { NGRAM = 5, EDGE = 4, LONGEST = 6000 };

/* What the n-grams of a document are cut from; see `nbtext.tokens.ngrams`. */
typedef struct {
    uint8_t bytes[4 * LONGEST + 4 + 2 * EDGE]; /* and room for the last code point */
    size_t length; /* of the edge before the text, and of the text */
} Normalised;

#endif
