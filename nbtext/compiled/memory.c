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
    Block *before;
    size_t size, used;
    uint64_t words[];
};

void *
grab(Arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    Block *last = arena->last;
    if (!last || last->size - last->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        last = room > SIZE_MAX / 2 ? NULL : malloc(sizeof *last + room);
        if (!last)
            return NULL;
        *last = (Block){arena->last, room, 0};
        arena->last = last;
    }
    void *memory = (uint8_t *)last->words + last->used;
    last->used += size;
    return memory;
}

void
empty_arena(Arena *arena)
{
    Block *last = arena->last;
    for (; last && (last->before || last->size > BLOCK_SIZE); last = arena->last) {
        arena->last = last->before;
        free(last);
    }
    if (last)
        last->used = 0;
}

void
release_arena(Arena *arena)
{
    empty_arena(arena);
    free(arena->last);
    arena->last = NULL;
}
