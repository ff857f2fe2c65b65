/* Where the arrays of a table lie in a model file; twin of nbtext/store/table.py. */

#include "model.h"

#include <stdlib.h>

enum { MOST_INDEX_BITS = 32 };

static const uint8_t TRAILER[] = {0x92, 0xA3, 'e', 'n', 'd', 0xCF};
enum { TRAILER_SIZE = sizeof TRAILER + 8 };

/* The types that an array may have, as nbtext/store/schema.py has them. */
static const char WHOLE[] = "u8", PLACES[] = "u1u2u4u8", CODES[] = "u1u2u4", CLASSES[] = "u1u2";
static const char COUNTS[] = "u1u2u4u8i1i2i4i8", BINS[] = "i2", BYTES[] = "u1";

static const Slice NOWHERE = {TRAILER, TRAILER}; /* the name of no view: it is empty */

/* The arrays that are still to be read: what the header says of them, and where they lie. */
typedef struct {
    Pack said;
    Slice file;
    uint64_t end, before; /* where the last one ends, and the one before */
    bool is_sound;
} Reading;

/* Whether a text is others, joined. */
static bool
is_joined(Slice text, const char *first, Slice second, const char *third)
{
    size_t n_first = strlen(first), n_second = length_of(second);
    return length_of(text) >= n_first + n_second && memcmp(text.at, first, n_first) == 0
           && memcmp(text.at + n_first, second.at, n_second) == 0
           && is_equal(slice(text.at + n_first + n_second, text.end), third);
}

/* Take the type and the length of an array. */
static bool
take_type(Pack *pack, const char *types, Array *array)
{
    Slice type;
    int64_t length;
    if (!take_text(pack, &type) || length_of(type) != 2 || !take_integer(pack, &length)
        || length < 0)
        return false;
    for (; *types; types += 2)
        if (memcmp(type.at, types, 2) == 0) {
            *array = (Array){NULL, (uint64_t)length, (uint8_t)(types[1] - '0'), types[0] == 'i'};
            return true;
        }
    return false;
}

/* Find where an array begins, behind the one before. */
static bool
place_array(Reading *reading, Array *array)
{
    uint64_t start = rounded_up(reading->end + KEY_HEAD);
    uint64_t room = length_of(reading->file), n_bytes, said;
    if (start > room || array->length > (room - start) / array->width)
        return false;
    n_bytes = array->length * array->width;
    array->at = reading->file.at + start;
    Pack lead = {array->at - KEY_HEAD, array->at};
    if (!take_byte(&lead, 0xC6) || !take_bytes(&lead, 4, &said) || said != n_bytes)
        return false;
    reading->before = reading->end;
    reading->end = start + n_bytes;
    return true;
}

/* Read the next array, which has that name, and one of those types. */
static Array
next(Reading *reading, const char *prefix, Slice view, const char *name, const char *types)
{
    Array array = {0};
    size_t n;
    Slice found;
    reading->is_sound = reading->is_sound && take_array(&reading->said, &n) && n == 3
                        && take_text(&reading->said, &found)
                        && is_joined(found, prefix, view, name)
                        && take_type(&reading->said, types, &array)
                        && place_array(reading, &array);
    return array;
}

/* Read a view's terms; whether arrays that belong together are of the same length is said. */
static void
read_terms(Reading *reading, Slice view, TermArrays *terms)
{
    terms->buckets = next(reading, "", view, ".buckets", PLACES);
    terms->keys = next(reading, "", view, ".keys", "u4u8");
    terms->codes = next(reading, "", view, ".codes", CODES);
    terms->starts = next(reading, "", view, ".starts", PLACES);
    terms->classes = next(reading, "", view, ".classes", CLASSES);
    terms->columns[0] = next(reading, "", view, ".occurrences", COUNTS);
    terms->columns[1] = next(reading, "", view, ".documents", COUNTS);
    uint64_t n_keys = terms->keys.length, n_entries = terms->classes.length;
    int bits = 0;
    while (bits <= MOST_INDEX_BITS && terms->buckets.length != (UINT64_C(1) << bits) + 1)
        bits++;
    terms->index_bits = bits;
    /* the second only where something may be taken away, as where there are more tables */
    terms->n_read = terms->columns[0].is_signed || terms->columns[1].is_signed ? 2 : 1;
    reading->is_sound &= bits <= MOST_INDEX_BITS && terms->codes.length == n_keys
                         && terms->keys.width == (bits >= IMPLIED_BITS ? 4 : 8)
                         && terms->starts.length == (n_keys + STRIDE - 1) / STRIDE
                         && terms->columns[0].length == n_entries
                         && terms->columns[1].length == n_entries;
}

/* Read what says which documents there are, and something more of each. */
static LedgerArrays
read_documents(Reading *reading, const char *prefix, const char *more, const char *types)
{
    LedgerArrays rows;
    rows.high = next(reading, prefix, NOWHERE, "high", WHOLE);
    rows.low = next(reading, prefix, NOWHERE, "low", WHOLE);
    rows.fingerprints = next(reading, prefix, NOWHERE, "fingerprints", WHOLE);
    rows.classes = next(reading, prefix, NOWHERE, "classes", CLASSES);
    rows.counts = next(reading, prefix, NOWHERE, more, types);
    uint64_t length = rows.high.length;
    reading->is_sound &= rows.low.length == length && rows.fingerprints.length == length
                         && rows.classes.length == length;
    return rows;
}

/* The arrays of a view's undo records. */
typedef struct {
    Array sizes, keys, counts;
} Bags;

/* Find all arrays of a table. */
static bool
find_arrays(Reading *reading, const Header *header, Table *table, Bags *bags)
{
    uint64_t first = rounded_up(reading->end + KEY_HEAD), n_records = (uint64_t)header->records;
    for (size_t view = 0; view < header->n_views; view++)
        read_terms(reading, header->views[view].name, table->views + view);
    if (header->has_ledger) {
        table->ledger = read_documents(reading, "ledger.", "counts", COUNTS);
        reading->is_sound &= table->ledger.counts.length == table->ledger.high.length;
    }
    if (n_records) {
        table->records = read_documents(reading, "undo.", "bins", BINS);
        uint64_t n_bins = table->records.counts.length;
        reading->is_sound &= table->records.high.length == n_records
                             && n_bins % n_records == 0 && n_bins <= n_records;
    }
    for (size_t view = 0; n_records && view < header->n_views; view++, bags++) {
        Slice name = header->views[view].name;
        bags->sizes = next(reading, "undo.", name, ".sizes", PLACES);
        bags->keys = next(reading, "undo.", name, ".keys", WHOLE);
        bags->counts = next(reading, "undo.", name, ".counts", COUNTS);
        reading->is_sound &= bags->sizes.length == n_records
                             && bags->keys.length == bags->counts.length;
    }
    for (size_t view = 0; header->has_texts && view < header->n_views; view++)
        next(reading, "texts.", header->views[view].name, "", BYTES);
    table->checksums = next(reading, "checksums", NOWHERE, "", "u4");
    uint64_t size = reading->before - first;
    if (!reading->is_sound || left_in(&reading->said))
        return false;
    table->contents = slice(reading->file.at + first, reading->file.at + reading->before);
    return table->checksums.length == (size + CHECKED - 1) / CHECKED;
}

/* Whether undo records have as many terms as they say. */
static bool
are_complete(const Table *table, const Bags *bags, size_t n_views)
{
    for (; n_views; n_views--, bags++) {
        uint64_t left = bags->keys.length;
        if (!verify(table, &bags->sizes, 0, bags->sizes.length))
            return false;
        for (uint64_t n = 0; n < bags->sizes.length; n++) {
            uint64_t size = value_at(&bags->sizes, n);
            if (size > left)
                return false;
            left -= size;
        }
        if (left)
            return false;
    }
    return true;
}

Filling
read_table(Slice file, const Header *header, Table *table)
{
    uint64_t end = (uint64_t)(header->end - file.at);
    Reading reading = {header->arrays, file, end, end, true};
    Bags bags[MOST_VIEWS] = {0};
    if (!find_arrays(&reading, header, table, bags))
        return UNSOUND;
    table->length = rounded_up(reading.end + TRAILER_SIZE);
    if (table->length > length_of(file))
        return UNSOUND;
    const uint8_t *trailer = file.at + table->length - TRAILER_SIZE;
    if (memcmp(trailer, TRAILER, sizeof TRAILER) != 0
        || __builtin_bswap64(word_at(trailer + sizeof TRAILER, 8)) != table->length)
        return UNSOUND;
    table->n_classes = header->n_classes;
    table->verified = calloc((size_t)table->checksums.length + 1, 1);
    if (!table->verified)
        return NO_MEMORY;
    if (are_complete(table, bags, header->n_views))
        return FILLED;
    free(table->verified);
    return UNSOUND;
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
        if (__atomic_load_n(table->verified + block, __ATOMIC_RELAXED))
            continue; /* threads may read a model at the same time */
        const uint8_t *at = table->contents.at + block * CHECKED;
        size_t left = (size_t)(table->contents.end - at);
        if (crc32_of(at, left < CHECKED ? left : CHECKED)
            != value_at(&table->checksums, block))
            return false;
        __atomic_store_n(table->verified + block, 1, __ATOMIC_RELAXED);
    }
    return true;
}
