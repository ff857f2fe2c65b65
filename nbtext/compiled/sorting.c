/*
 * Keys in order; Python has no twin of it but sorted().
 *
 * Keys are hashes, so their first bits tell most of them apart. Where they do not,
 * because somebody chose the keys, the next bits that differ are taken: a step of up to
 * 10 bits moves each key once, and parts keys that have two values of them at least. So n
 * keys take at most 64 n moves, whatever they are.
 */

#include "core.h"

enum { STEP_BITS = 10 };

/* How many bits it takes to write a value that is not zero. */
static int
bit_length(uint64_t value)
{
    return 64 - __builtin_clzll(value);
}

void
insert_keys(uint64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        size_t place = i;
        for (; place && keys[place - 1] > key; place--)
            keys[place] = keys[place - 1];
        keys[place] = key;
    }
}

void
sort_keys(uint64_t *keys, uint64_t *scratch, size_t n)
{
    size_t ends[1 << STEP_BITS] = {0}, sum = 0, start = 0;
    uint64_t differing = 0;
    for (size_t i = 1; i < n; i++)
        differing |= keys[i] ^ keys[0];
    if (n <= FEW || !differing) {
        insert_keys(keys, n);
        return;
    }
    int top = bit_length(differing), bits = bit_length(n) - 1;
    if (bits > STEP_BITS)
        bits = STEP_BITS;
    if (bits > top)
        bits = top;
    int shift = top - bits;
    uint64_t mask = ((uint64_t)1 << bits) - 1; /* the bits above are the same */
    for (size_t i = 0; i < n; i++)
        ends[keys[i] >> shift & mask]++;
    for (size_t k = 0; k <= mask; k++) {
        size_t size = ends[k];
        ends[k] = sum;
        sum += size;
    }
    for (size_t i = 0; i < n; i++)
        scratch[ends[keys[i] >> shift & mask]++] = keys[i];
    memcpy(keys, scratch, n * sizeof *keys);
    for (size_t k = 0; shift && k <= mask; k++) {
        if (ends[k] - start > FEW)
            sort_keys(keys + start, scratch, ends[k] - start);
        else
            insert_keys(keys + start, ends[k] - start);
        start = ends[k];
    }
}
