/* Which documents a model has counted; twin of nbtext/store/ledger.py. */

#include "lesson.h"

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

/* Take a value of an array; false if it is damaged. */
static bool
take_value(const Table *table, const Array *array, uint64_t place, uint64_t *value)
{
    if (!verify(table, array, place, place + 1))
        return false;
    *value = value_at(array, place);
    return true;
}

/* Whether the arrays are there, of one length, and of the types that they may have. */
static bool
is_ledger(const LedgerArrays *ledger)
{
    uint64_t length = ledger->high.length;
    return ledger->high.width == 8 && ledger->low.width == 8
           && ledger->fingerprints.width == 8 && ledger->classes.width
           && ledger->counts.width && !ledger->high.is_signed && !ledger->low.is_signed
           && !ledger->fingerprints.is_signed && !ledger->classes.is_signed
           && ledger->low.length == length && ledger->fingerprints.length == length
           && ledger->classes.length == length && ledger->counts.length == length;
}

/* Add a row of a table to those of other tables; false if it cannot be. */
static bool
add_row(const Table *table, uint64_t place, Rows *rows)
{
    const LedgerArrays *ledger = &table->ledger;
    uint64_t fingerprint, class, count;
    size_t bits = 8 * (size_t)ledger->counts.width, n = 0;
    if (!take_value(table, &ledger->fingerprints, place, &fingerprint)
        || !take_value(table, &ledger->classes, place, &class)
        || !take_value(table, &ledger->counts, place, &count)
        || class >= table->n_classes)
        return false;
    if (ledger->counts.is_signed && bits < 64 && count >> (bits - 1))
        count |= ~UINT64_C(0) << bits;
    if ((int64_t)count > MOST_COUNT || (int64_t)count < -MOST_COUNT)
        return false;
    LedgerRow row = {fingerprint, table->places[class], (int64_t)count};
    while (n < rows->n
           && (rows->rows[n].fingerprint != fingerprint || rows->rows[n].class != row.class))
        n++;
    if (n == MOST_ROWS)
        return false;
    if (n < rows->n) {
        rows->rows[n].count += row.count;
        return rows->rows[n].count <= MOST_COUNT && rows->rows[n].count >= -MOST_COUNT;
    }
    rows->rows[rows->n++] = row;
    return true;
}

/* Add the rows of a document in one table, if there are few with its first half. */
static bool
add_rows(const Table *table, uint64_t high, uint64_t low, Rows *rows)
{
    const LedgerArrays *ledger = &table->ledger;
    uint64_t first = 0, end = ledger->high.length, value;
    if (!is_ledger(ledger))
        return false;
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
    Pack halves = {digest, digest + DIGEST_SIZE};
    uint64_t high, low;
    InLedger found = NOT_COUNTED;
    take_bytes(&halves, 8, &high);
    take_bytes(&halves, 8, &low);
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
