/* BLAKE2b without a key (RFC 7693), which in Python is _blake2's. */

#include "mail.h"

static const uint64_t START[8] = {
    0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
    0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u,
};

static const uint8_t ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

#ifndef __clang__ /* the analyser of gcc 12 takes four words for a number of two bits */
#pragma GCC diagnostic ignored "-Wanalyzer-shift-count-overflow"
#endif
#define ROTATED(word, by) ((word) >> (by) | (word) << (64 - (by)))

#define MIX_IN(a, b, c, d, x, y)                                                       \
    do {                                                                               \
        a += b + words[x];                                                             \
        d = ROTATED(d ^ a, 32);                                                        \
        c += d;                                                                        \
        b = ROTATED(b ^ c, 24);                                                        \
        a += b + words[y];                                                             \
        d = ROTATED(d ^ a, 16);                                                        \
        c += d;                                                                        \
        b = ROTATED(b ^ c, 63);                                                        \
    } while (0)

/* Hash words into what is known of a hash, of one text or of several; the loop is unrolled, so
   that the order of words is known when compiled. */
#define HASH_WORDS(state, n_bytes, last)                                               \
    do {                                                                               \
        for (int n = 0; n < 8; n++) {                                                  \
            v[n] = state[n];                                                           \
            v[n + 8] = (v[n] ^ v[n]) + START[n];                                       \
        }                                                                              \
        v[12] ^= state[8] += n_bytes;                                                  \
        v[14] ^= last;                                                                 \
        _Pragma("GCC unroll 12") for (int n = 0; n < 12; n++)                          \
            _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++)                        \
                MIX_IN(v[i % 4], v[4 + (i + i / 4) % 4], v[8 + (i + i / 4 * 2) % 4],   \
                       v[12 + (i + i / 4 * 3) % 4], ORDER[n % 10][2 * i],              \
                       ORDER[n % 10][2 * i + 1]);                                      \
        for (int n = 0; n < 8; n++)                                                    \
            state[n] ^= v[n] ^ v[n + 8];                                               \
    } while (0)

static void
hash_block(Hash *hash, const uint8_t *block, size_t n_bytes, uint64_t last)
{
    uint64_t v[16], words[16] = {0};
    for (int n = 0; n < 16; n++)
        words[n] = word_at(block + 8 * n, 8);
    HASH_WORDS(hash->state, n_bytes, last);
}

void
start_hash(Hash *hash, size_t size)
{
    memcpy(hash->state, START, sizeof START);
    hash->state[0] ^= 0x01010000 ^ size;
    hash->state[8] = 0;
    hash->size = size;
    hash->rest = (Slice){NULL, NULL};
}

void
add_to_hash(Hash *hash, Slice text)
{
    for (; length_of(text) > HASHED; text.at += HASHED)
        hash_block(hash, text.at, HASHED, 0);
    hash->rest = text;
}

/* A word of each of four texts. */
typedef uint64_t Four __attribute__((vector_size(32), aligned(8)));
#define FOUR(word) (Four){word(of[0]), word(of[1]), word(of[2]), word(of[3])}
#define STATE(hash) (hash).state[n]
#define WORD(hash) word_at((hash).rest.at + 8 * n, 8)

FOR_EACH_PROCESSOR void
hash_together(Hash *of)
{
    Four state[9], v[16], words[16] = {{0}};
    for (int n = 0; n < 9; n++)
        state[n] = FOUR(STATE);
    while (length_of(of[0].rest) > HASHED && length_of(of[1].rest) > HASHED
           && length_of(of[2].rest) > HASHED && length_of(of[3].rest) > HASHED) {
        for (int n = 0; n < 16; n++)
            words[n] = FOUR(WORD);
        HASH_WORDS(state, HASHED, 0);
        for (int lane = 0; lane < LANES; lane++)
            of[lane].rest.at += HASHED;
    }
    for (int lane = 0; lane < LANES; lane++)
        for (int n = 0; n < 9; n++)
            of[lane].state[n] = state[n][lane];
}

void
end_hash(Hash *hash, uint8_t *digest)
{
    uint8_t block[HASHED] = {0};
    size_t n_bytes = (size_t)(put(block, hash->rest) - block);
    hash_block(hash, block, n_bytes, UINT64_MAX);
    for (size_t n = 0; n < hash->size; n++)
        digest[n] = (uint8_t)(hash->state[n / 8] >> 8 * (n % 8));
}
