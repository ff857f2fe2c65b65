/*
 * Values of msgpack, taken one after the other from bytes that nobody need have written as
 * they should be; Python has the package of that name.
 */

#include "model.h"

bool
take_bytes(Pack *pack, size_t n, uint64_t *number)
{
    if (left_in(pack) < n)
        return false;
    *number = 0;
    for (size_t i = 0; i < n; i++)
        *number = *number << 8 | *pack->at++;
    return true;
}

/*
 * Take what begins a text, an array or a map: a byte that has the length in its low bits,
 * or one of those from `first` on, behind which it has 1, 2 or 4 bytes.
 */
static bool
take_length(Pack *pack, uint8_t fixed, uint8_t mask, uint8_t first, size_t width,
            size_t *length)
{
    if (pack->at == pack->end)
        return false;
    uint8_t byte = *pack->at++;
    uint64_t number = byte & mask;
    if ((byte & (uint8_t)~mask) != fixed) {
        for (; byte != first && width < 4; first++)
            width *= 2;
        if (byte != first || !take_bytes(pack, width, &number))
            return false;
    }
    *length = (size_t)number;
    return number <= left_in(pack); /* each of that has a byte at least */
}

bool
take_array(Pack *pack, size_t *length)
{
    return take_length(pack, 0x90, 0x0F, 0xDC, 2, length);
}

bool
take_map(Pack *pack, size_t *length)
{
    return take_length(pack, 0x80, 0x0F, 0xDE, 2, length);
}

bool
take_text(Pack *pack, Slice *text)
{
    size_t length;
    if (!take_length(pack, 0xA0, 0x1F, 0xD9, 1, &length))
        return false;
    *text = slice(pack->at, pack->at + length);
    pack->at += length;
    return is_utf8(*text);
}

bool
take_name(Pack *pack, const char *name)
{
    Slice text;
    return take_text(pack, &text) && is_equal(text, name);
}

bool
take_byte(Pack *pack, uint8_t byte)
{
    return pack->at < pack->end && *pack->at++ == byte;
}

bool
take_bool(Pack *pack, bool *value)
{
    if (pack->at == pack->end || (*pack->at & 0xFE) != 0xC2)
        return false;
    *value = *pack->at++ & 1;
    return true;
}

bool
take_integer(Pack *pack, int64_t *number)
{
    if (pack->at == pack->end)
        return false;
    uint8_t byte = *pack->at++;
    uint64_t value = byte;
    if (byte >= 0xE0) { /* from -32 to -1 */
        value |= ~UINT64_C(0xFF);
    } else if (byte >= 0xCC && byte <= 0xD3) {
        size_t width = (size_t)1 << (byte & 3);
        if (!take_bytes(pack, width, &value))
            return false;
        if (byte >= 0xD0 && width < 8 && value >> (8 * width - 1))
            value |= ~UINT64_C(0) << 8 * width;
        if (byte == 0xCF && value >> 63)
            return false;
    } else if (byte >= 0x80) {
        return false;
    }
    *number = (int64_t)value;
    return *number >= -MOST_COUNT && *number <= MOST_COUNT;
}

bool
take_double(Pack *pack, double *number)
{
    uint64_t bits;
    if (!take_byte(pack, 0xCB) || !take_bytes(pack, 8, &bits))
        return false;
    memcpy(number, &bits, sizeof bits);
    return *number - *number == 0; /* it is finite */
}

bool
pass_over(Pack *pack)
{
    for (uint64_t left = 1; left; left--) {
        if (pack->at == pack->end)
            return false;
        uint8_t byte = *pack->at;
        bool is_map = (byte & 0xF0) == 0x80 || byte == 0xDE || byte == 0xDF;
        size_t length = 0;
        uint64_t bytes = 0;
        if (byte >= 0xA0 && (byte < 0xC0 || (byte >= 0xD9 && byte <= 0xDB))) {
            Slice text;
            if (!take_text(pack, &text))
                return false;
        } else if (is_map || (byte & 0xF0) == 0x90 || byte == 0xDC || byte == 0xDD) {
            if (is_map ? !take_map(pack, &length) : !take_array(pack, &length))
                return false;
            left += is_map ? 2 * (uint64_t)length : length;
        } else if (byte >= 0xCA && byte <= 0xD3) {
            size_t width = byte < 0xCC ? (size_t)4 << (byte & 1) : (size_t)1 << (byte & 3);
            pack->at++;
            if (!take_bytes(pack, width, &bytes))
                return false;
        } else if (byte < 0x80 || byte >= 0xE0 || byte == 0xC0 || byte == 0xC2
                   || byte == 0xC3) {
            pack->at++;
        } else { /* bytes, and types of others: there are none but the checksum */
            return false;
        }
    }
    return true;
}
