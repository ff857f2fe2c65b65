/*
 * The innermost loops of nbtext: from texts to keys, from keys to their places, and
 * checksums of what stands there.
 *
 * This module is optional. Without it (no C compiler when nbtext was installed) the
 * results are the same, only slower. What it does is specified by
 * `nbtext.tokens.tokenizer`, `nbtext.counts.term_table` and `nbtext.store.blocks`;
 * property tests hold it to them, bit by bit.
 *
 * It is written to CPython's stable ABI of 3.11. No text, no table and no array that it
 * is given makes it read or write out of bounds; time and memory are in proportion to
 * what is read.
 */

#include "_contrast.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What nbtext.tokens.compiled expects: changed wherever calls or results change. */
enum { INTERFACE = 6 };

/* The constants of nbtext.tokens.tokenizer. */
static const uint64_t BASE = 0x9E3779B97F4A7C15u;
static const uint64_t SPREAD = 0xD6E8FEB86659FD93u;
static const uint64_t PAIR = 0xA0761D6478BD642Fu;
static const uint64_t MIX = 0xE7037ED1A0B428DBu;
enum { KEY_BITS = 48 }; /* of the 64 that are mixed, the upper ones */

enum { SEPARATOR = 0, SINGLE = 3, N_CLASSES = 5 };
enum { N_CODE_POINTS = 0x110000, BLOCK = 256, N_BLOCKS = N_CODE_POINTS / BLOCK };
enum { NGRAM = 5, LONGEST = 6000 }; /* bytes of an n-gram, code points they are cut from */
static const uint64_t NGRAM_SALT = 1;
enum { AHEAD = 64, NEAR = 16 }; /* keys looked up at a time, and steps until halving */

/*
 * The kind of token and the folded form of each code point; see
 * nbtext.tokens.codepoints. The values are stored as distinct blocks of BLOCK, with an
 * index of the blocks. They are checked when a Tables is made, and never change, so
 * that no code point leads out of them.
 */
typedef struct {
    PyObject_HEAD
    uint8_t kind_index[N_BLOCKS], fold_index[N_BLOCKS];
    uint8_t *kinds;
    int32_t *offsets; /* from a code point to its folded form */
    uint8_t ascii_kinds[128];
} Tables;

/* Which terms are read, as in `nbtext.settings.View`. */
typedef struct {
    int tokens, pairs, fold_tokens, fold_pairs;
    int ngrams; /* byte n-grams in place of tokens */
    Py_ssize_t limit; /* how many tokens of a document are read, negative for all */
} View;

/* Keys that have been found, in a bytearray that grows: it is handed over, not copied. */
typedef struct {
    PyObject *bytes;
    uint64_t *values;
    size_t length, room;
} Keys;

static bool
resize(Keys *keys, size_t room)
{
    Py_ssize_t size = (Py_ssize_t)(room * sizeof *keys->values);
    if (!keys->bytes)
        keys->bytes = PyByteArray_FromStringAndSize(NULL, size);
    else if (PyByteArray_Resize(keys->bytes, size) < 0)
        return false;
    if (!keys->bytes)
        return false;
    keys->values = (uint64_t *)(void *)PyByteArray_AsString(keys->bytes);
    keys->room = room;
    return true;
}

static bool
push(Keys *keys, uint64_t key)
{
    if (keys->length == keys->room) {
        if (!resize(keys, keys->room ? 2 * keys->room : 512))
            return false;
    }
    keys->values[keys->length++] = key;
    return true;
}

static uint64_t
mixed(uint64_t value)
{
    value ^= value >> 32;
    value *= MIX;
    return value ^ value >> 29;
}

/* --- code points ---------------------------------------------------------------- */

static int
kind_of(const Tables *tables, uint32_t code)
{
    if (code < 128)
        return tables->ascii_kinds[code];
    return tables->kinds[tables->kind_index[code / BLOCK] * BLOCK + code % BLOCK];
}

static uint32_t
folded(const Tables *tables, uint32_t code)
{
    uint32_t block = tables->fold_index[code / BLOCK];
    int32_t offset = tables->offsets[block * BLOCK + code % BLOCK];
    uint32_t other = code + (uint32_t)offset;
    return other < N_CODE_POINTS ? other : code;
}

/* Read a code point from before the end; what is cut off ends where the text does. */
static uint32_t
next_code(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *byte = *at;
    if (*byte < 0x80) {
        *at = byte + 1;
        return *byte;
    }
    int n_more = *byte >= 0xF0 ? 3 : *byte >= 0xE0 ? 2 : 1;
    uint32_t code = *byte++ & (0x3F >> n_more);
    while (n_more-- && byte < end)
        code = code << 6 | (*byte++ & 0x3F);
    *at = byte;
    return code < N_CODE_POINTS ? code : 0xFFFD;
}

/* --- the polynomial of a token --------------------------------------------------- */

typedef struct {
    uint64_t sum, factor, word;
    int filled; /* bits of the word */
} Polynomial;

static const Polynomial EMPTY = {0, 1, 0, 0};

static void
add_byte(Polynomial *polynomial, uint32_t byte)
{
    polynomial->word |= (uint64_t)byte << polynomial->filled;
    polynomial->filled += 8;
    if (polynomial->filled == 64) {
        polynomial->sum += polynomial->word * polynomial->factor;
        *polynomial = (Polynomial){polynomial->sum, polynomial->factor * BASE, 0, 0};
    }
}

static void
add_code(Polynomial *polynomial, uint32_t code)
{
    if (code < 0x80) {
        add_byte(polynomial, code);
        return;
    }
    if (code < 0x800) {
        add_byte(polynomial, 0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add_byte(polynomial, 0xE0 | code >> 12);
        } else {
            add_byte(polynomial, 0xF0 | code >> 18);
            add_byte(polynomial, 0x80 | (code >> 12 & 0x3F));
        }
        add_byte(polynomial, 0x80 | (code >> 6 & 0x3F));
    }
    add_byte(polynomial, 0x80 | (code & 0x3F));
}

/* Up to eight bytes as a little-endian word. */
static uint64_t
word_at(const uint8_t *at, size_t n_bytes)
{
    uint64_t word = 0;
#if PY_LITTLE_ENDIAN
    if (n_bytes == sizeof word) {
        memcpy(&word, at, sizeof word);
        return word;
    }
#endif
    for (size_t n = 0; n < n_bytes; n++)
        word |= (uint64_t)at[n] << 8 * n;
    return word;
}

/* Fold eight bytes of ASCII: bit 5 is set where a byte is from A to Z. */
static uint64_t
folded_ascii(uint64_t word)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t from_a = word + (0x80 - 'A') * each, behind_z = word + (0x7F - 'Z') * each;
    return word | (from_a & ~behind_z & 0x80 * each) >> 2;
}

/* --- tokens ---------------------------------------------------------------------- */

/* What is left of a field's text. */
typedef struct {
    const uint8_t *at, *end;
} Text;

/* A token, and its polynomials as it is written and folded. */
typedef struct {
    uint64_t written, folded;
} Token;

/* Read a token code point by code point; the first is one of it. */
static Token
wide_token(const Tables *tables, Text *text, int kind)
{
    Polynomial written = EMPTY, lower = EMPTY;
    const uint8_t *at = text->at;
    uint32_t code = next_code(&at, text->end);
    do {
        text->at = at;
        add_code(&written, code);
        add_code(&lower, folded(tables, code));
        if (at == text->end || kind == SINGLE)
            break;
        code = next_code(&at, text->end);
    } while (kind_of(tables, code) == kind);
    return (Token){written.sum + written.word * written.factor,
                   lower.sum + lower.word * lower.factor};
}

/* Hash a token of ASCII; `end` is that of the text, which may be loaded from. */
static Token
ascii_token(const uint8_t *at, const uint8_t *after, const uint8_t *end)
{
    Token token = {0, 0};
    uint64_t factor = 1;
    for (; after - at > 8; at += 8) {
        uint64_t word = word_at(at, 8);
        token.written += word * factor;
        token.folded += folded_ascii(word) * factor;
        factor *= BASE;
    }
    uint64_t word = end - at >= 8
                        ? word_at(at, 8) & UINT64_MAX >> (64 - 8 * (after - at))
                        : word_at(at, (size_t)(after - at));
    token.written += word * factor;
    token.folded += folded_ascii(word) * factor;
    return token;
}

/* Find the next token; false if there is none. */
static bool
next_token(const Tables *tables, Text *text, Token *token)
{
    const uint8_t *at = text->at, *end = text->end, *kinds = tables->ascii_kinds;
    int kind = SEPARATOR;
    while (at < end) {
        if (*at < 0x80) {
            if ((kind = kinds[*at]))
                break;
            at++;
        } else {
            const uint8_t *after = at;
            if ((kind = kind_of(tables, next_code(&after, end))))
                break;
            at = after;
        }
    }
    text->at = at;
    if (at == end)
        return false;
    const uint8_t *after = at;
    do
        after++;
    while (after < end && *after < 0x80 && kinds[*after] == kind && kind != SINGLE);
    if (*at >= 0x80 || (after < end && *after >= 0x80)) {
        *token = wide_token(tables, text, kind);
        return true;
    }
    *token = ascii_token(at, after, end);
    text->at = after;
    return true;
}

/* Read a field's tokens, and push the keys of its terms; `left` more may be read. */
static bool
read_field(const Tables *tables, const View *view, Text text, uint64_t salt,
           Py_ssize_t *left, Keys *keys)
{
    Token token;
    uint64_t before = 0;
    bool has_before = false;
    while (*left && next_token(tables, &text, &token)) {
        --*left;
        if (view->tokens) {
            uint64_t polynomial = view->fold_tokens ? token.folded : token.written;
            if (!push(keys, mixed((polynomial + salt) * SPREAD) >> (64 - KEY_BITS)))
                return false;
        }
        if (view->pairs) {
            uint64_t polynomial = view->fold_pairs ? token.folded : token.written;
            uint64_t hash = mixed((polynomial + salt) * SPREAD);
            if (has_before
                && !push(keys, mixed(before * PAIR + hash) >> (64 - KEY_BITS)))
                return false;
            before = hash;
            has_before = true;
        }
    }
    return true;
}

/* --- byte n-grams ---------------------------------------------------------------- */

/* What the n-grams of a document are cut from; see `nbtext.tokens.ngrams`. */
typedef struct {
    uint8_t bytes[4 * LONGEST + 4]; /* and room for the last code point */
    size_t length, room; /* bytes there are, and after how many to stop */
    int n_codes;         /* that have been read */
    bool after_space;
} Normalised;

/* Append a code point in UTF-8, a space for any of the spaces that follow one another. */
static void
append_code(Normalised *normalised, uint32_t code)
{
    uint8_t *at = normalised->bytes + normalised->length;
    if (code < 0x80) {
        *at++ = (uint8_t)code;
    } else if (code < 0x800) {
        *at++ = (uint8_t)(0xC0 | code >> 6);
        *at++ = (uint8_t)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *at++ = (uint8_t)(0xE0 | code >> 12);
        *at++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *at++ = (uint8_t)(0x80 | (code & 0x3F));
    } else {
        *at++ = (uint8_t)(0xF0 | code >> 18);
        *at++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        *at++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *at++ = (uint8_t)(0x80 | (code & 0x3F));
    }
    normalised->length = (size_t)(at - normalised->bytes);
}

/* Read a code point, unless enough have been. */
static bool
normalise_code(const Tables *tables, const View *view, uint32_t code, Normalised *text)
{
    if (text->n_codes == LONGEST || text->length >= text->room)
        return false;
    text->n_codes++;
    if (kind_of(tables, code) == SEPARATOR) {
        if (!text->after_space)
            append_code(text, ' ');
        text->after_space = true;
    } else {
        append_code(text, view->fold_tokens ? folded(tables, code) : code);
        text->after_space = false;
    }
    return true;
}

/* Read a field's text, after a space if it is not the first. */
static void
normalise_field(const Tables *tables, const View *view, Text field, bool is_first,
                Normalised *text)
{
    if (!is_first && !normalise_code(tables, view, ' ', text))
        return;
    while (field.at < field.end
           && normalise_code(tables, view, next_code(&field.at, field.end), text))
        ;
}

/* Push the key of each n-gram. */
static bool
push_ngrams(const Normalised *text, Keys *keys)
{
    size_t length = text->length < text->room ? text->length : text->room;
    if (length < NGRAM)
        return true;
    size_t needed = keys->length + length - NGRAM + 1;
    if (needed > keys->room
        && !resize(keys, needed < 2 * keys->room ? 2 * keys->room : needed))
        return false;
    uint64_t *value = keys->values + keys->length;
    uint64_t window = 0; /* the last bytes, the first of them lowest */
    for (size_t n = 0; n < length; n++) {
        window = window >> 8 | (uint64_t)text->bytes[n] << 8 * (NGRAM - 1);
        if (n >= NGRAM - 1)
            *value++ = mixed((window + NGRAM_SALT) * SPREAD) >> (64 - KEY_BITS);
    }
    keys->length = needed;
    return true;
}

/* --- documents ------------------------------------------------------------------- */

/* Borrow or make the UTF-8 form of a text; `owned` keeps it alive. */
static bool
utf8_of(PyObject *string, PyObject **owned, Text *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(string, &size);
    *owned = NULL;
    if (!bytes) { /* lone surrogates */
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return false;
        PyErr_Clear();
        *owned = PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass");
        if (!*owned)
            return false;
        bytes = PyBytes_AsString(*owned);
        size = PyBytes_Size(*owned);
    }
    text->at = (const uint8_t *)bytes;
    text->end = text->at + size;
    return true;
}

/* A field's salt, 0 if there is nothing to ask for it. */
static bool
salt_of(PyObject *salts, PyObject *name, uint64_t *salt)
{
    *salt = 0;
    if (salts == Py_None)
        return true;
    PyObject *number = PyObject_CallFunctionObjArgs(salts, name, NULL);
    if (!number)
        return false;
    *salt = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

static bool
read_document(const Tables *tables, const View *view, PyObject *fields, PyObject *salts,
              Keys *keys)
{
    Py_ssize_t left = view->limit;
    Normalised normalised;
    normalised.length = 0;
    normalised.n_codes = 0;
    normalised.after_space = false;
    normalised.room = left < 0 || left > 4 * LONGEST ? 4 * LONGEST
                                                     : (size_t)left + NGRAM - 1;
    if (!PyList_Check(fields)) {
        PyErr_SetString(PyExc_TypeError, "a document is a list of fields");
        return false;
    }
    for (Py_ssize_t n = 0; n < PyList_Size(fields) && left; n++) {
        PyObject *name, *string, *owned, *field = PyList_GetItem(fields, n);
        if (!field || !PyTuple_Check(field) || PyTuple_Size(field) != 2) {
            PyErr_SetString(PyExc_TypeError, "a field is (name, text)");
            return false;
        }
        Text text;
        uint64_t salt;
        bool is_read;
        Py_INCREF(field); /* asking for the salt may run anything */
        name = PyTuple_GetItem(field, 0);
        string = PyTuple_GetItem(field, 1);
        is_read = salt_of(salts, name, &salt) && utf8_of(string, &owned, &text);
        if (is_read) {
            if (view->ngrams)
                normalise_field(tables, view, text, n == 0, &normalised);
            else
                is_read = read_field(tables, view, text, salt, &left, keys);
            Py_XDECREF(owned);
        }
        Py_DECREF(field);
        if (!is_read)
            return false;
    }
    return !view->ngrams || push_ngrams(&normalised, keys);
}

/* Read all documents; `starts` has room for where each begins, and for the end. */
static bool
read_documents(const Tables *tables, const View *view, PyObject *documents,
               PyObject *salts, Keys *keys, Keys *starts)
{
    if (!push(starts, 0))
        return false;
    for (Py_ssize_t n = 0; n < PyList_Size(documents); n++) {
        PyObject *fields = PyList_GetItem(documents, n);
        Py_INCREF(fields);
        bool is_read = read_document(tables, view, fields, salts, keys);
        Py_DECREF(fields);
        if (!is_read || !push(starts, keys->length))
            return false;
    }
    return true;
}

static PyObject *
keys_of_documents(PyObject *self, const View *view, PyObject *documents, PyObject *salts)
{
    PyObject *result = NULL;
    Keys keys = {0}, starts = {0};
    if (read_documents((const Tables *)self, view, documents, salts, &keys, &starts)
        && resize(&keys, keys.length) && resize(&starts, starts.length))
        result = Py_BuildValue("(OO)", keys.bytes, starts.bytes);
    Py_XDECREF(keys.bytes);
    Py_XDECREF(starts.bytes);
    return result;
}

PyDoc_STRVAR(document_keys_doc,
"document_keys(documents, salts, tokens, pairs, fold_tokens, fold_pairs, limit)\n"
"--\n\n"
"Return the keys of documents in one view, and where each document's begin.\n\n"
"Args:\n"
"    documents: a list of documents, each a list of fields, each (name, text).\n"
"    salts: returns a field's salt from its name; None: it is 0.\n"
"    tokens, pairs, fold_tokens, fold_pairs: as in `nbtext.settings.View`.\n"
"    limit: how many tokens of a document are read, -1 for all.\n\n"
"Returns:\n"
"    Two bytearrays of 64-bit integers: the keys, n_keys of them, and n_documents + 1\n"
"    places among them.\n");

static PyObject *
document_keys(PyObject *self, PyObject *args)
{
    PyObject *documents, *salts;
    View view = {0};
    if (!PyArg_ParseTuple(args, "O!Oppppn:document_keys", &PyList_Type, &documents,
                          &salts, &view.tokens, &view.pairs, &view.fold_tokens,
                          &view.fold_pairs, &view.limit))
        return NULL;
    return keys_of_documents(self, &view, documents, salts);
}

PyDoc_STRVAR(ngram_keys_doc,
"ngram_keys(documents, fold_tokens, limit)\n"
"--\n\n"
"Return the keys of the byte n-grams of documents, and where each document's begin.\n\n"
"Args:\n"
"    documents: a list of documents, each a list of fields, each (name, text).\n"
"    fold_tokens: as in `nbtext.settings.View`.\n"
"    limit: how many n-grams of a document are read, -1 for all.\n\n"
"Returns:\n"
"    What document_keys does.\n");

static PyObject *
ngram_keys(PyObject *self, PyObject *args)
{
    PyObject *documents;
    View view = {.ngrams = true};
    if (!PyArg_ParseTuple(args, "O!pn:ngram_keys", &PyList_Type, &documents,
                          &view.fold_tokens, &view.limit))
        return NULL;
    return keys_of_documents(self, &view, documents, Py_None);
}

/* --- tables ---------------------------------------------------------------------- */

/* What a Tables is made from, as `nbtext.tokens.codepoints.Blocks` has it. */
typedef struct {
    Py_buffer class_index, classes, fold_index, offsets;
    Py_buffer kinds; /* of each class */
} Source;

static bool
is_indexed(const Py_buffer *index, const Py_buffer *values, size_t size)
{
    if (index->len != N_BLOCKS)
        return false;
    for (size_t n = 0; n < N_BLOCKS; n++) {
        size_t end = (((const uint8_t *)index->buf)[n] + (size_t)1) * BLOCK * size;
        if (end > (size_t)values->len)
            return false;
    }
    return true;
}

/* Check and copy; what is copied cannot be changed by anybody else. */
static bool
fill(Tables *tables, const Source *source)
{
    const uint8_t *classes = source->classes.buf, *kinds = source->kinds.buf;
    size_t n_classes = (size_t)source->classes.len;
    size_t n_bytes = (size_t)source->offsets.len;
    bool is_sound = source->kinds.len == N_CLASSES
                    && is_indexed(&source->class_index, &source->classes, 1)
                    && is_indexed(&source->fold_index, &source->offsets, 4);
    for (size_t n = 0; is_sound && n < n_classes; n++)
        is_sound = classes[n] < N_CLASSES;
    if (!is_sound) {
        PyErr_SetString(PyExc_ValueError, "these are not tables of code points");
        return false;
    }
    tables->kinds = PyMem_Malloc(n_classes);
    tables->offsets = PyMem_Malloc(n_bytes);
    if (!tables->kinds || !tables->offsets) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(tables->kind_index, source->class_index.buf, N_BLOCKS);
    memcpy(tables->fold_index, source->fold_index.buf, N_BLOCKS);
    memcpy(tables->offsets, source->offsets.buf, n_bytes);
    for (size_t n = 0; n < n_classes; n++)
        tables->kinds[n] = kinds[classes[n]];
    memcpy(tables->ascii_kinds, tables->kinds + tables->kind_index[0] * BLOCK, 128);
    tables->ascii_kinds[0] = SEPARATOR; /* U+0000 is never part of a token */
    return true;
}

PyDoc_STRVAR(tables_doc,
"Tables(class_index, classes, fold_index, offsets, kinds)\n"
"--\n\n"
"The kind of token and the folded form of each code point.\n\n"
"Args:\n"
"    class_index, classes: the classes of code points, in blocks.\n"
"    fold_index, offsets: their folding offsets, 32-bit integers, in blocks.\n"
"    kinds: the kind of token that each class makes.\n");

static PyObject *
tables_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    Source source = {0};
    if (names && PyDict_Size(names)) {
        PyErr_SetString(PyExc_TypeError, "Tables() takes no names of arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*:Tables", &source.class_index,
                          &source.classes, &source.fold_index, &source.offsets,
                          &source.kinds))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *tables = alloc(type, 0); /* filled with zeros */
    if (tables && !fill((Tables *)tables, &source))
        Py_CLEAR(tables);
    PyBuffer_Release(&source.class_index);
    PyBuffer_Release(&source.classes);
    PyBuffer_Release(&source.fold_index);
    PyBuffer_Release(&source.offsets);
    PyBuffer_Release(&source.kinds);
    return tables;
}

static void
tables_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((Tables *)self)->kinds);
    PyMem_Free(((Tables *)self)->offsets);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef tables_methods[] = {
    {"document_keys", document_keys, METH_VARARGS, document_keys_doc},
    {"ngram_keys", ngram_keys, METH_VARARGS, ngram_keys_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tables_slots[] = {
    {Py_tp_doc, (void *)tables_doc},
    {Py_tp_new, tables_new},
    {Py_tp_dealloc, tables_dealloc},
    {Py_tp_methods, tables_methods},
    {0, NULL},
};

static PyType_Spec tables_spec = {
    .name = "nbtext._compiled.Tables",
    .basicsize = sizeof(Tables),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = tables_slots,
};

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* --- places ---------------------------------------------------------------------- */

PyDoc_STRVAR(find_doc,
"find(keys, buckets, shift, wanted, places)\n"
"--\n\n"
"Look keys up in a sorted table, as `nbtext.counts.term_table.TermTable.find` says.\n\n"
"Args:\n"
"    keys: 64-bit integers, sorted; the last is a sentinel and no key.\n"
"    buckets: 32- or 64-bit integers, where the keys with these top bits begin.\n"
"    shift: how many low bits do not choose a bucket.\n"
"    wanted: 64-bit integers.\n"
"    places: 64-bit integers, written to: for each that is wanted its place among the\n"
"        keys, or that of the sentinel.\n");

/* The terms of one view; see nbtext.counts.term_table.TermTable. */
typedef struct {
    const uint64_t *keys;
    const void *buckets;
    int64_t n_terms;
    uint64_t n_buckets;
    int shift;
    bool are_wide; /* the buckets, 64 bits */
} Terms;

/* The first place from which on keys are not below one; the sentinel is not. */
static int64_t
place_from(const Terms *terms, int64_t place, uint64_t key)
{
    int64_t end = terms->n_terms;
    for (int step = 0; step < NEAR; step++, place++)
        if (place == end || terms->keys[place] >= key)
            return place;
    while (place < end) { /* keys chosen to lie close together */
        int64_t middle = place + (end - place) / 2;
        if (terms->keys[middle] < key)
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

static void
find_places(const Terms *terms, const uint64_t *wanted, int64_t *places, Py_ssize_t n)
{
    int64_t guessed[AHEAD];
    for (Py_ssize_t start = 0; start < n; start += AHEAD) {
        Py_ssize_t end = n - start < AHEAD ? n : start + AHEAD;
        /* ask for all that memory has to bring before waiting for any of it */
        for (Py_ssize_t i = start; i < end; i++) {
            uint64_t bucket = wanted[i] >> terms->shift;
            int64_t place = -1; /* what has more bits is no key */
            if (bucket < terms->n_buckets)
                place = terms->are_wide ? ((const int64_t *)terms->buckets)[bucket]
                                        : ((const int32_t *)terms->buckets)[bucket];
            if (place < 0 || place > terms->n_terms)
                place = terms->n_terms;
            guessed[i - start] = place;
            PREFETCH(terms->keys + place);
        }
        for (Py_ssize_t i = start; i < end; i++) {
            int64_t place = place_from(terms, guessed[i - start], wanted[i]);
            places[i] = terms->keys[place] == wanted[i] ? place : terms->n_terms;
        }
    }
}

static bool
is_array(const Py_buffer *buffer)
{
    return buffer->len % 8 == 0 && (uintptr_t)buffer->buf % 8 == 0;
}

static PyObject *
find(PyObject *module, PyObject *args)
{
    Py_buffer keys = {0}, buckets = {0}, wanted = {0}, places = {0};
    Terms terms;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*iy*w*:find", &keys, &buckets, &terms.shift,
                          &wanted, &places))
        return NULL;
    bool is_sound = terms.shift > 0 && terms.shift < KEY_BITS;
    if (is_sound) {
        terms.n_buckets = (uint64_t)1 << (KEY_BITS - terms.shift);
        uint64_t bytes = (uint64_t)buckets.len / terms.n_buckets; /* of a bucket */
        terms.are_wide = bytes == 8;
        is_sound = (bytes == 8 || bytes == 4) && is_array(&keys) && keys.len
                   && is_array(&buckets) && is_array(&wanted) && is_array(&places)
                   && wanted.len == places.len;
    }
    if (is_sound) {
        terms.keys = keys.buf;
        terms.buckets = buckets.buf;
        terms.n_terms = keys.len / 8 - 1;
        Py_BEGIN_ALLOW_THREADS
        find_places(&terms, wanted.buf, places.buf, wanted.len / 8);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "these are no keys with buckets");
    }
    PyBuffer_Release(&keys);
    PyBuffer_Release(&buckets);
    PyBuffer_Release(&wanted);
    PyBuffer_Release(&places);
    if (!is_sound)
        return NULL;
    Py_IncRef(Py_None); /* Py_RETURN_NONE of 3.12 does not count, which 3.11 needs */
    return Py_None;
}

/* --- checksums ------------------------------------------------------------------- */

enum { CHECKED = 1024, N_TABLES = 16 }; /* bytes of a block, and of a step */

/* crc_of[n][b]: what the byte b adds to a CRC-32 with n bytes behind it. */
static uint32_t crc_of[N_TABLES][256];

static void
fill_crc_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
        crc_of[0][byte] = crc;
    }
    for (int behind = 1; behind < N_TABLES; behind++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t crc = crc_of[behind - 1][byte];
            crc_of[behind][byte] = (crc >> 8) ^ crc_of[0][crc & 255];
        }
}

/* What four bytes add, with `behind` and up to three more bytes behind each. */
static uint32_t
crc_of_four(uint32_t word, int behind)
{
    return crc_of[behind + 3][word & 255] ^ crc_of[behind + 2][word >> 8 & 255]
           ^ crc_of[behind + 1][word >> 16 & 255] ^ crc_of[behind][word >> 24];
}

static uint32_t
little_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
           | (uint32_t)bytes[3] << 24;
}

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define WITH_PRODUCTS __attribute__((target("pclmul,sse4.1")))

static bool has_products; /* the processor multiplies without carries */

/* What two halves of 64 bits are, moved forward; the constants say how far. */
WITH_PRODUCTS static inline __m128i
moved(__m128i value, __m128i constants, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(value, constants, 0x00);
    __m128i high = _mm_clmulepi64_si128(value, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

WITH_PRODUCTS static inline __m128i
loaded(const uint8_t *bytes)
{
    return _mm_loadu_si128((const __m128i *)bytes);
}

/*
 * The same for 64 bytes or more, of which a multiple of 16 is read (Gopal and others,
 * "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel 2009).
 */
WITH_PRODUCTS static uint32_t
crc_by_products(uint32_t crc, const uint8_t *bytes, Py_ssize_t length)
{
    const __m128i by_64 = _mm_set_epi64x(0x01C6E41596, 0x0154442BD4);
    const __m128i by_16 = _mm_set_epi64x(0x00CCAA009E, 0x01751997D0);
    const __m128i by_8 = _mm_set_epi64x(0, 0x0163CD6124);
    const __m128i barrett = _mm_set_epi64x(0x01F7011641, 0x01DB710641);
    const __m128i lower = _mm_setr_epi32(-1, 0, -1, 0);
    __m128i part[4];
    for (int n = 0; n < 4; n++)
        part[n] = loaded(bytes + 16 * n);
    part[0] = _mm_xor_si128(part[0], _mm_cvtsi32_si128((int)crc));
    for (bytes += 64, length -= 64; length >= 64; bytes += 64, length -= 64)
        for (int n = 0; n < 4; n++)
            part[n] = moved(part[n], by_64, loaded(bytes + 16 * n));
    __m128i sum = part[0];
    for (int n = 1; n < 4; n++)
        sum = moved(sum, by_16, part[n]);
    for (; length >= 16; bytes += 16, length -= 16)
        sum = moved(sum, by_16, loaded(bytes));
    /* from 128 bits to 64, to 32, and what is left by the polynomial */
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by_16, 0x10));
    sum = _mm_xor_si128(_mm_srli_si128(sum, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(sum, lower), by_8, 0x00));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, lower), barrett, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, lower), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1);
}
#endif

/* The CRC-32 of zlib, sixteen bytes a step, or by products of polynomials. */
static uint32_t
crc32_of(const uint8_t *bytes, Py_ssize_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
#if defined(WITH_PRODUCTS)
    if (has_products && length >= 64) {
        crc = crc_by_products(crc, bytes, length);
        bytes += length / 16 * 16;
        length %= 16;
    }
#endif
    for (; length >= N_TABLES; bytes += N_TABLES, length -= N_TABLES)
        crc = crc_of_four(crc ^ little_endian(bytes), 12)
              ^ crc_of_four(little_endian(bytes + 4), 8)
              ^ crc_of_four(little_endian(bytes + 8), 4)
              ^ crc_of_four(little_endian(bytes + 12), 0);
    for (; length; bytes++, length--)
        crc = (crc >> 8) ^ crc_of[0][(crc ^ *bytes) & 255];
    return ~crc;
}

PyDoc_STRVAR(first_damaged_doc,
"first_damaged(contents, checksums, verified, blocks)\n"
"--\n\n"
"Verify blocks of 1,024 bytes, as `nbtext.store.blocks.first_damaged` does.\n\n"
"Args:\n"
"    contents: bytes.\n"
"    checksums: 32-bit integers, the CRC-32 of each block of them.\n"
"    verified: a byte for each block, not zero if it was verified; written to.\n"
"    blocks: numbers of blocks.\n\n"
"Returns:\n"
"    The first block that has another checksum, -1 if none has.\n");

/* The first of some blocks that is damaged, -1 if none is; -2 after an error. */
static Py_ssize_t
first_damaged_of(const Py_buffer *contents, const Py_buffer *checksums,
                 const Py_buffer *verified, PyObject *blocks)
{
    const uint8_t *bytes = contents->buf, *sums = checksums->buf;
    uint8_t *is_verified = verified->buf;
    Py_ssize_t n_blocks = contents->len / CHECKED + (contents->len % CHECKED > 0);
    PyObject *number;
    if (verified->len != n_blocks || checksums->len / 4 != n_blocks) {
        PyErr_SetString(PyExc_ValueError, "each block has a checksum and a mark");
        return -2;
    }
    while ((number = PyIter_Next(blocks))) {
        Py_ssize_t block = PyLong_AsSsize_t(number);
        Py_DECREF(number);
        if (block < 0 || block >= n_blocks) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_IndexError, "there is no such block");
            return -2;
        }
        if (is_verified[block])
            continue;
        Py_ssize_t start = block * CHECKED, length = contents->len - start;
        uint32_t wanted;
        memcpy(&wanted, sums + 4 * block, 4);
        if (crc32_of(bytes + start, length < CHECKED ? length : CHECKED) != wanted)
            return block;
        is_verified[block] = 1;
    }
    return PyErr_Occurred() ? -2 : -1;
}

static PyObject *
first_damaged(PyObject *module, PyObject *args)
{
    Py_buffer contents, checksums, verified;
    PyObject *blocks;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*w*O:first_damaged", &contents, &checksums,
                          &verified, &blocks))
        return NULL;
    Py_ssize_t found = -2;
    PyObject *iterator = PyObject_GetIter(blocks);
    if (iterator) {
        found = first_damaged_of(&contents, &checksums, &verified, iterator);
        Py_DECREF(iterator);
    }
    PyBuffer_Release(&contents);
    PyBuffer_Release(&checksums);
    PyBuffer_Release(&verified);
    return found == -2 ? NULL : PyLong_FromSsize_t(found);
}

static PyMethodDef methods[] = {
    {"find", find, METH_VARARGS, find_doc},
    {"first_damaged", first_damaged, METH_VARARGS, first_damaged_doc},
    {"add_by_class", add_by_class, METH_VARARGS, add_by_class_doc},
    {"correct", correct, METH_VARARGS, correct_doc},
    {NULL, NULL, 0, NULL},
};

/* Add an object to a module under a name, and give up the reference to it. */
static int
add(PyObject *module, const char *name, PyObject *object)
{
    int failed = PyModule_AddObjectRef(module, name, object);
    Py_XDECREF(object);
    return failed;
}

static int
fill_module(PyObject *module)
{
    fill_crc_tables();
#if defined(WITH_PRODUCTS)
    has_products = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
#endif
    PyObject *constants = Py_BuildValue(
        "(iKKKKi)", INTERFACE, (unsigned long long)BASE, (unsigned long long)SPREAD,
        (unsigned long long)PAIR, (unsigned long long)MIX, KEY_BITS);
    if (add(module, "CONSTANTS", constants))
        return -1;
    return add(module, "Tables", PyType_FromModuleAndSpec(module, &tables_spec, NULL));
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nbtext._compiled",
    .m_doc = "The innermost loops in C; see `nbtext.tokens.compiled`.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
