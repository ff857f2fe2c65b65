/* The kinds and folded forms of code points; twin of nbtext/tokens/codepoints.py. */

#include "core.h"

#include <stdlib.h>

static bool
are_below(Slice bytes, size_t end)
{
    while (bytes.at < bytes.end && *bytes.at < end)
        bytes.at++;
    return bytes.at == bytes.end;
}

static bool
is_sound(const TableSource *source)
{
    return length_of(source->kinds) == N_CLASSES && are_below(source->kinds, SINGLE + 1)
           && are_below(source->classes, N_CLASSES)
           && length_of(source->class_index) == N_BLOCKS
           && are_below(source->class_index, length_of(source->classes) / BLOCK)
           && length_of(source->fold_index) == N_BLOCKS
           && are_below(source->fold_index, length_of(source->offsets) / BLOCK / 4);
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
