/*
 * The innermost loops of nbtext: from texts to keys, and from keys to their places.
 *
 * This module is an extra. Where it is missing (no C compiler when nbtext was
 * installed) everything comes out as it does with it, later. What it does is specified
 * by `nbtext.tokens.tokenizer` and `nbtext.counts.term_table`; property tests hold it to both, bit by bit.
 *
 * It is written to CPython's stable ABI of 3.11 and keeps nothing between calls. No
 * text, no table and no array that it is given makes it read or write out of bounds;
 * time and memory are in proportion to what is read.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What nbtext.tokens.compiled asks for: another number wherever calls or results change. */
enum { INTERFACE = 1 };

/* The constants of nbtext.tokens.tokenizer. */
static const uint64_t BASE = 0x9E3779B97F4A7C15u;
static const uint64_t SPREAD = 0xD6E8FEB86659FD93u;
static const uint64_t PAIR = 0xA0761D6478BD642Fu;
static const uint64_t MIX = 0xE7037ED1A0B428DBu;

enum { SEPARATOR = 0, SINGLE = 3, N_CLASSES = 5 };
enum { N_CODE_POINTS = 0x110000, BLOCK = 256, N_BLOCKS = N_CODE_POINTS / BLOCK };
enum { AHEAD = 64, NEAR = 16 }; /* keys looked up at a time, and steps until halving */

/* How code points are classed and folded; see nbtext.tokens.codepoints. */
typedef struct {
    Py_buffer class_index, classes, fold_index, offsets; /* as `Blocks` has them */
    uint8_t kinds[N_CLASSES];                            /* of each class */
    uint8_t ascii_kinds[128];
} Tables;

/* What is read of a text, as `nbtext.settings.View` says it. */
typedef struct {
    int tokens, pairs, fold_tokens, fold_pairs;
    Py_ssize_t limit; /* how many tokens of a document are read, negative for all */
} View;

/* Keys that have been found, in an array that grows. */
typedef struct {
    uint64_t *values;
    size_t length, room;
} Keys;

static bool
push(Keys *keys, uint64_t key)
{
    if (keys->length == keys->room) {
        size_t room = keys->room ? 2 * keys->room : 4096;
        uint64_t *values = PyMem_Realloc(keys->values, room * sizeof key);
        if (!values) {
            PyErr_NoMemory();
            return false;
        }
        keys->values = values;
        keys->room = room;
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
    const uint8_t *index = tables->class_index.buf, *classes = tables->classes.buf;
    return tables->kinds[classes[index[code / BLOCK] * BLOCK + code % BLOCK]];
}

static uint32_t
folded(const Tables *tables, uint32_t code)
{
    const uint8_t *index = tables->fold_index.buf;
    const int32_t *offsets = tables->offsets.buf;
    int32_t offset = offsets[index[code / BLOCK] * BLOCK + code % BLOCK];
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
            if (!push(keys, mixed((polynomial + salt) * SPREAD)))
                return false;
        }
        if (view->pairs) {
            uint64_t polynomial = view->fold_pairs ? token.folded : token.written;
            uint64_t key = mixed((polynomial + salt) * SPREAD);
            if (has_before && !push(keys, mixed(before * PAIR + key)))
                return false;
            before = key;
            has_before = true;
        }
    }
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
            is_read = read_field(tables, view, text, salt, &left, keys);
            Py_XDECREF(owned);
        }
        Py_DECREF(field);
        if (!is_read)
            return false;
    }
    return true;
}

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

/* Check the tables, which none can change, so that no code point leads out of them. */
static bool
fill(Tables *tables, const Py_buffer *kinds)
{
    const uint8_t *classes = tables->classes.buf;
    bool is_sound = kinds->len == N_CLASSES && tables->class_index.readonly
                    && tables->classes.readonly && tables->fold_index.readonly
                    && tables->offsets.readonly
                    && is_indexed(&tables->class_index, &tables->classes, 1)
                    && is_indexed(&tables->fold_index, &tables->offsets, 4)
                    && (uintptr_t)tables->offsets.buf % sizeof(int32_t) == 0;
    for (Py_ssize_t n = 0; is_sound && n < tables->classes.len; n++)
        is_sound = classes[n] < N_CLASSES;
    if (!is_sound) {
        PyErr_SetString(PyExc_ValueError, "these are no tables of code points");
        return false;
    }
    memcpy(tables->kinds, kinds->buf, N_CLASSES);
    for (uint32_t code = 0; code < 128; code++)
        tables->ascii_kinds[code] = (uint8_t)kind_of(tables, code);
    return true;
}

static void
release(Tables *tables)
{
    PyBuffer_Release(&tables->class_index);
    PyBuffer_Release(&tables->classes);
    PyBuffer_Release(&tables->fold_index);
    PyBuffer_Release(&tables->offsets);
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

/* Hand an array over as a bytearray. */
static PyObject *
as_bytes(const Keys *keys)
{
    return PyByteArray_FromStringAndSize((const char *)keys->values,
                                         (Py_ssize_t)(keys->length * sizeof(uint64_t)));
}

PyDoc_STRVAR(document_keys_doc,
"document_keys(documents, salts, tables, tokens, pairs, fold_tokens, fold_pairs,\n"
"              limit)\n"
"--\n\n"
"Return the keys of documents in one view, and where each document's begin.\n\n"
"Args:\n"
"    documents: a list of documents, each a list of fields, each (name, text).\n"
"    salts: gives a field's salt from its name; None: it is 0.\n"
"    tables: index and values of the classes of code points, of their folding\n"
"        offsets, and the kind of token that each class makes.\n"
"    tokens, pairs, fold_tokens, fold_pairs: as in `nbtext.settings.View`.\n"
"    limit: how many tokens of a document are read, -1 for all.\n\n"
"Returns:\n"
"    Two bytearrays of 64-bit integers: the keys, n_keys of them, and n_documents + 1\n"
"    places among them.\n");

static PyObject *
document_keys(PyObject *module, PyObject *args)
{
    PyObject *documents, *salts, *result = NULL;
    Tables tables = {0};
    Py_buffer kinds = {0};
    View view;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O(y*y*y*y*y*)ppppn:document_keys", &PyList_Type,
                          &documents, &salts, &tables.class_index, &tables.classes,
                          &tables.fold_index, &tables.offsets, &kinds, &view.tokens,
                          &view.pairs, &view.fold_tokens, &view.fold_pairs,
                          &view.limit))
        return NULL;
    Keys keys = {0}, starts = {0};
    if (fill(&tables, &kinds)
        && read_documents(&tables, &view, documents, salts, &keys, &starts))
        result = Py_BuildValue("(NN)", as_bytes(&keys), as_bytes(&starts));
    PyMem_Free(keys.values);
    PyMem_Free(starts.values);
    PyBuffer_Release(&kinds);
    release(&tables);
    return result;
}

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
    while (place < end) { /* somebody has chosen keys that lie close together */
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
            int64_t place = terms->are_wide ? ((const int64_t *)terms->buckets)[bucket]
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
    bool is_sound = terms.shift > 0 && terms.shift < 64;
    if (is_sound) {
        uint64_t bytes = (uint64_t)buckets.len >> (64 - terms.shift); /* of a bucket */
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
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"document_keys", document_keys, METH_VARARGS, document_keys_doc},
    {"find", find, METH_VARARGS, find_doc},
    {NULL, NULL, 0, NULL},
};

static int
add_constants(PyObject *module)
{
    PyObject *constants = Py_BuildValue(
        "(iKKKK)", INTERFACE, (unsigned long long)BASE, (unsigned long long)SPREAD,
        (unsigned long long)PAIR, (unsigned long long)MIX);
    if (!constants)
        return -1;
    int failed = PyModule_AddObjectRef(module, "CONSTANTS", constants);
    Py_DECREF(constants);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_constants},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nbtext._compiled",
    .m_doc = "The innermost loops, compiled; see `nbtext.tokens.compiled`.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
