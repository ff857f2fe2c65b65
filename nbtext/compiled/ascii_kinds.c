/*
 * The kinds of up to 64 bytes at a time, which tokenizer.c finds tokens by; a part of what
 * nbtext/tokens/tokenizer.py specifies.
 *
 * A kind of ASCII has two bits. Vectors look up both by the lower half of a byte, which
 * tells for each upper half whether the bit is set.
 */

#include "core.h"

#if defined(__x86_64__)
#define HAS_VECTORS
#include <immintrin.h>
#endif

enum { FEWEST = 32 }; /* bytes that it takes vectors for */

void
fill_ascii_kinds(Tables *tables)
{
    memset(tables->halves, 0, sizeof tables->halves);
    for (unsigned byte = 0; byte < 128; byte++)
        for (unsigned bit = 0; bit < 2; bit++)
            if (tables->ascii_kinds[byte] >> bit & 1)
                tables->halves[bit][byte & 15] |= (uint8_t)(1u << (byte >> 4));
#ifdef HAS_VECTORS
    tables->has_vectors = __builtin_cpu_supports("avx2");
#endif
}

/* Read bytes one by one, to the first that is not ASCII. */
static void
read_each(const Tables *tables, const uint8_t *at, size_t n, AsciiKinds *kinds)
{
    uint64_t low = 0, high = 0;
    size_t i = 0;
    for (; i < n && at[i] < 0x80; i++) {
        uint64_t kind = tables->ascii_kinds[at[i]];
        low |= (kind & 1) << i;
        high |= (kind >> 1) << i;
    }
    *kinds = (AsciiKinds){low, high, i};
}

#ifdef HAS_VECTORS

__attribute__((target("avx2"))) static uint32_t
bits_of(const uint8_t *half, __m256i lower, __m256i upper)
{
    const __m128i *row = (const __m128i *)(const void *)half;
    __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128(row));
    __m256i found = _mm256_and_si256(_mm256_shuffle_epi8(table, lower), upper);
    __m256i none = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
    return ~(uint32_t)_mm256_movemask_epi8(none);
}

/* Read 64 bytes; return which of them are not ASCII. */
__attribute__((target("avx2"))) static uint64_t
read_by_vectors(const Tables *tables, const uint8_t *at, AsciiKinds *kinds)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i rows = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
    uint64_t wide = 0;
    kinds->low = kinds->high = 0;
    for (int half = 0; half < 64; half += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + half));
        __m256i lower = _mm256_and_si256(bytes, nibble);
        __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
        upper = _mm256_shuffle_epi8(rows, upper);
        kinds->low |= (uint64_t)bits_of(tables->halves[0], lower, upper) << half;
        kinds->high |= (uint64_t)bits_of(tables->halves[1], lower, upper) << half;
        wide |= (uint64_t)(uint32_t)_mm256_movemask_epi8(bytes) << half;
    }
    return wide;
}

#endif

void
read_ascii_kinds(const Tables *tables, const uint8_t *at, size_t n, AsciiKinds *kinds)
{
#ifdef HAS_VECTORS
    if (n >= FEWEST && tables->has_vectors) {
        uint8_t bytes[64] = {0};
        if (n < sizeof bytes)
            at = memcpy(bytes, at, n);
        uint64_t wide = read_by_vectors(tables, at, kinds);
        kinds->n = wide ? (size_t)__builtin_ctzll(wide) : n;
        return;
    }
#endif
    read_each(tables, at, n, kinds);
}
