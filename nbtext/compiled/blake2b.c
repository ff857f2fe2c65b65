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

/* A round; the loop of them is unrolled, so that the order of words is known when compiled. */
#define ROUND(n)                                                                       \
    do {                                                                               \
        MIX_IN(v[0], v[4], v[8], v[12], ORDER[n][0], ORDER[n][1]);                     \
        MIX_IN(v[1], v[5], v[9], v[13], ORDER[n][2], ORDER[n][3]);                     \
        MIX_IN(v[2], v[6], v[10], v[14], ORDER[n][4], ORDER[n][5]);                    \
        MIX_IN(v[3], v[7], v[11], v[15], ORDER[n][6], ORDER[n][7]);                    \
        MIX_IN(v[0], v[5], v[10], v[15], ORDER[n][8], ORDER[n][9]);                    \
        MIX_IN(v[1], v[6], v[11], v[12], ORDER[n][10], ORDER[n][11]);                  \
        MIX_IN(v[2], v[7], v[8], v[13], ORDER[n][12], ORDER[n][13]);                   \
        MIX_IN(v[3], v[4], v[9], v[14], ORDER[n][14], ORDER[n][15]);                   \
    } while (0)

static void
hash_block(Hash *hash, const uint8_t *block, bool is_last)
{
    uint64_t v[16], words[16] = {0};
    for (int n = 0; n < 16; n++)
        words[n] = word_at(block + 8 * n, 8);
    for (int n = 0; n < 8; n++) {
        v[n] = hash->state[n];
        v[n + 8] = START[n];
    }
    v[12] ^= hash->n_hashed;
    if (is_last)
        v[14] = ~v[14];
#pragma GCC unroll 12
    for (int n = 0; n < 12; n++)
        ROUND(n % 10);
    for (int n = 0; n < 8; n++)
        hash->state[n] ^= v[n] ^ v[n + 8];
}

void
start_hash(Hash *hash, size_t size)
{
    memcpy(hash->state, START, sizeof START);
    hash->state[0] ^= 0x01010000 ^ size;
    hash->n_hashed = 0;
    hash->filled = 0;
    hash->size = size;
}

void
add_to_hash(Hash *hash, Slice data)
{
    while (data.at < data.end) {
        if (hash->filled == sizeof hash->block) { /* and it is not the last */
            hash->n_hashed += sizeof hash->block;
            hash_block(hash, hash->block, false);
            hash->filled = 0;
        }
        for (; !hash->filled && length_of(data) > sizeof hash->block;
             data.at += sizeof hash->block) {
            hash->n_hashed += sizeof hash->block;
            hash_block(hash, data.at, false);
        }
        size_t n = sizeof hash->block - hash->filled;
        if (n > length_of(data))
            n = length_of(data);
        memcpy(hash->block + hash->filled, data.at, n);
        hash->filled += n;
        data.at += n;
    }
}

void
end_hash(Hash *hash, uint8_t *digest)
{
    memset(hash->block + hash->filled, 0, sizeof hash->block - hash->filled);
    hash->n_hashed += hash->filled;
    hash_block(hash, hash->block, true);
    for (size_t n = 0; n < hash->size; n++)
        digest[n] = (uint8_t)(hash->state[n / 8] >> 8 * (n % 8));
}
