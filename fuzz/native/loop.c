/* The loop, the pool of inputs and how they are changed; see loop.h. */

#include "loop.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 16384, N_EDGES = 1 << 16, REPORT = 60 };
enum { MOST_STEPS = 400 }; /* edges for a byte of the longest input */
enum { SECONDS_EACH = 10 };  /* of processor time, for what takes no steps */


extern uint8_t edges[N_EDGES]; /* instrumented.c */
extern uint16_t reached[N_EDGES];
extern size_t n_reached, n_steps;

typedef struct {
    uint8_t *data;
    size_t length;
} Input;

static struct {
    Input *inputs;
    size_t length, room;
} pool;

/* The input that is tried, in a file, so that it is there when a sanitizer stops. */
typedef struct {
    uint64_t length;
    uint8_t data[LONGEST];
} Last;

static Last *last;
static bool are_chosen; /* nothing is changed: seeds that reach edges of their own are kept */
static uint8_t known[N_EDGES];
static Input current;
static const char *kept = ".";
static uint64_t state = 1, n_run, n_new;
static size_t n_words;
static time_t started;

uint64_t
random_bits(void)
{
    state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t bits = state;
    bits = (bits ^ bits >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94D049BB133111EB);
    return bits ^ bits >> 31;
}

size_t
random_below(size_t n)
{
    return (size_t)(random_bits() % n);
}

static uint64_t
hash_of(const uint8_t *data, size_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t n = 0; n < length; n++)
        hash = (hash ^ data[n]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 32;
}

/* --- what was found --------------------------------------------------------------- */

static void
write_input(void)
{
    char path[4096];
    uint64_t hash = hash_of(current.data, current.length);
    snprintf(path, sizeof path, "%s/%016llx", kept, (unsigned long long)hash);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(current.data, 1, current.length, file) != current.length)
        _exit(2);
    fclose(file);
}

void
fail(const char *law)
{
    fprintf(stderr, "does not hold: %s\n", law);
    abort(); /* which the sanitizer tells */
}

static void
on_alarm(int number)
{
    static const char SAID[] = "an input takes too long\n";
    (void)number;
    _exit(write(2, SAID, sizeof SAID - 1) > 0 ? 1 : 2);
}

/* --- inputs ----------------------------------------------------------------------- */

static void
keep(void)
{
    if (pool.length == pool.room) {
        pool.room = 2 * pool.room + 1024;
        pool.inputs = realloc(pool.inputs, pool.room * sizeof *pool.inputs);
    }
    uint8_t *copy = malloc(current.length + 1);
    if (!pool.inputs || !copy)
        _exit(2);
    memcpy(copy, current.data, current.length);
    pool.inputs[pool.length++] = (Input){copy, current.length};
}

/* How often an edge was reached, told apart coarsely, as AFL does. */
static uint8_t
class_of(uint8_t n)
{
    return n < 3 ? n : n < 4 ? 4 : n < 8 ? 8 : n < 16 ? 16 : n < 32 ? 32 : n < 128 ? 64 : 128;
}

/* Whether an edge was reached for the first time, or more often than ever. */
static bool
is_new(void)
{
    bool found = false;
    for (size_t n = 0; n < n_reached; n++) {
        uint8_t class = are_chosen ? 1 : class_of(edges[reached[n]]);
        found |= (class & ~known[reached[n]]) != 0;
        known[reached[n]] |= class;
        edges[reached[n]] = 0;
    }
    n_reached = 0;
    return found;
}

/* Try the current input; tell whether it reached something new. */
static bool
run(void)
{
    /* of its very size, so that the sanitizer sees what is read behind it */
    uint8_t *data = malloc(current.length ? current.length : 1);
    if (!data)
        _exit(2);
    memcpy(data, current.data, current.length);
    static const struct itimerval each = {{0, 0}, {SECONDS_EACH, 0}};
    uint64_t own = state;
    last->length = current.length;
    state = hash_of(current.data, current.length);
    n_steps = 0;
    if (++n_run % 64 == 1)
        setitimer(ITIMER_VIRTUAL, &each, NULL);
    try_input(data, current.length);
    state = own;
    free(data);
    HOLDS(n_steps <= MOST_STEPS * (current.length + LONGEST)); /* time is linear */
    return is_new();
}

/* Replace bytes of the current input by others, as far as there is room. */
static void
splice(size_t start, size_t n_gone, const uint8_t *piece, size_t length)
{
    static uint8_t copy[LONGEST];
    if (length > LONGEST || current.length - n_gone + length > LONGEST)
        return;
    if (length) /* it may be of the same input */
        memcpy(copy, piece, length);
    memmove(current.data + start + length, current.data + start + n_gone,
            current.length - start - n_gone);
    if (length)
        memcpy(current.data + start, copy, length);
    current.length += length - n_gone;
}

static size_t
smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Overwrite a number of 1 to 8 bytes with one at the edge of something. */
static void
put_number(size_t start)
{
    static const uint64_t EDGES[] = {
        0, 1, 2, 15, 16, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000,
        0xFFFFFFFF, UINT64_C(1) << 53, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX,
    };
    size_t width = (size_t)1 << random_below(4), place = random_below(sizeof EDGES / 8);
    uint64_t number = EDGES[place] + random_below(3) - 1;
    bool is_big = random_below(2);
    if (width > current.length - start)
        return;
    for (size_t n = 0; n < width; n++) {
        size_t shift = 8 * (is_big ? width - 1 - n : n);
        current.data[start + n] = (uint8_t)(number >> shift);
    }
}

/* Change the current input in one place. */
static void
change(const Input *other)
{
    static const size_t GONE[] = {0, 0, 1, 1, 4, 30, 300}, PIECES[] = {2, 10, 60, 400};
    size_t start = random_below(current.length + 1);
    size_t n_gone = smaller(GONE[random_below(7)], current.length - start);
    uint8_t byte = (uint8_t)random_bits();
    const char *word = words[random_below(n_words)];
    const Input *source = random_below(2) ? other : &current;
    size_t from = random_below(source->length + 1);
    size_t length = smaller(PIECES[random_below(4)], source->length - from);
    switch (random_below(8)) {
    case 0:
        splice(start, n_gone, NULL, 0);
        break;
    case 1:
        splice(start, n_gone, &byte, 1);
        break;
    case 2:
        if (start < current.length)
            current.data[start] ^= (uint8_t)(1 << random_below(8));
        break;
    case 3:
        put_number(start);
        break;
    case 4:
    case 5: /* the first byte says how long it is, so that it may have zeros */
        splice(start, n_gone, (const uint8_t *)word + 1, (uint8_t)*word);
        break;
    default:
        splice(start, n_gone, source->data + from, length);
        for (size_t n = random_below(16) ? 0 : random_below(40); n; n--)
            splice(start, 0, current.data + start, smaller(length, current.length - start));
    }
}

static const Input *
any_input(void)
{
    /* small ones are quick, and late ones are of what is hardly known */
    size_t first = random_below(4) ? 0 : pool.length - smaller(pool.length, 64);
    const Input *one = pool.inputs + first + random_below(pool.length - first);
    for (int n = random_below(16) ? 5 : 0; n; n--) {
        const Input *two = pool.inputs + first + random_below(pool.length - first);
        one = two->length < one->length ? two : one;
    }
    return one;
}

static void
next_input(void)
{
    static const int TIMES[] = {1, 1, 2, 3, 5, 8};
    const Input *input = any_input(), *other = any_input();
    memcpy(current.data, input->data, input->length);
    current.length = input->length;
    for (int n = TIMES[random_below(6)]; n; n--)
        change(other);
}

/* --- seeds ------------------------------------------------------------------------ */

static void
read_file(const char *path, off_t size, uint64_t *n_seeds)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    /* of a long file, an mbox or a table of texts, all pieces */
    for (off_t at = 0; at == 0 || at < size; at += LONGEST) {
        current.length = fread(current.data, 1, LONGEST, file);
        (*n_seeds)++;
        if (!run())
            continue;
        keep();
        if (are_chosen)
            write_input();
    }
    fclose(file);
}

static void
read_folder(const char *folder, uint64_t *n_seeds)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int k = 0; k < n; k++) {
        char path[4096];
        struct stat status;
        bool is_hidden = entries[k]->d_name[0] == '.';
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        free(entries[k]);
        if (is_hidden || lstat(path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            read_folder(path, n_seeds);
        else if (S_ISREG(status.st_mode))
            read_file(path, status.st_size, n_seeds);
    }
    if (n >= 0)
        free(entries);
}

static void
map_last(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/.last", kept);
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (descriptor < 0 || ftruncate(descriptor, sizeof *last) != 0)
        _exit(2);
    last = mmap(NULL, sizeof *last, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (last == MAP_FAILED)
        _exit(2);
    current.data = last->data;
    close(descriptor);
}

static void
report(void)
{
    size_t n_edges = 0;
    for (size_t n = 0; n < N_EDGES; n++)
        n_edges += known[n] != 0;
    fprintf(stderr, "%llu executions, %zu edges, %zu inputs in the pool, %llu new, %lld s\n",
            (unsigned long long)n_run, n_edges, pool.length, (unsigned long long)n_new,
            (long long)(time(NULL) - started));
}

int
main(int n, char **arguments)
{
    uint64_t n_seeds = 0;
    if (n < 6) {
        fprintf(stderr, "%s TABLES KEPT SECONDS RUNS SEED FOLDER...\n", arguments[0]);
        return 2;
    }
    while (words[n_words])
        n_words++;
    kept = arguments[2];
    map_last();
    started = time(NULL);
    time_t end = started + atol(arguments[3]), told = started;
    uint64_t most = strtoull(arguments[4], NULL, 10);
    signal(SIGVTALRM, on_alarm);
    prepare(arguments[1]);
    are_chosen = most == 0;
    for (int k = 6; k < n; k++)
        read_folder(arguments[k], &n_seeds);
    if (!are_chosen)
        read_folder(kept, &n_seeds);
    if (!pool.length)
        keep();
    fprintf(stderr, "%llu seeds\n", (unsigned long long)n_seeds);
    report();
    state = strtoull(arguments[5], NULL, 10);
    for (time_t now = started; now < end && n_run < most; now = time(NULL)) {
        for (int k = 0; k < 256 && n_run < most; k++) {
            next_input();
            if (!run())
                continue;
            n_new++;
            keep();
            write_input();
        }
        if (now - told >= REPORT) {
            told = now;
            report();
        }
    }
    report();
    return 0;
}
