/* The terms of messages that are read in one call, for key_reading.c: batch_reading.c. */

#ifndef NBTEXT_BATCH_H
#define NBTEXT_BATCH_H

#include "module.h"

#include "mail.h"

/* The keys of messages in one view. */
typedef struct {
    Keys keys;
    Keys counts; /* four in a number, of 16 bits each; none if they are not counted */
    Keys ends; /* where each message's keys end */
} BatchView;

typedef struct {
    BatchView views[MOST_VIEWS];
    Keys facts; /* of each message its digest, two numbers, its fingerprint and its kind */
    Hash lanes[LANES]; /* of texts whose digests are not there yet */
    int n_lanes;
    Keys slots;
    uint32_t n_slotted; /* what is less, slots have of messages before */
    uint64_t secret; /* odd */
    bool are_counted; /* keys are distinct, and it is said how often each occurs */
} Batch;

/* Add a message, without terms if it was not read; false if there is no memory. */
bool push_message(Batch *batch, Mail *mail, bool is_read);
/* Find the digests that are not there yet, but for so many. */
void find_digests(Batch *batch, int n_left);
/* Return a batch as Python has it. */
PyObject *batch_of(const Batch *batch, size_t n_views);
void release_batch(Batch *batch);

#endif
