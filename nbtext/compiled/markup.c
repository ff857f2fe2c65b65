/* HTML to text; twin of nbtext/mail/markup.py. Nothing becomes longer. */

#include "mail.h"

static const char INLINE_TAGS[][8] = {
    "a", "abbr", "acronym", "font", "b", "big", "i", "ins", "u", "s", "small", "span",
    "strike", "strong", "sub", "sup", "em", "tt", "code", "cite", "del", "nobr", "q",
    "wbr", "",
};

/* The names that real mail has most; others are asked for. */
static const struct {
    const char *name;
    uint32_t code;
} NAMES[] = {
    {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''},
    {"nbsp", ' '}, {"copy;", 0xA9}, {"reg;", 0xAE}, {"middot;", 0xB7},
    {"raquo;", 0xBB}, {"laquo;", 0xAB}, {"eacute;", 0xE9}, {"ndash;", 0x2013},
    {"mdash;", 0x2014}, {"lsquo;", 0x2018}, {"rsquo;", 0x2019}, {"ldquo;", 0x201C},
    {"rdquo;", 0x201D}, {"bull;", 0x2022}, {"hellip;", 0x2026}, {"trade;", 0x2122},
    {"deg;", 0xB0}, {"copy", 0xA9}, {"euro;", 0x20AC}, {"egrave;", 0xE8}, {"ecirc;", 0xEA},
    {"agrave;", 0xE0}, {"ccedil;", 0xE7}, {"auml;", 0xE4}, {"ouml;", 0xF6}, {"uuml;", 0xFC},
    {"szlig;", 0xDF}, {"ntilde;", 0xF1}, {"aacute;", 0xE1}, {"oacute;", 0xF3},
    {"iacute;", 0xED}, {"uacute;", 0xFA}, {"aring;", 0xE5}, {"ocirc;", 0xF4}, {NULL, 0},
};

size_t
space_at(Slice text)
{
    if (text.at == text.end)
        return 0;
    if (*text.at < 0x80)
        return is_text_space(*text.at);
    if (begins(text, "\xC2\x85") || begins(text, "\xC2\xA0"))
        return 2;
    if (begins(text, "\xE1\x9A\x80") || begins(text, "\xE2\x81\x9F")
        || begins(text, "\xE3\x80\x80"))
        return 3;
    if (!begins(text, "\xE2\x80") || length_of(text) < 3)
        return 0;
    uint8_t last = text.at[2]; /* U+2000 to U+200A, U+2028, U+2029, U+202F */
    return last <= 0x8A || last == 0xA8 || last == 0xA9 || last == 0xAF ? 3 : 0;
}

/* --- comments --------------------------------------------------------------------- */

/* Remove the comments that end; behind the first that does not, none does. */
static Slice
without_comments(Mail *mail, Slice rest)
{
    const uint8_t *start = find_text(rest, slice_of("<!--")), *end;
    if (!start)
        return rest;
    uint8_t *copy = grab_for(mail, length_of(rest)), *to = copy;
    while (start && (end = find_text(slice(start + 4, rest.end), slice_of("-->")))) {
        to = put(to, slice(rest.at, start));
        rest.at = end + 3;
        start = find_text(rest, slice_of("<!--"));
    }
    return slice(copy, put(to, rest));
}

/* --- tags ------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *end; /* NULL if it is no tag */
    bool is_inline;     /* it does not end a word on the screen */
} Tag;

/* Whether a name, up to white space, "/" or ">", is that of an inline tag. */
static bool
is_inline_name(Slice name)
{
    uint8_t first = lower(*name.at);
    if (length_of(name) > 2 && name.at[1] == ':'
        && (first == 'o' || first == 'v' || first == 'w')) {
        for (name.at += 2; name.at < name.end; name.at++)
            if (!is_letter(*name.at))
                return false;
        return true;
    }
    char tag[sizeof *INLINE_TAGS] = {0};
    size_t length = length_of(name);
    for (size_t n = 0; n < length && n < sizeof tag; n++)
        tag[n] = (char)lower(name.at[n]);
    for (size_t n = 0; *INLINE_TAGS[n]; n++) /* many begin alike, which no branch foretells */
        if (!memcmp(tag, INLINE_TAGS[n], sizeof tag) && length == strlen(tag))
            return true;
    return false;
}

/* What begins with a "<" of a text. */
static Tag
tag_at(Slice text)
{
    const uint8_t *first = text.at + 1, *end = first;
    if (first == text.end
        || !(is_letter(*first) || *first == '/' || *first == '!' || *first == '?'))
        return (Tag){NULL, false};
    for (uint64_t word; text.end - end >= 8; end += 8) { /* of which none is "<" or ">" */
        word = (word_at(end, 8) | 0x0202020202020202u) ^ 0x3E3E3E3E3E3E3E3Eu;
        if ((word - 0x0101010101010101u) & ~word & 0x8080808080808080u)
            break;
    }
    while (end < text.end && *end != '<' && *end != '>')
        end++;
    if (end == text.end || *end == '<')
        return (Tag){NULL, false};
    Slice rest = slice(first + (*first == '/'), end), name = rest;
    while (rest.at < end && *rest.at != '/' && (is_letter(*rest.at) || !space_at(rest)))
        rest.at++;
    name.end = rest.at;
    return (Tag){end + 1, name.at < name.end && is_inline_name(name)};
}

/* Skip white space and the tags behind one that ends a word, whatever they are. */
static const uint8_t *
skip_tags(Slice text)
{
    for (;;) {
        for (size_t n; (n = space_at(text));)
            text.at += n;
        if (text.at == text.end || *text.at != '<')
            return text.at;
        Tag tag = tag_at(text);
        if (!tag.end)
            return text.at;
        text.at = tag.end;
    }
}

/* Remove the tags, and leave a space for those that end a word. */
static uint8_t *
without_tags(Slice text, uint8_t *to)
{
    while (text.at < text.end) {
        const uint8_t *start = find_byte(text, '<');
        if (!start)
            return put(to, text);
        to = put(to, slice(text.at, start));
        text.at = start;
        Tag tag = tag_at(text);
        if (!tag.end) {
            *to++ = *text.at++;
        } else if (tag.is_inline) {
            text.at = tag.end;
        } else {
            *to++ = ' ';
            text.at = skip_tags(slice(tag.end, text.end));
        }
    }
    return to;
}

/* --- character references --------------------------------------------------------- */

/* What a number stands for. */
static uint32_t
code_of(uint32_t number)
{
    if (number >= 0x80 && number < 0xA0) { /* Windows-1252, strictly */
        uint32_t code = WINDOWS_1252[number - 0x80];
        return code == number ? REPLACEMENT : code;
    }
    if (!number || number >= N_CODE_POINTS || (number >= 0xD800 && number < 0xE000))
        return REPLACEMENT;
    return number == 0xA0 ? ' ' : number;
}

unsigned
digit_of(uint8_t byte)
{
    if (is_digit(byte))
        return byte - '0';
    return is_letter(byte) ? (byte | 0x20u) - 'a' + 10 : 36;
}

/* Decode "&#...": return what is behind it, NULL if it is none. */
static const uint8_t *
numbered(Slice text, uint32_t *code)
{
    const uint8_t *at = text.at + 2;
    bool is_hexadecimal = at < text.end && lower(*at) == 'x';
    unsigned base = is_hexadecimal ? 16 : 10;
    at += is_hexadecimal;
    const uint8_t *first = at;
    uint32_t number = 0;
    for (; at < text.end && digit_of(*at) < base; at++)
        if (number < N_CODE_POINTS) /* beyond, further digits change nothing */
            number = number * base + digit_of(*at);
    if (at == first)
        return NULL;
    *code = code_of(number);
    return at + (at < text.end && *at == ';');
}

/* Decode "&name;": return what is behind it, NULL if it is none; code 0: to be asked. */
static const uint8_t *
named(Slice text, uint32_t *code)
{
    const uint8_t *at = text.at + 1;
    Slice name = slice(at, at);
    if (at == text.end || !is_letter(*at))
        return NULL;
    while (at < text.end && at - name.at < 32 && (is_letter(*at) || is_digit(*at)))
        at++;
    if (at - name.at < 2)
        return NULL;
    at += at < text.end && *at == ';';
    name.end = at;
    *code = is_equal(name, "nbsp;") ? ' ' : 0;
    for (size_t n = 0; NAMES[n].name && !*code; n++)
        if (is_equal(name, NAMES[n].name))
            *code = NAMES[n].code;
    return at;
}

/* Decode character references; false if Python has to. */
static bool
decode_references(Slice text, uint8_t **to)
{
    while (text.at < text.end) {
        const uint8_t *start = find_byte(text, '&');
        if (!start) {
            *to = put(*to, text);
            return true;
        }
        *to = put(*to, slice(text.at, start));
        text.at = start;
        uint32_t code = '&';
        bool is_number = text.end - start > 1 && start[1] == '#';
        const uint8_t *end = is_number ? numbered(text, &code) : named(text, &code);
        if (!code)
            return false;
        text.at = end ? end : start + 1;
        *to = put_code(*to, end ? code : '&');
    }
    return true;
}

Slice
html_text(Mail *mail, Slice text)
{
    if (find_byte(text, '<')) {
        text = without_comments(mail, text);
        uint8_t *copy = grab_for(mail, length_of(text));
        text = slice(copy, without_tags(text, copy));
    }
    if (!find_byte(text, '&'))
        return text;
    uint8_t *copy = grab_for(mail, length_of(text)), *end = copy;
    return decode_references(text, &end)
               ? slice(copy, end)
               : mail->ask(mail, REFERENCES, text, slice(text.end, text.end));
}
