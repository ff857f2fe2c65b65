/*
 * What the extension is linked with where it is tested: memory that fails when it is told
 * to, and a map of the edges that were reached.
 */

#include <stdint.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

static long left = -1;

/* Let the nth request for memory from now on fail, and all behind it; -1: none. */
EXPORTED void
fail_at(long n)
{
    left = n;
}

static int
is_failing(void)
{
    if (left > 0)
        left--;
    return left == 0;
}

void *
tested_malloc(size_t size)
{
    return is_failing() ? NULL : malloc(size);
}

void *
tested_calloc(size_t n, size_t size)
{
    return is_failing() ? NULL : calloc(n, size);
}

void *
tested_realloc(void *memory, size_t size)
{
    return is_failing() ? NULL : realloc(memory, size);
}

enum { N_EDGES = 1 << 16 };
EXPORTED uint8_t edges[N_EDGES];     /* how often each was taken */
EXPORTED uint16_t reached[N_EDGES];  /* which ones were, in the order of the first time */
EXPORTED size_t n_reached, n_steps;  /* how many of those, and all taken edges */
static __thread uintptr_t before;

/* Called by gcc's -fsanitize-coverage=trace-pc at each edge. */
EXPORTED void
__sanitizer_cov_trace_pc(void)
{
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    uintptr_t edge = (here ^ (before >> 1)) * 0x9E3779B97F4A7C15u >> 48;
    uint8_t taken = edges[edge];
    if (!taken && n_reached < N_EDGES)
        reached[n_reached++] = (uint16_t)edge;
    edges[edge] = (uint8_t)(taken + (taken < 255));
    n_steps++;
    before = here;
}
