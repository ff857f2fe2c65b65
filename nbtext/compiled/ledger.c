/* Which documents a model has counted; twin of nbtext/store/ledger.py. */

#include "model.h"

enum { MOST_ROWS = 64 };

/* A row, added up over the tables: a class, and what the counts are known by. */
typedef struct {
    uint64_t fingerprint;
    size_t class;
    int64_t count;
} LedgerRow;

typedef struct {
    LedgerRow rows[MOST_ROWS];
    size_t n;
} Rows;

/* The number that half of a digest is in the ledger. */
static uint64_t
half_of(const uint8_t *digest)
{
    Pack pack = {digest, digest + 8};
    uint64_t half;
    take_bytes(&pack, 8, &half);
    return half;
}

/* Take a value of an array; false if it is damaged. */
static bool
take_value(const Table *table, const Array *array, uint64_t place, uint64_t *value)
{
    if (!verify(table, array, place, place + 1))
        return false;
    *value = value_at(array, place);
    return true;
}

/* Add a row of a table to those of other tables; false if it cannot be. */
static bool
add_row(const Table *table, uint64_t place, Rows *rows)
{
    const LedgerArrays *ledger = &table->ledger;
    uint64_t fingerprint, class;
    size_t n = 0;
    if (!take_value(table, &ledger->fingerprints, place, &fingerprint)
        || !take_value(table, &ledger->classes, place, &class) || class >= table->n_classes
        || !verify(table, &ledger->counts, place, place + 1))
        return false;
    LedgerRow *row = rows->rows;
    for (; n < rows->n; n++, row++)
        if (row->fingerprint == fingerprint && row->class == table->places[class])
            break;
    if (n == MOST_ROWS)
        return false;
    if (n == rows->n)
        rows->rows[rows->n++] = (LedgerRow){fingerprint, table->places[class], 0};
    return add_number(&ledger->counts, place, &row->count);
}

/* Add the rows of a document in one table, if there are few with its first half. */
static bool
add_rows(const Table *table, uint64_t high, uint64_t low, Rows *rows)
{
    const LedgerArrays *ledger = &table->ledger;
    uint64_t first = 0, end = ledger->high.length, value;
    if (!ledger->high.width)
        return false; /* there is no ledger */
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (!take_value(table, &ledger->high, middle, &value))
            return false;
        if (value < high)
            first = middle + 1;
        else
            end = middle;
    }
    for (end = first + MOST_ROWS; first < ledger->high.length; first++) {
        if (first == end || !take_value(table, &ledger->high, first, &value))
            return false;
        if (value != high)
            return true;
        if (!take_value(table, &ledger->low, first, &value))
            return false;
        if (value == low && !add_row(table, first, rows))
            return false;
    }
    return true;
}

InLedger
look_up(const Model *model, const uint8_t *digest, size_t class)
{
    Rows rows = {.n = 0};
    InLedger found = NOT_COUNTED;
    uint64_t high = half_of(digest), low = half_of(digest + 8);
    for (size_t n = 0; n < model->n_tables; n++)
        if (!add_rows(model->tables + n, high, low, &rows))
            return NOT_SAID;
    for (size_t n = 0; n < rows.n; n++) {
        if (rows.rows[n].count <= 0)
            continue;
        if (rows.rows[n].class != class)
            return COUNTED_ELSEWHERE;
        found = COUNTED_HERE;
    }
    return found;
}
