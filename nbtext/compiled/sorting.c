/*
 * Keys in order; Python has no twin of it but sorted().
 *
 * Keys are hashes, so their first bits tell most of them apart. Where they do not,
 * because somebody chose the keys, the next bits that differ are taken: a step of up to
 * 10 bits moves each key once, and parts keys that have two values of them at least. So n
 * keys take at most 64 n moves, whatever they are.
 */

#include "core.h"

enum { FEW = 24, PART_BITS = 10, PARTS = 1 << PART_BITS };

/* How many bits it takes to write a value that is not zero. */
static int
bit_length(uint64_t value)
{
    return 64 - __builtin_clzll(value);
}

/* Sort keys that are FEW. */
static void
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

/* Turn the sizes of parts into the places at which they begin, one behind the other. */
static void
begin_parts(size_t *sizes, size_t n)
{
    for (size_t part = 0, sum = 0, size; part < n; part++, sum += size) {
        size = sizes[part];
        sizes[part] = sum;
    }
}

void
sort_keys(uint64_t *keys, uint64_t *scratch, size_t n)
{
    uint64_t differing = 0;
    for (size_t i = 1; i < n; i++)
        differing |= keys[i] ^ keys[0];
    if (n <= FEW || !differing) {
        insert_keys(keys, n);
        return;
    }
    size_t ends[PARTS] = {0}, start = 0;
    int top = bit_length(differing), bits = bit_length(n) - 1;
    if (bits > PART_BITS)
        bits = PART_BITS;
    if (bits > top)
        bits = top;
    int shift = top - bits;
    uint64_t mask = ((uint64_t)1 << bits) - 1; /* the bits above are the same */
    for (size_t i = 0; i < n; i++)
        ends[keys[i] >> shift & mask]++;
    begin_parts(ends, mask + 1);
    for (size_t i = 0; i < n; i++)
        scratch[ends[keys[i] >> shift & mask]++] = keys[i];
    memcpy(keys, scratch, n * sizeof *keys);
    for (size_t part = 0; shift && part <= mask; start = ends[part++])
        if (ends[part] - start > FEW)
            sort_keys(keys + start, scratch, ends[part] - start);
        else
            insert_keys(keys + start, ends[part] - start);
}
