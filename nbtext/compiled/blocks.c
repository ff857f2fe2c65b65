/* Checksums of blocks; twin of nbtext/store/blocks.py. */

#include "model.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define WITH_PRODUCTS __attribute__((target("pclmul,sse4.1")))

static bool has_products; /* the processor multiplies without carries */
#endif

enum { N_TABLES = 16 }; /* bytes of a step */

/* crc_of[n][b]: what the byte b adds to a CRC-32 with n bytes behind it. */
static uint32_t crc_of[N_TABLES][256];

void
fill_crc_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
        crc_of[0][byte] = crc;
    }
    for (int behind = 1; behind < N_TABLES; behind++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t crc = crc_of[behind - 1][byte];
            crc_of[behind][byte] = (crc >> 8) ^ crc_of[0][crc & 255];
        }
#if defined(WITH_PRODUCTS)
    has_products = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
#endif
}

/* What eight bytes add, with `behind` and up to seven more bytes behind each. */
static uint32_t
crc_of_word(uint64_t word, int behind)
{
    uint32_t crc = 0;
    for (int n = behind + 7; n >= behind; n--, word >>= 8)
        crc ^= crc_of[n][word & 255];
    return crc;
}

#if defined(WITH_PRODUCTS)

/* What two halves of 64 bits are, moved forward; the constants say how far. */
WITH_PRODUCTS static inline __m128i
moved(__m128i value, __m128i constants, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(value, constants, 0x00);
    __m128i high = _mm_clmulepi64_si128(value, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/*
 * The same for 64 bytes or more, of which a multiple of 16 is read (Gopal and others,
 * "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel 2009).
 */
WITH_PRODUCTS static uint32_t
crc_by_products(uint32_t crc, const uint8_t *bytes, size_t length)
{
    const __m128i by_64 = _mm_set_epi64x(0x01C6E41596, 0x0154442BD4);
    const __m128i by_16 = _mm_set_epi64x(0x00CCAA009E, 0x01751997D0);
    const __m128i by_8 = _mm_set_epi64x(0, 0x0163CD6124);
    const __m128i barrett = _mm_set_epi64x(0x01F7011641, 0x01DB710641);
    const __m128i lower = _mm_setr_epi32(-1, 0, -1, 0);
    __m128i part[4];
    for (int n = 0; n < 4; n++)
        part[n] = _mm_loadu_si128((const void *)(bytes + 16 * n));
    part[0] = _mm_xor_si128(part[0], _mm_cvtsi32_si128((int)crc));
    for (bytes += 64, length -= 64; length >= 64; bytes += 64, length -= 64)
        for (int n = 0; n < 4; n++)
            part[n] = moved(part[n], by_64, _mm_loadu_si128((const void *)(bytes + 16 * n)));
    __m128i sum = part[0];
    for (int n = 1; n < 4; n++)
        sum = moved(sum, by_16, part[n]);
    for (; length >= 16; bytes += 16, length -= 16)
        sum = moved(sum, by_16, _mm_loadu_si128((const void *)bytes));
    /* from 128 bits to 64, to 32, and what is left by the polynomial */
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by_16, 0x10));
    sum = _mm_xor_si128(_mm_srli_si128(sum, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(sum, lower), by_8, 0x00));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, lower), barrett, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, lower), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1);
}
#endif

/* The CRC-32 of zlib, sixteen bytes a step, or by products of polynomials. */
uint32_t
crc32_of(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
#if defined(WITH_PRODUCTS)
    if (has_products && length >= 64) {
        crc = crc_by_products(crc, bytes, length);
        bytes += length / 16 * 16;
        length %= 16;
    }
#endif
    for (; length >= N_TABLES; bytes += N_TABLES, length -= N_TABLES)
        crc = crc_of_word(word_at(bytes, 8) ^ crc, 8) ^ crc_of_word(word_at(bytes + 8, 8), 0);
    for (; length; bytes++, length--)
        crc = (crc >> 8) ^ crc_of[0][(crc ^ *bytes) & 255];
    return ~crc;
}
