/* Values to msgpack, in as few bytes as they take; Python has the package of that name. */

#include "lesson.h"

#include <stdlib.h>

uint8_t *
claim(Output *output, size_t n)
{
    if (!output->has_failed && output->room - output->length < n) {
        size_t room = 2 * output->length + n;
        uint8_t *bytes = room < n ? NULL : realloc(output->bytes, room);
        output->has_failed = !bytes;
        if (bytes) {
            output->bytes = bytes;
            output->room = room;
        }
    }
    if (output->has_failed)
        return NULL;
    output->length += n;
    return output->bytes + output->length - n;
}

void
put_bytes(Output *output, Slice bytes)
{
    uint8_t *at = claim(output, length_of(bytes));
    if (at && bytes.at < bytes.end)
        memcpy(at, bytes.at, length_of(bytes));
}

void
put_byte(Output *output, uint8_t byte, size_t times)
{
    uint8_t *at = claim(output, times);
    if (at)
        memset(at, byte, times);
}

void
put_big_endian(Output *output, uint64_t number, size_t width)
{
    uint8_t *at = claim(output, width);
    for (size_t n = width; at && n--; number >>= 8)
        at[n] = (uint8_t)number;
}

/* Put one of some bytes, and behind it a number in as many bytes as that byte stands for. */
static void
put_number_after(Output *output, uint8_t byte, uint64_t number, size_t width)
{
    put_byte(output, byte, 1);
    put_big_endian(output, number, width);
}

/* Put a length in a byte together with `fixed`, if it is less than `few`. */
static void
put_length(Output *output, uint8_t fixed, size_t few, uint8_t behind, size_t length)
{
    if (length < few)
        put_byte(output, (uint8_t)(fixed | length), 1);
    else if (length <= UINT16_MAX)
        put_number_after(output, behind, length, 2);
    else
        put_number_after(output, behind + 1, length, 4);
}

void
pack_array(Output *output, size_t length)
{
    put_length(output, 0x90, 16, 0xDC, length);
}

void
pack_map(Output *output, size_t length)
{
    put_length(output, 0x80, 16, 0xDE, length);
}

void
pack_joined(Output *output, const Slice *parts, size_t n_parts)
{
    size_t length = 0;
    for (size_t n = 0; n < n_parts; n++)
        length += length_of(parts[n]);
    if (length >= 32 && length <= UINT8_MAX)
        put_number_after(output, 0xD9, length, 1);
    else
        put_length(output, 0xA0, 32, 0xDA, length);
    for (size_t n = 0; n < n_parts; n++)
        put_bytes(output, parts[n]);
}

void
pack_text(Output *output, Slice text)
{
    pack_joined(output, &text, 1);
}

void
pack_name(Output *output, const char *name)
{
    pack_text(output, slice_of(name));
}

void
pack_integer(Output *output, int64_t number)
{
    uint8_t step = 0; /* two to its power are the bytes it takes */
    uint64_t bits = (uint64_t)number;
    bool is_negative = number < 0;
    if (number >= -32 && number < 128) {
        put_byte(output, (uint8_t)number, 1);
        return;
    }
    while (step < 3 && (is_negative ? (int64_t)(~bits >> (8 * ((size_t)1 << step) - 1))
                                    : (int64_t)(bits >> 8 * ((size_t)1 << step))))
        step++;
    put_number_after(output, (uint8_t)((is_negative ? 0xD0 : 0xCC) + step), bits,
                     (size_t)1 << step);
}

void
pack_double(Output *output, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_number_after(output, 0xCB, bits, 8);
}
