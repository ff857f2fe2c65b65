/* The kinds and folded forms of code points; twin of nbtext/tokens/codepoints.py. */

#include "core.h"

#include <stdlib.h>

static bool
is_indexed(Slice index, Slice values, size_t size)
{
    if (length_of(index) != N_BLOCKS)
        return false;
    for (size_t n = 0; n < N_BLOCKS; n++)
        if ((index.at[n] + (size_t)1) * BLOCK * size > length_of(values))
            return false;
    return true;
}

static bool
is_sound(const TableSource *source)
{
    if (length_of(source->kinds) != N_CLASSES
        || !is_indexed(source->class_index, source->classes, 1)
        || !is_indexed(source->fold_index, source->offsets, 4))
        return false;
    for (const uint8_t *class = source->classes.at; class < source->classes.end; class++)
        if (*class >= N_CLASSES)
            return false;
    for (const uint8_t *kind = source->kinds.at; kind < source->kinds.end; kind++)
        if (*kind > SINGLE)
            return false;
    return true;
}

Filling
fill_tables(Tables *tables, const TableSource *source)
{
    size_t n_classes = length_of(source->classes), n_bytes = length_of(source->offsets);
    if (!is_sound(source))
        return UNSOUND;
    tables->kinds = malloc(n_classes);
    tables->offsets = malloc(n_bytes);
    if (!tables->kinds || !tables->offsets)
        return NO_MEMORY;
    memcpy(tables->kind_index, source->class_index.at, N_BLOCKS);
    memcpy(tables->fold_index, source->fold_index.at, N_BLOCKS);
    memcpy(tables->offsets, source->offsets.at, n_bytes);
    for (size_t n = 0; n < n_classes; n++)
        tables->kinds[n] = source->kinds.at[source->classes.at[n]];
    memcpy(tables->ascii_kinds, tables->kinds + tables->kind_index[0] * BLOCK, 128);
    tables->ascii_kinds[0] = SEPARATOR; /* U+0000 is never part of a token */
    fill_ascii_kinds(tables);
    return FILLED;
}

void
release_tables(Tables *tables)
{
    free(tables->kinds);
    free(tables->offsets);
}
