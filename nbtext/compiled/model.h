/*
 * A model file, read where it lies, for the score of one message.
 *
 * Only what is plain is read: mail, two classes, the mean score, calibrated, no correction,
 * tables where they were written. What the policies say is Python's to read, and all else
 * is refused: Python reads it, and says what is wrong with it. No length is believed before it is held against the bytes
 * that are there, and no count before the checksum of its block.
 */

#ifndef NBTEXT_MODEL_H
#define NBTEXT_MODEL_H

#include "mail.h"

enum { MOST_TABLES = 512, N_COLUMNS = 2 }; /* of a view: occurrences, documents */

/* No count is larger: each is the same as a floating-point number. */
#define MOST_COUNT (INT64_C(1) << 53)
#define MOST_HELD_OUT (INT64_C(1) << 40) /* documents in a bin */

/* Of the file, and of the table of code points. */
enum { FORMAT_VERSION = 3, CODE_POINTS = 3 };

/* --- msgpack.c -------------------------------------------------------------------- */

/* What is left of values of msgpack; what takes one returns false, and takes nothing, if it is
   none such. */
typedef Slice Pack;

enum { NIL = 0xC0 };

static inline size_t
left_in(const Pack *pack)
{
    return length_of(*pack);
}

/* Take a number of so many bytes, the highest first. */
bool take_bytes(Pack *pack, size_t n, uint64_t *number);
/* Take one byte and no other. */
bool take_byte(Pack *pack, uint8_t byte);
/* Take what begins an array or a map, which is no longer than there are bytes left. */
bool take_array(Pack *pack, size_t *length);
bool take_map(Pack *pack, size_t *length);
bool take_text(Pack *pack, Slice *text);
/* Take one text and no other. */
bool take_name(Pack *pack, const char *name);
bool take_bool(Pack *pack, bool *value);
/* Take a number from -MOST_COUNT to MOST_COUNT. */
bool take_integer(Pack *pack, int64_t *number);
/* Take a finite number. */
bool take_double(Pack *pack, double *number);
/* Pass over one value, with all that is in it. */
bool pass_over(Pack *pack);

/* --- header.c --------------------------------------------------------------------- */

/* Which texts a view reads, and how, as `nbtext.settings.View`. */
typedef struct {
    Slice name, text, alphabet;
    bool tokens, pairs, fold_tokens, fold_pairs, fields;
    int64_t limit; /* 0 if there is none */
} ViewSettings;

typedef struct {
    double smoothing, least; /* the parameter min_evidence */
} MeanScoring;

typedef struct {
    double slope, offset;
} Fit;

enum { FARTHEST_BIN = 4096 }; /* of 1/16 nat */

/* The header of a table, as far as it is used; texts lie in the file. */
typedef struct {
    Slice settings; /* as they are packed */
    ViewSettings views[MOST_VIEWS];
    size_t n_views, n_classes;
    MeanScoring scoring;
    Slice classes[2];
    int64_t documents[2], totals[MOST_VIEWS][2][N_COLUMNS];
    Fit fit;
    bool has_ledger, has_texts;
    Slice packed_scoring, packed_scores, packed_policy; /* as they are packed, */
    Pack held_out;     /* and what calibration counts: bins, names of classes, numbers */
    int64_t records, keep; /* how many undo records there are, and shall be kept */
    int64_t offset; /* where the table was appended; -1 if it stands for itself */
    Pack arrays;    /* names, types and lengths */
    const uint8_t *end;
} Header;

/* Read the header at the beginning of some bytes; false if it is not as said above. */
bool read_header(Slice data, Header *header);
/* Take how many documents of a class have scores in a bin. */
bool take_held_out(Pack *pack, int64_t *bin, Slice *class, int64_t *documents);

/* --- blocks.c --------------------------------------------------------------------- */

enum { CHECKED = 1024 }; /* bytes of a block */

/* Compute what checksums are made with. */
void fill_crc_tables(void);
uint32_t crc32_of(const uint8_t *bytes, size_t length);

/* --- table.c ---------------------------------------------------------------------- */

/* An array in the file. */
typedef struct {
    const uint8_t *at;
    uint64_t length;
    uint8_t width; /* of a value in bytes: 1, 2, 4 or 8; 0 if there is no array */
    bool is_signed;
} Array;

/* What is counted of a term in each class; LOOK_IT_UP if the file says more. */
#define LOOK_IT_UP UINT32_MAX
typedef struct {
    uint32_t key; /* its lower bits: the others are those of its bucket */
    uint32_t counts[2];
} KeptTerm;

enum { A_BUCKET = 4 }; /* terms of one, about */

/* The terms of a view in memory, sorted, and where those of each bucket begin. */
typedef struct {
    KeptTerm *terms; /* and A_BUCKET more; NULL if they lie in the file alone */
    uint32_t *buckets; /* which lie behind them */
    int bits; /* of a key that are its bucket, two to the power of which there are */
} Kept;

/* The arrays of a view's terms, as `nbtext.store.schema.TermArrays`. */
typedef struct {
    Array buckets, keys, codes, starts, classes, columns[N_COLUMNS];
    size_t n_read; /* how many columns are read */
    int index_bits;
    Kept kept; /* what they say, once all blocks are verified */
} TermArrays;

/* The arrays of the documents that are counted; of no width if there are none. */
typedef struct {
    Array high, low, fingerprints, classes, counts;
} LedgerArrays;

typedef struct {
    Slice contents;     /* all arrays */
    Array checksums;    /* one for each block of them */
    uint8_t *verified;  /* not zero for a block that was verified */
    TermArrays views[MOST_VIEWS];
    LedgerArrays ledger, records; /* the counts of undo records are bins */
    Pack held_out;      /* as the header has it */
    Slice policy;
    size_t n_classes;
    uint8_t places[2];  /* of its classes among the model's */
    uint64_t length;
} Table;

enum { ALIGNMENT = 64, KEY_HEAD = 5 }; /* of arrays and tables; bytes before an array */
enum { STRIDE = 16, IMPLIED_BITS = 16 }; /* terms of a start; bits a bucket implies */

/* The next multiple of the alignment. */
static inline uint64_t
rounded_up(uint64_t length)
{
    return (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Find the arrays of a table; `file` begins with it. `verified` is the caller's to free. */
Filling read_table(Slice file, const Header *header, Table *table);
/* Verify the blocks that values of an array lie in, of which there are as many. */
bool verify(const Table *table, const Array *array, uint64_t first, uint64_t end);

/* A value of an array; its place is the caller's to check. */
static inline uint64_t
value_at(const Array *array, uint64_t place)
{
    const uint8_t *at = array->at + place * array->width;
    switch (array->width) { /* each with a length that the compiler knows */
    case 1:
        return at[0];
    case 2:
        return word_at(at, 2);
    case 4:
        return word_at(at, 4);
    default:
        return word_at(at, 8);
    }
}

/* --- model.c ---------------------------------------------------------------------- */

/* What the tables behind the first change of a term, by class. */
typedef struct {
    uint64_t key;
    int64_t columns[2][N_COLUMNS];
} Change;

/* Changes of a view, in slots, two to the power of `bits`; NULL if there are none. */
typedef struct {
    Change *changes;
    size_t n;
    int bits;
    uint64_t secret; /* odd: what chooses slots */
} Tail;

typedef struct {
    Header first; /* its documents and totals are those of all tables */
    Header last;  /* of which nothing is used but what is packed, keep and fit */
    Table *tables;
    size_t n_tables;
    uint64_t size; /* of all tables, in bytes */
    bool has_tail; /* whether terms are looked up in the first table and in the tails */
    Tail tails[MOST_VIEWS];
} Model;

typedef struct {
    int64_t columns[2][N_COLUMNS]; /* by class */
} Counts;

typedef enum { UNKNOWN_TERM, KNOWN_TERM, IS_DAMAGED } Lookup;

/* What is found of a term: what is counted of it in each class. */
typedef struct {
    Lookup lookup;
    int64_t counts[2];
} Found;

enum { AT_ONCE = 32 }; /* terms that memory is asked for before any of them is looked up */

/* Read the tables of a file. What is not FILLED holds nothing. */
Filling open_model(Slice file, Model *model);
void release_model(Model *model);
/* Add a table that stands behind those of a model; false if it cannot be read so. */
Filling append_to_model(Model *model, Slice table);
/* Add a value of an array to a count, if both are exact as floating-point numbers. */
bool add_number(const Array *column, uint64_t place, int64_t *count);
/* Add what a table counts for a term that has `code`, and entries from `start` to `end`. */
bool add_term(const Table *table, const TermArrays *terms, uint64_t code, uint64_t start,
              uint64_t end, size_t n_columns, Counts *counts);
/* Add up what the tables count for some terms, AT_ONCE at the most. */
void find_counts(const Model *model, size_t view, const uint64_t *keys, size_t n,
                 Found *found);

/* --- stored_view.c --------------------------------------------------------------- */

/* What is called with each term of a table, in the order of places; false if it stops. */
typedef bool Take(void *into, uint64_t place, uint64_t key, const Counts *counts);

/* Read all terms of a view; false if they are damaged or out of order, or `take` stops. */
bool walk_terms(const Table *table, const TermArrays *terms, Take *take, void *into);
/* Have the counts of the first table in memory, if there is room. */
void keep_counts(Model *model);

/* --- tail.c ----------------------------------------------------------------------- */

/* Keep the first table's counts, and gather what others change; the secret is odd. */
void gather_tail(Model *model, uint64_t secret);
/* Add a table of the model to what is gathered, if that is. */
void add_to_tail(Model *model, size_t n);
void release_tail(Model *model);
/* Return what is known to change of a key, NULL if nothing is. */
const Change *find_change(const Model *model, size_t view, uint64_t key);
/* Add what the tables behind the first change of a term. */
Lookup add_changes(const Model *model, size_t view, uint64_t key, Counts *counts);

/* --- mean.c ----------------------------------------------------------------------- */

/* The score of a document, how many of its terms the model knows, and how many there are. */
typedef struct {
    double score;
    int64_t known, terms;
} Scored;

/* Score a document by the keys of its terms in each view, and how often each occurs, 16 bits;
   once if there are no counts. False if the model is damaged. */
bool mean_score(const Model *model, const Slice *keys, const Slice *counts, Scored *scored);

/* --- ledger.c --------------------------------------------------------------------- */

enum { MOST_ROWS = 64, NO_BIN = -(1 << 15), MOST_OWN = 1 << 17 }; /* terms of a record */

/* A row, added up over the tables: a document in a class, what the counts are known by, and
   where its score fell before it was learnt, NO_BIN if nobody knows. */
typedef struct {
    uint64_t high, low, fingerprint, class;
    int64_t count, bin;
} LedgerRow;

typedef struct {
    LedgerRow rows[MOST_ROWS];
    size_t n;
} Rows;

/* Find in which classes a document is counted; false if that is not to be said here. */
bool find_rows(const Model *model, const uint8_t *digest, Rows *rows);

#endif
