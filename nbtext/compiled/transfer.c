/* Content transfer encodings; twin of nbtext/mail/transfer.py. */

#include "mail.h"

enum { MOST_PIECES = 1000, SHORTEST_LINE = 16, LOOKED_AT = 1024 };

/* Six bits more for a digit of base64, NO_DIGIT for what is none. */
enum { NO_DIGIT = 64 };

static unsigned
base64_digit(uint8_t byte)
{
    if ((uint8_t)(byte - 'A') < 26)
        return byte - 'A';
    if ((uint8_t)(byte - 'a') < 26)
        return byte - 'a' + 26u;
    if (is_digit(byte))
        return byte - '0' + 52u;
    return byte == '+' ? 62 : byte == '/' ? 63 : NO_DIGIT;
}

Encoding
encoding_of(Slice declared)
{
    if (begins_folded(declared, "quoted-printable"))
        return QUOTED_PRINTABLE;
    if (begins_folded(declared, "base64"))
        return BASE64;
    bool is_uu = begins_folded(declared, "x-uu") || begins_folded(declared, "uue");
    return is_uu ? UUENCODED : AS_IT_IS;
}

/* Undo what stands behind a "="; return where to go on, and write what it stands for. */
static const uint8_t *
quoted_byte(const uint8_t *at, const uint8_t *end, uint8_t **to)
{
    if (at == end)
        return end;
    if (*at == '\n' || *at == '\r') { /* a line that goes on */
        while (at < end && *at != '\n')
            at++;
        return at < end ? at + 1 : end;
    }
    if (*at == '=') {
        *(*to)++ = '=';
        return at + 1;
    }
    if (at + 1 < end && digit_of(at[0]) < 16 && digit_of(at[1]) < 16) {
        *(*to)++ = (uint8_t)(digit_of(at[0]) << 4 | digit_of(at[1]));
        return at + 2;
    }
    *(*to)++ = '=';
    return at;
}

/* As binascii.a2b_qp does; what comes out is not longer. */
static uint8_t *
decode_quoted_printable(Slice data, uint8_t *to)
{
    while (data.at < data.end) {
        const uint8_t *quote = find_byte(data, '=');
        if (!quote)
            return put(to, data);
        to = put(to, slice(data.at, quote));
        data.at = quoted_byte(quote + 1, data.end, &to);
    }
    return to;
}

/* Tell text with a space every few characters from lines of base64. */
static bool
is_prose(Slice piece)
{
    size_t n_words = 0, n_bytes = 0;
    if (length_of(piece) > LOOKED_AT)
        piece.end = piece.at + LOOKED_AT;
    for (const uint8_t *at = piece.at; at < piece.end; at++)
        if (!is_space(*at)) {
            n_bytes++;
            n_words += at == piece.at || is_space(at[-1]);
        }
    return n_words > 2 && n_bytes < SHORTEST_LINE * n_words;
}

/* Decode base64 that has no padding inside; what comes out is not longer. */
static uint8_t *
decode_piece(Slice piece, uint8_t *to)
{
    if (is_prose(piece))
        return put(to, piece);
    uint32_t bits = 0;
    int n_digits = 0;
    for (const uint8_t *at = piece.at; at < piece.end; at++) {
        unsigned digit = base64_digit(*at);
        if (digit == NO_DIGIT)
            continue;
        bits = bits << 6 | digit;
        if (++n_digits == 4) {
            *to++ = (uint8_t)(bits >> 16);
            *to++ = (uint8_t)(bits >> 8);
            *to++ = (uint8_t)bits;
            n_digits = 0;
        }
    }
    bits <<= 6 * (4 - n_digits);
    if (n_digits >= 2)
        *to++ = (uint8_t)(bits >> 16);
    if (n_digits == 3)
        *to++ = (uint8_t)(bits >> 8);
    return to;
}

bool
is_whole_base64(Slice data)
{
    size_t length = length_of(data);
    for (int n = 0; n < 2 && data.at < data.end && data.end[-1] == '='; n++)
        data.end--;
    while (data.at < data.end && base64_digit(*data.at) != NO_DIGIT)
        data.at++;
    return length % 4 == 0 && data.at == data.end;
}

/* Where text that somebody put behind base64 begins: "\n--" or "\n__". */
static const uint8_t *
footer_of(Slice data)
{
    Slice rest = data;
    while ((rest.at = find_byte(rest, '\n'))) {
        Slice line = slice(++rest.at, rest.end);
        if (begins(line, "--") || begins(line, "__"))
            return line.at - 1;
    }
    return data.end;
}

/* What comes out is not longer. */
static uint8_t *
decode_base64(Slice data, uint8_t *to)
{
    const uint8_t *end = footer_of(data);
    Slice rest = slice(data.at, end);
    for (int piece = 0; rest.at; piece++) {
        const uint8_t *padding = piece < MOST_PIECES ? find_byte(rest, '=') : NULL;
        to = decode_piece(slice(rest.at, padding ? padding : end), to);
        rest.at = padding;
        while (padding && rest.at < end && (*rest.at == '=' || is_space(*rest.at)))
            rest.at++;
    }
    return put(to, slice(end, data.end));
}

Slice
decode_transfer(Mail *mail, Encoding encoding, Slice data)
{
    if (encoding == AS_IT_IS)
        return data;
    if (encoding == UUENCODED)
        stop(mail, REFUSED);
    uint8_t *copy = grab_for(mail, length_of(data));
    return slice(copy, encoding == BASE64 ? decode_base64(data, copy)
                                          : decode_quoted_printable(data, copy));
}
