/* Memory that grows with what is read; Python has no twin of it. */

#include "mail.h"

#include <stdlib.h>

bool
make_room(Keys *keys, size_t more)
{
    if (keys->room - keys->length >= more)
        return true;
    if (more > SIZE_MAX / sizeof *keys->values / 2 - keys->length)
        return false;
    size_t room = keys->length + (more > keys->length ? more : keys->length);
    uint64_t *values = realloc(keys->values, room * sizeof *values);
    if (!values)
        return false;
    keys->values = values;
    keys->room = room;
    return true;
}

void
release_keys(Keys *keys)
{
    free(keys->values);
    *keys = (Keys){0};
}

enum { BLOCK_SIZE = 1 << 18 }; /* least bytes of a block of an arena */

struct Block {
    Block *next;
    size_t size, used;
    uint64_t words[];
};

void *
grab(Arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    Block *now = arena->now;
    if (!now || now->size - now->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        if (room > SIZE_MAX / 2)
            return NULL;
        Block *block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (Block){NULL, room, 0};
        if (now)
            now->next = block;
        else
            arena->first = block;
        now = arena->now = block;
    }
    void *memory = (uint8_t *)now->words + now->used;
    now->used += size;
    return memory;
}

static void
release_from(Block *block)
{
    while (block) {
        Block *next = block->next;
        free(block);
        block = next;
    }
}

void
empty_arena(Arena *arena)
{
    Block *first = arena->first;
    if (first && first->size > BLOCK_SIZE) {
        release_arena(arena);
    } else if (first) {
        release_from(first->next);
        *first = (Block){NULL, first->size, 0};
        arena->now = first;
    }
}

void
release_arena(Arena *arena)
{
    release_from(arena->first);
    *arena = (Arena){NULL, NULL};
}
