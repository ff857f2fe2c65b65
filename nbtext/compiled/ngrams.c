/* Byte n-grams and their keys; twin of nbtext/tokens/ngrams.py. */

#include "core.h"

static const uint64_t NGRAM_SALT = 1;

void
start_ngrams(Normalised *text, const View *view)
{
    bool is_bounded = view->limit <= 4 * LONGEST;
    text->room = EDGE + (is_bounded ? view->limit : 4 * LONGEST);
    text->length = EDGE;
    memset(text->bytes, '\n', EDGE);
    text->n_codes = 0;
    text->after_space = true; /* none at the beginning */
}

/* Append a code point in UTF-8, a space for any of the spaces that follow one another. */
static bool
normalise_code(const Tables *tables, const View *view, uint32_t code, Normalised *text)
{
    if (text->n_codes == LONGEST || text->length >= text->room)
        return false;
    text->n_codes++;
    bool is_space = kind_of(tables, code) == SEPARATOR;
    if (is_space)
        code = ' ';
    else if (view->fold_tokens)
        code = folded(tables, code);
    if (!is_space || !text->after_space) {
        const uint8_t *end = put_code(text->bytes + text->length, code);
        text->length = (size_t)(end - text->bytes);
    }
    text->after_space = is_space;
    return true;
}

void
normalise_field(const Tables *tables, const View *view, Slice field, bool is_first,
                Normalised *text)
{
    if (!is_first && !normalise_code(tables, view, ' ', text))
        return;
    while (field.at < field.end
           && normalise_code(tables, view, next_code(&field.at, field.end), text))
        ;
}

bool
push_ngrams(Normalised *text, Keys *keys)
{
    size_t length = text->length < text->room ? text->length : text->room;
    length -= text->bytes[length - 1] == ' ';
    if (length == EDGE)
        return true;
    if (!make_room(keys, length))
        return false;
    memset(text->bytes + length, '\n', EDGE);
    uint64_t *value = keys->values + keys->length;
    uint64_t window = 0; /* the last bytes, the first of them lowest */
    for (size_t n = 0; n < length + EDGE; n++) {
        window = window >> 8 | (uint64_t)text->bytes[n] << 8 * (NGRAM - 1);
        if (n >= NGRAM - 1)
            *value++ = mixed((window + NGRAM_SALT) * SPREAD) >> (64 - KEY_BITS);
    }
    keys->length += length;
    return true;
}
