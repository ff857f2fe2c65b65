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
    Pack rest = *pack;
    uint64_t byte, number;
    if (!take_bytes(&rest, 1, &byte))
        return false;
    number = byte & mask;
    if ((byte & (uint8_t)~mask) != fixed) {
        for (; byte != first && width < 4; first++)
            width *= 2;
        if (byte != first || !take_bytes(&rest, width, &number))
            return false;
    }
    *length = (size_t)number;
    bool is_sound = number <= left_in(&rest); /* each of that has a byte at least */
    pack->at = is_sound ? rest.at : pack->at;
    return is_sound;
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
    Pack rest = *pack;
    size_t length;
    if (!take_length(&rest, 0xA0, 0x1F, 0xD9, 1, &length))
        return false;
    *text = slice(rest.at, rest.at + length);
    bool is_sound = is_utf8(*text);
    pack->at = is_sound ? text->end : pack->at;
    return is_sound;
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
    bool is_there = pack->at < pack->end && *pack->at == byte;
    pack->at += is_there;
    return is_there;
}

bool
take_bool(Pack *pack, bool *value)
{
    *value = take_byte(pack, 0xC3);
    return *value || take_byte(pack, 0xC2);
}

bool
take_integer(Pack *pack, int64_t *number)
{
    Pack rest = *pack;
    uint64_t byte, value;
    if (!take_bytes(&rest, 1, &byte))
        return false;
    value = byte;
    if (byte >= 0xE0) { /* from -32 to -1 */
        value |= ~UINT64_C(0xFF);
    } else if (byte >= 0xCC && byte <= 0xD3) {
        size_t width = (size_t)1 << (byte & 3);
        if (!take_bytes(&rest, width, &value) || (byte == 0xCF && value >> 63))
            return false;
        if (byte >= 0xD0 && width < 8 && value >> (8 * width - 1))
            value |= ~UINT64_C(0) << 8 * width;
    } else if (byte >= 0x80) {
        return false;
    }
    *number = (int64_t)value;
    bool is_sound = *number >= -MOST_COUNT && *number <= MOST_COUNT;
    pack->at = is_sound ? rest.at : pack->at;
    return is_sound;
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
        Slice text;
        size_t n = 0;
        int64_t integer;
        double number;
        bool truth;
        if (take_array(pack, &n) || take_text(pack, &text) || take_bool(pack, &truth)
            || take_byte(pack, NIL))
            left += n;
        else if (take_map(pack, &n))
            left += 2 * (uint64_t)n;
        else if (!take_integer(pack, &integer) && !take_double(pack, &number))
            return false; /* bytes, and types of others: there are none but the checksum */
    }
    return true;
}
