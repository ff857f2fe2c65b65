/*
 * A small fuzzer: inputs that reach new edges are kept, and changed further.
 *
 * A target is a program of loop.c and one more file, which says what to do with an input.
 */

#ifndef NBTEXT_LOOP_H
#define NBTEXT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What targets define: the words of their inputs, and what is done with an input. */
extern const char *const words[];
void prepare(const char *folder);
void try_input(const uint8_t *data, size_t length);

/* End the run with the input kept, if something does not hold. */
#define HOLDS(condition)                                                               \
    do {                                                                               \
        if (!(condition))                                                              \
            fail(#condition);                                                          \
    } while (0)

void fail(const char *law);

/* Pseudo-random numbers; those of an input are the same each time it is tried. */
uint64_t random_bits(void);
size_t random_below(size_t n);

/* instrumented.c: let the nth request for memory from now on fail, and all behind it. */
void fail_at(long n);

#endif
