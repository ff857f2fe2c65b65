/* Which documents a model has counted; twin of nbtext/store/ledger.py. */

#include "model.h"

#include <stddef.h>

/* Take a value of an array; false if it is damaged. */
static bool
take_value(const Table *table, const Array *array, uint64_t place, uint64_t *value)
{
    if (!verify(table, array, place, place + 1))
        return false;
    *value = value_at(array, place);
    return true;
}

/* Take a row of a table's documents; false if it is damaged. */
static bool
take_row(const Table *table, const LedgerArrays *documents, uint64_t place, LedgerRow *row)
{
    const Array *counts = &documents->counts;
    row->count = counts->length ? 0 : NO_BIN;
    if (!take_value(table, &documents->high, place, &row->high)
        || !take_value(table, &documents->low, place, &row->low)
        || !take_value(table, &documents->fingerprints, place, &row->fingerprint)
        || !take_value(table, &documents->classes, place, &row->class)
        || row->class >= table->n_classes)
        return false;
    row->class = table->places[row->class];
    return !counts->length
           || (verify(table, counts, place, place + 1) && add_number(counts, place, &row->count));
}

/* Whether two rows are the same but for what is counted. */
static bool
are_same(const LedgerRow *one, const LedgerRow *other)
{
    return memcmp(one, other, offsetof(LedgerRow, count)) == 0;
}

/* Add a row to those of other tables; false if it cannot be. */
static bool
add_row(LedgerRow new, Rows *rows)
{
    LedgerRow *row = rows->rows, *end = row + rows->n;
    while (row < end && !are_same(row, &new))
        row++;
    if (row < end)
        new.count += row->count;
    else if (rows->n++ == MOST_ROWS)
        return false;
    *row = new;
    return new.count >= -MOST_COUNT && new.count <= MOST_COUNT;
}

/* Add the rows of a document in one table, if there are few with its first half. */
static bool
add_rows(const Table *table, LedgerRow new, Rows *rows)
{
    const LedgerArrays *ledger = &table->ledger;
    uint64_t first = 0, end = ledger->high.length, high = new.high, low = new.low;
    if (!ledger->high.width)
        return false; /* there is no ledger */
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (!take_value(table, &ledger->high, middle, &new.high))
            return false;
        if (new.high < high)
            first = middle + 1;
        else
            end = middle;
    }
    for (end = first + MOST_ROWS; first < ledger->high.length; first++) {
        if (first == end || !take_value(table, &ledger->high, first, &new.high))
            return false;
        if (new.high != high)
            return true;
        if (!take_row(table, ledger, first, &new) || (new.low == low && !add_row(new, rows)))
            return false;
    }
    return true;
}

/* Return where the score of the one document of a class fell that a table adds. */
static int64_t
only_bin(const Model *model, const Table *table, uint64_t class)
{
    Pack pack = table->held_out;
    size_t length, n_found = 0;
    int64_t bin, n, found = NO_BIN;
    Slice name;
    take_array(&pack, &length); /* as it was when the header was read */
    for (; length && take_held_out(&pack, &bin, &name, &n); length--)
        if (n > 0 && is_same(name, model->first.classes[class])) {
            found = bin;
            n_found++;
        }
    return n_found == 1 ? found : NO_BIN;
}

/* Look in a table for the record of a row: if it has none, a table that adds one document to
   a class, and takes none of its others away, is a record itself. False if it is damaged. */
static bool
find_record(const Model *model, const Table *table, LedgerRow *row, bool *is_found)
{
    bool is_own = !table->records.high.length;
    const LedgerArrays *documents = is_own ? &table->ledger : &table->records;
    int64_t n_added = 0;
    uint64_t n_terms = 0, n_rows = documents->high.length;
    for (size_t n = 0; is_own && n < model->first.n_views; n++)
        n_terms += table->views[n].keys.length;
    for (uint64_t n = n_terms > MOST_OWN ? n_rows : 0; n < n_rows && n_added < 2; n++) {
        LedgerRow other;
        if (!take_row(table, documents, n, &other))
            return false;
        if (is_own && other.count <= 0)
            n_added += other.class == row->class ? 2 : 0;
        else if (are_same(&other, row)) {
            row->bin = is_own ? only_bin(model, table, row->class) : other.count;
            *is_found = true;
            n_rows = is_own ? n_rows : 0; /* no other record is looked at */
        }
        n_added += is_own && other.count > 0 ? other.count : 0;
    }
    *is_found &= n_added < 2;
    return true;
}

bool
find_rows(const Model *model, const uint8_t *digest, Rows *rows)
{
    const LedgerRow new = {.high = __builtin_bswap64(word_at(digest, 8)),
                           .low = __builtin_bswap64(word_at(digest + 8, 8))};
    rows->n = 0;
    for (size_t n = 0; n < model->n_tables; n++)
        if (!add_rows(model->tables + n, new, rows))
            return false;
    for (LedgerRow *row = rows->rows; row < rows->rows + rows->n; row++) {
        bool is_found = row->count <= 0;
        for (size_t n = model->n_tables; n && !is_found; n--)
            if (!find_record(model, model->tables + n - 1, row, &is_found))
                return false;
        row->bin = is_found ? row->bin : NO_BIN;
    }
    return true;
}
