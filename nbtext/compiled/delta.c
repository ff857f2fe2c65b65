/*
 * Mails added to a model: what they change of its counts; twin of nbtext/learning/delta.py
 * and, for terms and fingerprints, of nbtext/tokens/bag.py.
 */

#include "lesson.h"

#include <stdlib.h>

static void
release_terms(Terms *terms)
{
    release_keys(&terms->keys);
    release_keys(&terms->occurrences);
    release_keys(&terms->documents);
}

/* Copy keys, which are where no 64-bit integer need be, behind others. */
static bool
copy_keys(Slice bytes, Keys *keys)
{
    size_t n = length_of(bytes) / sizeof *keys->values;
    if (!make_room(keys, n + 1)) /* one more: there is always something */
        return false;
    if (n)
        memcpy(keys->values + keys->length, bytes.at, n * sizeof *keys->values);
    keys->length += n;
    return true;
}

static bool
sort(Keys *keys)
{
    uint64_t *scratch = malloc((keys->length + 1) * sizeof *scratch);
    if (!scratch)
        return false;
    sort_keys(keys->values, scratch, keys->length);
    free(scratch);
    return true;
}

/* Push each distinct one of sorted keys, if it is asked for, and how often it is there. */
static bool
count_keys(const Keys *sorted, Keys *distinct, Keys *counts)
{
    for (size_t i = 0, first = 0; i < sorted->length; first = i) {
        uint64_t key = sorted->values[i];
        while (i < sorted->length && sorted->values[i] == key)
            i++;
        if ((distinct && !push_key(distinct, key)) || !push_key(counts, i - first))
            return false;
    }
    return true;
}

/* Count the terms of a mail in one view. */
static bool
count_terms(Slice keys, Terms *terms)
{
    Keys sorted = {0};
    bool is_counted = copy_keys(keys, &sorted) && sort(&sorted)
                      && count_keys(&sorted, &terms->keys, &terms->occurrences);
    release_keys(&sorted);
    return is_counted;
}

/* What tells the counts of one mail from those of another. */
static uint64_t
fingerprint_of(const Learnt *mail, size_t n_views)
{
    uint64_t total = 1;
    for (size_t view = 0; view < n_views; view++) {
        const Terms *terms = mail->views + view;
        uint64_t factor = 2 * (uint64_t)view + 3;
        for (size_t n = 0; n < terms->keys.length; n++)
            total += mixed(mixed(terms->keys.values[n] * factor
                                 + terms->occurrences.values[n]));
    }
    return total;
}

Taught
add_mail(Lesson *lesson, const Slice *keys, const uint8_t *digest)
{
    Learnt *mail = lesson->mails + lesson->n_mails;
    size_t n_views = lesson->model->first.n_views;
    double score;
    int64_t known;
    for (size_t n = 0; n < lesson->n_mails; n++)
        if (memcmp(lesson->mails[n].digest, digest, DIGEST_SIZE) == 0)
            return NOT_HERE; /* a copy of another */
    if (!mean_score(lesson->model, keys, NULL, &score, &known))
        return NOT_HERE;
    lesson->n_mails++;
    memcpy(mail->digest, digest, DIGEST_SIZE);
    mail->bin = bin_of(score);
    for (size_t view = 0; view < n_views; view++)
        if (!count_terms(keys[view], mail->views + view))
            return LESSON_NO_MEMORY;
    mail->fingerprint = fingerprint_of(mail, n_views);
    return LEARNT;
}

/* Count the terms of all mails in one view. */
static bool
add_up_view(const Lesson *lesson, size_t view, Terms *terms)
{
    Keys distinct = {0}, all = {0};
    bool is_counted = true;
    for (size_t n = 0; is_counted && n < lesson->n_mails; n++) {
        const Terms *of_mail = lesson->mails[n].views + view;
        for (size_t i = 0; is_counted && i < of_mail->keys.length; i++) {
            is_counted = push_key(&distinct, of_mail->keys.values[i]);
            for (uint64_t times = of_mail->occurrences.values[i]; is_counted && times; times--)
                is_counted = push_key(&all, of_mail->keys.values[i]);
        }
    }
    is_counted = is_counted && sort(&distinct) && sort(&all)
                 && count_keys(&distinct, &terms->keys, &terms->documents)
                 && count_keys(&all, NULL, &terms->occurrences);
    release_keys(&distinct);
    release_keys(&all);
    return is_counted;
}

/* Count the terms that a model does not have yet; false if it is damaged. */
static bool
count_new(const Lesson *lesson, size_t view, int64_t *n_new)
{
    const Keys *keys = &lesson->views[view].keys;
    Found found[AT_ONCE];
    *n_new = 0;
    for (size_t i = 0; i < keys->length; i++) {
        size_t left = keys->length - i;
        if (i % AT_ONCE == 0)
            find_counts(lesson->model, view, keys->values + i,
                        left < AT_ONCE ? left : AT_ONCE, found);
        if (found[i % AT_ONCE].lookup == IS_DAMAGED)
            return false;
        *n_new += found[i % AT_ONCE].lookup == UNKNOWN_TERM;
    }
    return true;
}

/* Fit what was held out, these mails included. */
static Taught
fit_lesson(Lesson *lesson)
{
    HeldOut *held_out = calloc(1, sizeof *held_out);
    Taught taught = held_out ? LEARNT : LESSON_NO_MEMORY;
    if (held_out && !add_held_out(lesson->model, held_out))
        taught = NOT_HERE;
    for (size_t n = 0; n < lesson->n_mails && taught == LEARNT; n++)
        held_out->counts[lesson->mails[n].bin + FARTHEST_BIN][lesson->class]++;
    if (taught == LEARNT && !fit_to(held_out, &lesson->fit, &lesson->n_held_out))
        taught = LESSON_NO_MEMORY;
    free(held_out);
    return taught;
}

Taught
add_up(Lesson *lesson)
{
    for (size_t view = 0; view < lesson->model->first.n_views; view++) {
        if (!add_up_view(lesson, view, lesson->views + view))
            return LESSON_NO_MEMORY;
        if (!count_new(lesson, view, lesson->new_terms + view))
            return NOT_HERE;
    }
    return fit_lesson(lesson);
}

void
release_lesson(Lesson *lesson)
{
    for (size_t n = 0; n < lesson->n_mails; n++)
        for (size_t view = 0; view < MOST_VIEWS; view++)
            release_terms(lesson->mails[n].views + view);
    for (size_t view = 0; view < MOST_VIEWS; view++)
        release_terms(lesson->views + view);
    lesson->n_mails = 0;
}
