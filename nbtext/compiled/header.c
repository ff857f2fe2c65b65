/*
 * The header of a table in a model file, as far as one message needs it; twin of
 * nbtext/store/header.py. The keys must come in the order in which they are written. What
 * the policy says is not looked at here, and which arrays there are is table.c's.
 */

#include "model.h"

#define SMALLEST 1e-9
#define LARGEST 1e9
#define LEAST_EVIDENCE 1e-6
#define MOST_EVIDENCE 700.0
#define WEAKEST 1e-6
enum { MOST_HEADER = 1 << 23, CHECKSUM = 8, STRONGEST = 1000000 };

static bool
take_view(Pack *pack, ViewSettings *view)
{
    size_t n_keys;
    *view = (ViewSettings){.limit = 0};
    if (!take_map(pack, &n_keys) || n_keys != 10 || !take_name(pack, "name")
        || !take_text(pack, &view->name) || !take_name(pack, "text")
        || !take_text(pack, &view->text) || !take_name(pack, "alphabet")
        || !take_text(pack, &view->alphabet) || !take_name(pack, "tokens")
        || !take_bool(pack, &view->tokens) || !take_name(pack, "pairs")
        || !take_bool(pack, &view->pairs) || !take_name(pack, "fold_tokens")
        || !take_bool(pack, &view->fold_tokens) || !take_name(pack, "fold_pairs")
        || !take_bool(pack, &view->fold_pairs) || !take_name(pack, "fields")
        || !take_bool(pack, &view->fields) || !take_name(pack, "limit")
        || pack->at == pack->end)
        return false;
    if (*pack->at == NIL)
        pack->at++;
    else if (!take_integer(pack, &view->limit) || view->limit < 1)
        return false;
    return take_name(pack, "columns") && take_byte(pack, 0x90 | N_COLUMNS)
           && take_name(pack, "occurrences") && take_name(pack, "documents")
           && (is_equal(view->alphabet, "fields") || is_equal(view->alphabet, "words")
               || is_equal(view->alphabet, "marks"))
           && is_same(view->name, view->text) && (view->tokens || view->pairs);
}

static bool
take_settings(Pack *pack, Header *header)
{
    static const char *const NAMES[] = {"headers", "raw", "body"};
    size_t n_keys;
    header->settings.at = pack->at;
    if (!take_map(pack, &n_keys) || n_keys != 6 || !take_name(pack, "format")
        || !take_name(pack, "mail") || !take_name(pack, "views")
        || !take_array(pack, &header->n_views) || header->n_views > MOST_VIEWS)
        return false;
    for (size_t n = 0, place = 0; n < header->n_views; n++) {
        if (!take_view(pack, header->views + n))
            return false;
        while (place < 3 && !is_equal(header->views[n].name, NAMES[place]))
            place++;
        if (place++ == 3)
            return false;
    }
    if (!header->n_views || !take_name(pack, "codepoints") || !take_byte(pack, CODE_POINTS)
        || !take_name(pack, "ledger") || !take_bool(pack, &header->has_ledger)
        || !take_name(pack, "fields") || !take_byte(pack, 0x80)
        || !take_name(pack, "pattern") || !take_byte(pack, NIL))
        return false;
    header->settings.end = pack->at;
    return true;
}

/* Take a scoring but for whether it is calibrated. */
static bool
take_scoring(Pack *pack, size_t n_keys, MeanScoring *scoring)
{
    size_t length;
    return take_map(pack, &length) && length == n_keys && take_name(pack, "score")
           && take_name(pack, "mean") && take_name(pack, "smoothing")
           && take_double(pack, &scoring->smoothing) && scoring->smoothing >= SMALLEST
           && scoring->smoothing <= LARGEST && take_name(pack, "counting")
           && take_name(pack, "occurrences") && take_name(pack, "parameters")
           && take_map(pack, &length) && length == 1 && take_name(pack, "min_evidence")
           && take_double(pack, &scoring->least) && scoring->least >= LEAST_EVIDENCE
           && scoring->least <= MOST_EVIDENCE;
}

/* Take how a table asks to be scored: so that scores are calibrated. */
static bool
take_calibrated(Pack *pack, Header *header)
{
    bool is_calibrated;
    header->packed_scoring.at = pack->at;
    if (!take_scoring(pack, 5, &header->scoring) || !take_name(pack, "calibrated")
        || !take_bool(pack, &is_calibrated) || !is_calibrated)
        return false;
    header->packed_scoring.end = pack->at;
    return true;
}

static bool
take_fit(Pack *pack, Fit *fit)
{
    size_t length;
    int64_t documents;
    return take_array(pack, &length) && length == 3 && take_double(pack, &fit->slope)
           && take_double(pack, &fit->offset) && take_integer(pack, &documents)
           && (fit->slope + fit->offset) * 0 == 0 && documents >= 0
           && documents <= INT64_C(1) << 41;
}

bool
take_held_out(Pack *pack, int64_t *bin, Slice *class, int64_t *documents)
{
    size_t n_parts;
    return take_array(pack, &n_parts) && n_parts == 3 && take_integer(pack, bin)
           && *bin >= -FARTHEST_BIN && *bin <= FARTHEST_BIN && take_text(pack, class)
           && take_integer(pack, documents) && *documents <= MOST_HELD_OUT
           && *documents >= -MOST_HELD_OUT;
}

/* Take the calibration, one, of the scoring of the header. */
static bool
take_calibrations(Pack *pack, Header *header)
{
    size_t length;
    Slice name, last = {NULL, NULL};
    MeanScoring scoring = {0, 0};
    double strength;
    int64_t number, documents, bin = -FARTHEST_BIN - 1;
    if (!take_array(pack, &length) || length != 1 || !take_map(pack, &length)
        || length != 6 || !take_name(pack, "scoring"))
        return false;
    header->packed_scores.at = pack->at;
    if (!take_scoring(pack, 4, &scoring)
        || memcmp(&scoring, &header->scoring, sizeof scoring) != 0)
        return false;
    header->packed_scores.end = pack->at;
    if (!take_name(pack, "prior") || !take_array(pack, &length) || length != 3)
        return false;
    for (; length; length--)
        if (!take_double(pack, &strength) || strength < WEAKEST || strength > STRONGEST)
            return false;
    if (!take_name(pack, "counts"))
        return false;
    header->held_out = *pack;
    if (!take_array(pack, &length))
        return false;
    for (; length; length--, bin = number, last = name)
        if (!take_held_out(pack, &number, &name, &documents) || number < bin
            || (number == bin
                && !(header->n_classes == 2 && is_same(last, header->classes[0])
                     && is_same(name, header->classes[1]))))
            return false;
    if (!take_name(pack, "losses") || !take_byte(pack, 0x90)
        || !take_name(pack, "documents") || !take_map(pack, &length))
        return false;
    for (; length; length--)
        if (!take_text(pack, &name) || !take_integer(pack, &number)
            || number < -MOST_HELD_OUT || number > MOST_HELD_OUT)
            return false;
    return take_name(pack, "fit") && take_fit(pack, &header->fit);
}

/* Take so many whole numbers; they are kept if there is a place for them. */
static bool
take_integers(Pack *pack, size_t n_numbers, int64_t *numbers)
{
    size_t length;
    int64_t number;
    if (!take_array(pack, &length) || length != n_numbers)
        return false;
    for (size_t n = 0; n < n_numbers; n++)
        if (!take_integer(pack, numbers ? numbers + n : &number))
            return false;
    return true;
}

/* Take what a table says of how it came to be: where it was appended. */
static bool
take_history(Pack *pack, Header *header)
{
    size_t n_keys, length;
    Slice text;
    int64_t taught, run;
    if (!take_map(pack, &n_keys) || !take_name(pack, "trained") || !take_text(pack, &text)
        || !take_name(pack, "taught") || !take_integer(pack, &taught) || taught < 0
        || !take_name(pack, "learnt") || !take_map(pack, &length))
        return false;
    for (; length; length--)
        if (!take_text(pack, &text) || !take_text(pack, &text))
            return false;
    if (!take_name(pack, "offset") || pack->at == pack->end)
        return false;
    if (*pack->at == NIL)
        pack->at++;
    else if (!take_integer(pack, &header->offset) || header->offset < 0)
        return false;
    return take_name(pack, "new_terms")
           && take_integers(pack, header->offset < 0 ? 0 : header->n_views, NULL)
           && take_name(pack, "records") && take_integer(pack, &header->records)
           && header->records >= 0
           && take_name(pack, "keep") && take_integer(pack, &header->keep)
           && header->keep >= 0
           && (n_keys == 7
               || (n_keys == 8 && take_name(pack, "run") && take_integer(pack, &run)
                   && run >= 0 && run <= header->offset));
}

/* Take the names of one class or two, in their order. */
static bool
take_classes(Pack *pack, Header *header)
{
    if (!take_array(pack, &header->n_classes) || header->n_classes > 2)
        return false;
    for (size_t n = 0; n < header->n_classes; n++)
        if (!take_text(pack, header->classes + n))
            return false;
    if (header->n_classes < 2)
        return true;
    size_t first = length_of(header->classes[0]), second = length_of(header->classes[1]);
    int order = memcmp(header->classes[0].at, header->classes[1].at,
                       first < second ? first : second);
    return order < 0 || (order == 0 && first < second);
}

static bool
take_totals(Pack *pack, Header *header)
{
    size_t length;
    if (!take_array(pack, &length) || length != header->n_views)
        return false;
    for (size_t view = 0; view < header->n_views; view++) {
        if (!take_array(pack, &length) || length != header->n_classes)
            return false;
        for (size_t class = 0; class < header->n_classes; class++)
            if (!take_integers(pack, N_COLUMNS, header->totals[view][class]))
                return false;
    }
    return true;
}

static bool
take_counts(Pack *pack, Header *header)
{
    return take_name(pack, "documents")
           && take_integers(pack, header->n_classes, header->documents)
           && take_name(pack, "totals") && take_totals(pack, header);
}

/* Take the arrays, the lengths of which are table.c's to check, and what may precede them. */
static bool
take_arrays(Pack *pack, Header *header)
{
    Slice name;
    size_t n_arrays;
    if (!take_text(pack, &name))
        return false;
    header->packed_policy = slice(pack->at, pack->at);
    if (is_equal(name, "policy")) {
        bool is_whole = pass_over(pack);
        header->packed_policy.end = pack->at;
        if (!is_whole || !take_text(pack, &name))
            return false;
    }
    header->has_texts = is_equal(name, "texts");
    if (header->has_texts
        && (!take_integers(pack, header->n_views, NULL) || !take_text(pack, &name)))
        return false;
    header->arrays = *pack;
    if (!is_equal(name, "arrays") || !pass_over(pack))
        return false;
    header->arrays.end = pack->at;
    return take_array(&header->arrays, &n_arrays);
}

/* Whether the last bytes of a header are the checksum of those before. */
static bool
has_checksum(const uint8_t *start, const uint8_t *end)
{
    Hash hash;
    uint8_t digest[CHECKSUM];
    start_hash(&hash, CHECKSUM);
    add_to_hash(&hash, slice(start, end));
    end_hash(&hash, digest);
    return memcmp(digest, end, CHECKSUM) == 0;
}

bool
read_header(Slice data, Header *header)
{
    Pack packed = {data.at, data.end}, *pack = &packed;
    uint64_t length;
    Slice text;
    if (length_of(data) > MOST_HEADER)
        pack->end = pack->at + MOST_HEADER;
    header->offset = header->keep = -1;
    if (!take_byte(pack, 0xDE) || !take_bytes(pack, 2, &length)
        || !take_name(pack, "format") || !take_name(pack, "nbtext count table")
        || !take_name(pack, "version") || !take_byte(pack, FORMAT_VERSION)
        || !take_name(pack, "writer") || !take_text(pack, &text)
        || !take_name(pack, "written") || !take_text(pack, &text)
        || !take_name(pack, "settings") || !take_settings(pack, header)
        || !take_name(pack, "scoring") || !take_calibrated(pack, header)
        || !take_name(pack, "classes") || !take_classes(pack, header)
        || !take_counts(pack, header) || !take_name(pack, "terms")
        || !take_integers(pack, header->n_views, NULL)
        || !take_name(pack, "calibrations") || !take_calibrations(pack, header)
        || !take_name(pack, "history") || !take_history(pack, header)
        || !take_arrays(pack, header) || !take_name(pack, "header_checksum")
        || !take_byte(pack, 0xC4) || !take_byte(pack, CHECKSUM)
        || left_in(pack) < CHECKSUM)
        return false;
    header->end = pack->at + CHECKSUM;
    return has_checksum(data.at, pack->at);
}
