/* Byte n-grams and their keys; twin of nbtext/tokens/ngrams.py. */

#include "mail.h"

static const uint64_t NGRAM_SALT = 1;

/* Normalise the texts that a view reads, with a space between them. */
static void
normalise(const Mail *mail, const MailView *view, Normalised *text)
{
    bool is_bounded = view->view.limit <= 4 * LONGEST;
    size_t room = EDGE + (is_bounded ? view->view.limit : 4 * LONGEST);
    text->length = EDGE;
    memset(text->bytes, '\n', EDGE);
    const Text *field = mail->texts[view->text].first;
    Slice left = field ? field->text : slice(NULL, NULL);
    bool after_space = true; /* none at the beginning */
    for (int n = 0; field && n < LONGEST && text->length < room; n++) {
        uint32_t code = ' ';
        if (left.at < left.end)
            code = next_code(&left.at, left.end);
        else if ((field = field->next)) /* after a space */
            left = field->text;
        bool is_space = kind_of(view->tables, code) == SEPARATOR;
        if (is_space)
            code = ' ';
        else if (view->view.fold_tokens)
            code = folded(view->tables, code);
        if (!is_space || !after_space)
            text->length = (size_t)(put_code(text->bytes + text->length, code) - text->bytes);
        after_space = is_space;
    }
    if (text->length > room)
        text->length = room;
    text->length -= text->bytes[text->length - 1] == ' ';
}

/* Return where the next character begins. */
static const uint8_t *
behind(const uint8_t *at)
{
    while ((*++at & 0xC0) == 0x80)
        ;
    return at;
}

size_t
run_of_three(const uint8_t *at)
{
    const uint8_t *second = behind(at), *end = behind(behind(second));
    bool is_run = (*at & 0xC0) != 0x80 && *second != ' ' && *second != '\n';
    return is_run && end - at < NGRAM ? (size_t)(end - at) : 0;
}

bool
push_ngrams(const Mail *mail, const MailView *view, Normalised *text, Keys *keys)
{
    normalise(mail, view, text);
    size_t length = text->length;
    if (length == EDGE)
        return true;
    if (!make_room(keys, 2 * length))
        return false;
    memset(text->bytes + length, '\n', EDGE);
    uint64_t *value = keys->values + keys->length;
    uint64_t window = 0; /* the last bytes, the first of them lowest */
    for (size_t n = 0; n < length + EDGE; n++) {
        window = window >> 8 | (uint64_t)text->bytes[n] << 8 * (NGRAM - 1);
        if (n >= NGRAM - 1)
            *value++ = mixed((window + NGRAM_SALT) * SPREAD) >> (64 - KEY_BITS);
    }
    size_t end = view->view.threes ? EDGE + view->view.threes : 0;
    for (size_t n = EDGE - 1, size; n < length && n < end; n++)
        if ((size = run_of_three(text->bytes + n)))
            *value++ = mixed((word_at(text->bytes + n, size) + NGRAM_SALT) * SPREAD)
                       >> (64 - KEY_BITS);
    keys->length = (size_t)(value - keys->values);
    return true;
}
