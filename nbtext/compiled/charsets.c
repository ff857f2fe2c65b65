/*
 * Text in UTF-8 from ASCII, UTF-8, Windows-1252 and charsets whose characters are bytes;
 * others are asked for. Twin of nbtext/mail/charsets.py.
 */

#include "mail.h"

/* How a declared charset is read. */
typedef enum {
    GUESSED,   /* not known, or Windows-1252: UTF-8 if it is that */
    IS_UTF_8,
    OTHER,     /* in which ASCII is ASCII */
    SEVEN_BIT, /* in which it may not be */
} Charset;

/* Names without punctuation, and how names begin. */
static const char *const GUESSED_NAMES[] = {
    "", "usascii", "ascii", "iso88591", "windows1252", "cp1252", "latin1", "ansi",
    "cp819", "ibm819", "l1", "win1252", NULL,
};
static const char *const SEVEN_BIT_PREFIXES[] = {
    "iso2022", "csiso2022", "hz", "utf", "ucs", "unicode", "jis", "cp5022", NULL,
};

const uint16_t WINDOWS_1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
    0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

static Charset
charset_of(Slice declared)
{
    uint8_t squeezed[LONGEST_CHARSET];
    uint8_t *end = squeezed;
    if (length_of(declared) > LONGEST_CHARSET)
        declared.end = declared.at + LONGEST_CHARSET;
    for (; declared.at < declared.end; declared.at++)
        if (is_digit(*declared.at) || is_letter(*declared.at))
            *end++ = lower(*declared.at);
    Slice name = slice(squeezed, end);
    name.at += begins(name, "x");
    if (is_equal(name, "utf8"))
        return IS_UTF_8;
    if (is_one_of(name, GUESSED_NAMES))
        return GUESSED;
    for (const char *const *prefix = SEVEN_BIT_PREFIXES; *prefix; prefix++)
        if (begins(name, *prefix))
            return SEVEN_BIT;
    return OTHER;
}

/* How many bytes a character of UTF-8 has, 0 if it is not valid. */
static size_t
valid_character(Slice text)
{
    uint8_t first = *text.at;
    size_t n = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || length_of(text) < n)
        return 0;
    for (size_t k = 1; k < n; k++)
        if ((text.at[k] & 0xC0) != 0x80)
            return 0;
    /* longer than need be, surrogates, and beyond the last code point */
    if ((first == 0xE0 && text.at[1] < 0xA0) || (first == 0xED && text.at[1] > 0x9F)
        || (first == 0xF0 && text.at[1] < 0x90) || (first == 0xF4 && text.at[1] > 0x8F))
        return 0;
    return n;
}

bool
is_utf8(Slice text)
{
    while (text.at < text.end) {
        size_t n = valid_character(text);
        if (!n)
            return false;
        text.at += n;
    }
    return true;
}

/* Make UTF-8 of bytes, each of which is a character; n from 0x80 on are in a table. */
static Slice
to_utf8(Mail *mail, Slice text, const uint16_t *table, size_t n)
{
    uint8_t *copy = grab_for(mail, 3 * length_of(text)), *to = copy;
    for (const uint8_t *at = text.at, *end = text.end; at < end; at++) {
        size_t place = (size_t)*at - 0x80; /* of ASCII it is large */
        to = put_code(to, place < n ? table[place] : *at);
        for (; end - at > 8 && is_ascii(slice(at + 1, at + 9)); at += 8)
            to = put(to, slice(at + 1, at + 9));
    }
    return slice(copy, to);
}

Slice
latin1_to_utf8(Mail *mail, Slice text)
{
    return is_ascii(text) ? text : to_utf8(mail, text, NULL, 0);
}

/* Find the characters of a charset, asked for once. */
static const UpperHalf *
upper_half_of(Mail *mail, Slice charset)
{
    if (length_of(charset) > LONGEST_CHARSET)
        charset.end = charset.at + LONGEST_CHARSET;
    for (UpperHalf *half = mail->halves; half < mail->halves + N_HALVES; half++)
        if (is_same(charset, slice(half->name, half->name + half->length)))
            return half;
    Slice answer = mail->ask(mail, UPPER_HALF, charset, slice(charset.end, charset.end));
    UpperHalf *half = mail->halves + mail->next_half++ % N_HALVES;
    half->length = (size_t)(put(half->name, charset) - half->name);
    half->n = length_of(answer) == sizeof half->codes ? 128 : 0;
    for (size_t n = 0; n < half->n; n++)
        half->codes[n] = (uint16_t)(answer.at[2 * n] | answer.at[2 * n + 1] << 8);
    return half;
}

Slice
decode(Mail *mail, Slice charset, Slice text)
{
    Charset known = charset_of(charset);
    if (known != SEVEN_BIT && is_ascii(text))
        return text;
    if (known <= OTHER && !begins(text, "\xEF\xBB\xBF") && !is_wide(text)) {
        const UpperHalf *half = known == OTHER ? upper_half_of(mail, charset) : NULL;
        size_t n = half ? half->n : 32;
        if (n && is_utf8(text))
            return text;
        if (n && known != IS_UTF_8)
            return to_utf8(mail, text, half ? half->codes : WINDOWS_1252, n);
    }
    return mail->ask(mail, DECODED, text, charset);
}
