/* Memory that grows with what is read; Python has no twin of it. */

#include "core.h"

#include <stdlib.h>

bool
make_room(Keys *keys, size_t more)
{
    if (keys->room - keys->length >= more)
        return true;
    if (more > SIZE_MAX / sizeof *keys->values / 2 - keys->length)
        return false;
    size_t room = 2 * keys->length;
    if (room < keys->length + more)
        room = keys->length + more;
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
