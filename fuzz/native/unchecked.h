/*
 * Put before header.c, table.c and model.c: a forged file need not have the checksums that
 * fit, and what is read of it may be something else when it is read again, as if somebody
 * wrote to it meanwhile.
 */

#include "model.h"

/* model.c: whether checksums are held against the file, as they are without this. */
extern bool are_checked;
/* Return what was read, or now and then something else. */
uint64_t perhaps(uint64_t value);

#define memcmp(one, other, n)                                                          \
    (!are_checked && strcmp(#n, "CHECKSUM") == 0 ? 0 : memcmp(one, other, n))
#define value_at(array, place)                                                         \
    (strcmp(#array, "&table->checksums") != 0 ? perhaps(value_at(array, place))        \
     : are_checked                            ? value_at(array, place)                 \
                                              : 0)
#define crc32_of(at, length) (crc32_of(at, length) & (are_checked ? UINT32_MAX : 0))
