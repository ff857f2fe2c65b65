/* A lesson as a table to append to the file; twin of nbtext/learning/delta_writing.py. */

#include "lesson.h"

enum { TRAILER_SIZE = 14, LONGEST_HEADER = 1 << 23 };

static uint64_t
size_of(const OutArray *array)
{
    return array->values.length * (uint64_t)array->width;
}

uint64_t
blocks_of(const OutArrays *arrays)
{
    uint64_t end = 0;
    for (size_t n = 0; n < arrays->n; n++)
        end = (end ? rounded_up(end + KEY_HEAD) : 0) + size_of(arrays->arrays + n);
    return (end + CHECKED - 1) / CHECKED;
}

/* Put what stands before an array of so many bytes, so that it begins where it should. */
static void
put_lead(Output *output, uint64_t size)
{
    put_byte(output, NIL, (size_t)(rounded_up(output->length + KEY_HEAD) - KEY_HEAD)
                              - output->length);
    put_byte(output, 0xC6, 1);
    put_big_endian(output, size, 4);
}

static void
put_little_endian(Output *output, uint64_t value, size_t width)
{
    uint8_t *at = claim(output, width);
    for (size_t n = 0; at && n < width; n++)
        at[n] = (uint8_t)(value >> 8 * n);
}

static void
put_array(Output *output, const OutArray *array)
{
    put_lead(output, size_of(array));
    for (size_t n = 0; n < array->values.length; n++)
        put_little_endian(output, array->values.values[n], array->width);
}

/* Put the checksum of each block from the first array on. */
static void
put_checksums(Output *output, size_t first, const OutArrays *arrays)
{
    size_t end = output->length;
    put_lead(output, 4 * blocks_of(arrays));
    for (size_t at = first; at < end && !output->has_failed; at += CHECKED) {
        size_t length = end - at < CHECKED ? end - at : CHECKED;
        put_little_endian(output, crc32_of(output->bytes + at, length), 4);
    }
}

static void
put_trailer(Output *output)
{
    uint64_t whole = rounded_up(output->length + TRAILER_SIZE);
    put_byte(output, NIL, (size_t)whole - output->length - TRAILER_SIZE);
    pack_array(output, 2);
    pack_name(output, "end");
    put_byte(output, 0xCF, 1);
    put_big_endian(output, whole, 8);
}

Taught
write_table(const Lesson *lesson, Output *output)
{
    OutArrays arrays = {.n = 0};
    Taught taught = LEARNT;
    if (make_arrays(lesson, &arrays)) {
        pack_header(output, lesson, &arrays);
        if (output->length > LONGEST_HEADER)
            taught = NOT_HERE;
        size_t first = (size_t)rounded_up(output->length + KEY_HEAD);
        for (size_t n = 0; n < arrays.n; n++)
            put_array(output, arrays.arrays + n);
        put_checksums(output, first, &arrays);
        put_trailer(output);
    }
    if (arrays.has_failed || output->has_failed)
        taught = LESSON_NO_MEMORY;
    release_arrays(&arrays);
    return taught;
}
