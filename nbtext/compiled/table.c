/* Where the arrays of a table lie in a model file; twin of nbtext/store/table.py. */

#include "model.h"

#include <stdlib.h>

enum { STRIDE = 16, MOST_INDEX_BITS = 32, IMPLIED_BITS = 16 };

static const uint8_t TRAILER[] = {0x92, 0xA3, 'e', 'n', 'd', 0xCF};
enum { TRAILER_SIZE = sizeof TRAILER + 8 };

static const uint8_t LEDGER_NAME[] = {'l', 'e', 'd', 'g', 'e', 'r'};

/* Take what is said of an array: its name, type and length. */
static bool
take_array_of(Pack *pack, Slice *name, Array *array)
{
    size_t n;
    Slice type;
    int64_t length;
    if (!take_array(pack, &n) || n != 3 || !take_text(pack, name)
        || !take_text(pack, &type) || !take_integer(pack, &length) || length < 0
        || length_of(type) != 2)
        return false;
    uint8_t digit = type.at[1];
    array->is_signed = type.at[0] == 'i';
    array->width = (uint8_t)(digit - '0');
    array->length = (uint64_t)length;
    return (type.at[0] == 'u' || type.at[0] == 'i')
           && (digit == '1' || digit == '2' || digit == '4' || digit == '8');
}

/* Find where an array begins, behind what ends at `end`; set `end` to where it ends. */
static bool
place_array(Slice file, uint64_t *end, Array *array)
{
    uint64_t start = rounded_up(*end + KEY_HEAD);
    uint64_t room = length_of(file), n_bytes;
    if (start > room || array->length > (room - start) / array->width)
        return false;
    n_bytes = array->length * array->width;
    Pack lead = {file.at + start - KEY_HEAD, file.at + start};
    uint64_t said;
    if (!take_byte(&lead, 0xC6) || !take_bytes(&lead, 4, &said) || said != n_bytes)
        return false;
    array->at = file.at + start;
    *end = start + n_bytes;
    return true;
}

/* Return what is behind a name of a view and a dot; NULL if something else is. */
static const uint8_t *
behind(Slice name, Slice view)
{
    size_t length = length_of(view);
    if (length_of(name) <= length || memcmp(name.at, view.at, length) != 0
        || name.at[length] != '.')
        return NULL;
    return name.at + length + 1;
}

/* Keep an array if it is one of a view's terms. */
static void
keep_array(TermArrays *terms, Slice name, const Array *array)
{
    static const char *const NAMES[] = {"buckets", "keys", "codes", "starts", "classes"};
    Array *const arrays[] = {&terms->buckets, &terms->keys, &terms->codes,
                             &terms->starts, &terms->classes};
    for (size_t n = 0; n < 5; n++)
        if (is_equal(name, NAMES[n])) {
            *arrays[n] = *array;
            return;
        }
    /* the columns stand behind the classes; of several the first is what is counted */
    if (terms->classes.width && terms->n_columns < MOST_COLUMNS)
        terms->columns[terms->n_columns++] = *array;
}

/* Keep an array if it is one of the ledger. */
static void
keep_ledger(LedgerArrays *ledger, Slice name, const Array *array)
{
    static const char *const NAMES[] = {"high", "low", "fingerprints", "classes", "counts"};
    Array *const arrays[] = {&ledger->high, &ledger->low, &ledger->fingerprints,
                             &ledger->classes, &ledger->counts};
    for (size_t n = 0; n < 5; n++)
        if (is_equal(name, NAMES[n]))
            *arrays[n] = *array;
}

/* Whether arrays that belong together are of the same length, and of possible types. */
static bool
are_alike(TermArrays *terms, size_t n_columns)
{
    const Array *buckets = &terms->buckets, *keys = &terms->keys;
    if (!buckets->width || !keys->width || !terms->codes.width || !terms->starts.width
        || terms->n_columns != n_columns || buckets->is_signed || keys->is_signed
        || terms->codes.is_signed || terms->starts.is_signed
        || terms->classes.is_signed || keys->length != terms->codes.length)
        return false;
    for (size_t n = 0; n < n_columns; n++)
        if (terms->columns[n].length != terms->classes.length)
            return false;
    for (terms->index_bits = 0; terms->index_bits <= MOST_INDEX_BITS; terms->index_bits++)
        if (buckets->length == (UINT64_C(1) << terms->index_bits) + 1)
            break;
    return terms->index_bits <= MOST_INDEX_BITS
           && keys->width == (terms->index_bits >= IMPLIED_BITS ? 4 : 8)
           && terms->starts.length == (keys->length + STRIDE - 1) / STRIDE;
}

/* Find all arrays, the last of which has the checksums; `end` is where that ends. */
static bool
find_arrays(Slice file, const Header *header, Table *table, uint64_t *end)
{
    Pack pack = header->arrays;
    Slice name = {NULL, NULL};
    const Slice LEDGER = slice(LEDGER_NAME, LEDGER_NAME + sizeof LEDGER_NAME);
    uint64_t first = rounded_up(*end + KEY_HEAD), before = *end;
    for (size_t n = 0; n < header->n_arrays; n++) {
        Array array = {0};
        before = *end;
        if (!take_array_of(&pack, &name, &array) || !place_array(file, end, &array))
            return false;
        for (size_t view = 0; view < header->n_views; view++) {
            const uint8_t *rest = behind(name, header->views[view].name);
            if (rest)
                keep_array(table->views + view, slice(rest, name.end), &array);
        }
        const uint8_t *of_ledger = behind(name, LEDGER);
        if (of_ledger)
            keep_ledger(&table->ledger, slice(of_ledger, name.end), &array);
        table->checksums = array;
    }
    if (!name.at || !is_equal(name, "checksums") || before < first
        || table->checksums.width != 4)
        return false;
    table->contents = slice(file.at + first, file.at + before);
    for (size_t view = 0; view < header->n_views; view++)
        if (!are_alike(table->views + view, header->views[view].n_columns))
            return false;
    return table->checksums.length == (before - first + CHECKED - 1) / CHECKED;
}

Filling
read_table(Slice file, const Header *header, Table *table)
{
    uint64_t end = (uint64_t)(header->end - file.at), said;
    if (!find_arrays(file, header, table, &end))
        return UNSOUND;
    table->length = rounded_up(end + TRAILER_SIZE);
    if (table->length > length_of(file))
        return UNSOUND;
    Pack trailer = {file.at + table->length - TRAILER_SIZE, file.at + table->length};
    for (size_t n = 0; n < sizeof TRAILER; n++)
        if (!take_byte(&trailer, TRAILER[n]))
            return UNSOUND;
    if (!take_bytes(&trailer, 8, &said) || said != table->length)
        return UNSOUND;
    table->n_classes = header->n_classes;
    table->verified = calloc((size_t)table->checksums.length + 1, 1);
    return table->verified ? FILLED : NO_MEMORY;
}

bool
verify(const Table *table, const Array *array, uint64_t first, uint64_t end)
{
    if (first >= end)
        return true;
    uint64_t start = (uint64_t)(array->at - table->contents.at);
    uint64_t block = (start + first * array->width) / CHECKED;
    uint64_t last = (start + end * array->width - 1) / CHECKED;
    for (; block <= last; block++) {
        if (table->verified[block])
            continue;
        const uint8_t *at = table->contents.at + block * CHECKED;
        size_t left = (size_t)(table->contents.end - at);
        if (crc32_of(at, left < CHECKED ? left : CHECKED)
            != value_at(&table->checksums, block))
            return false;
        table->verified[block] = 1;
    }
    return true;
}
