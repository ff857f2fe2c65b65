/*
 * Any bytes as a mail: the compiled reader and the batch, without Python, which
 * fuzz/readers.py compares them with. Answers to questions are made up.
 */

#include "batch.h"
#include "loop.h"

#include <stdio.h>
#include <stdlib.h>

const char *const words[] = {
    "\1\n", "\2\n\n", "\2\r\n", "\1\r", "\2\n ", "\2\n\t", "\3\n--", "\3--\n", "\2: ",
    "\5From ", "\11Subject: ", "\12Received: ", "\6Date: ", "\14Message-ID: ",
    "\10Status: ", "\4To: ", "\6From: ", "\7X-UID: ", "\16Content-Type: ",
    "\17multipart/mixed", "\20multipart/digest", "\16message/rfc822", "\13; boundary=",
    "\15; boundary*0=", "\12; charset=", "\13; charset*=", "\11text/html",
    "\12text/plain", "\5utf-8", "\5utf-7", "\6utf-16", "\13iso-2022-jp", "\2hz",
    "\7gb18030", "\14windows-1252", "\10us-ascii", "\33Content-Transfer-Encoding: ",
    "\6base64", "\20quoted-printable", "\12x-uuencode", "\14begin 644 x\n",
    "\5\nend\n", "\12=?utf-8?q?", "\2?=", "\2=\n", "\3=3D", "\4====", "\3<b>", "\4</b>",
    "\3<p ", "\2/>", "\4<!--", "\3-->", "\16!DOCTYPE html>", "\5<o:p>", "\2&#", "\4&#x0",
    "\6&#150;", "\5&amp;", "\6&nbsp;", "\10&hellip;", "\10&Aacute;", "\1\\", "\1\"",
    "\0071.2.3.4", "\01712:30:00 +0100 ", "\20Mon, 1 Jul 2002 ", "\5@a.-b",
    "\3\xef\xbb\xbf", "\2\xff\xfe", "\1\xe9", "\2\xc3\xa9", "\2\xc2\xa0", "\2\xc2\x85",
    "\3\xe2\x80\x83", "\3\xed\xa0\x80", "\4\xf0\x9f\x92\xb6", "\2\xce\xa3",
    "\2\xc4\xb0", "\1\0", "\1\x1c", "\1\x0b", "\1\x80", "\3\n__", "\25Content-Disposition: ",
    NULL,
};

static Tables fields, words_of, marks, kept_spaces;
static Mail *mail, *other, *plain;
static Batch batch;
static uint8_t digest[DIGEST_SIZE];
static int behaviour; /* of what answers: depends on the input */

static Slice
take(const uint8_t **at, size_t length)
{
    *at += length;
    return slice(*at - length, *at);
}

static void
fill(Tables *tables, TableSource source, const char *kinds)
{
    source.kinds = slice((const uint8_t *)kinds, (const uint8_t *)kinds + N_CLASSES);
    HOLDS(fill_tables(tables, &source) == FILLED);
}

static void
add_view(Mail *reader, TextKind text, const Tables *tables, const char *flags, size_t limit)
{
    View view = {
        strchr(flags, 't'), strchr(flags, 'p'), strchr(flags, 'T'), strchr(flags, 'P'),
        strchr(flags, 'n'), limit, strchr(flags, 'n') ? limit / 2 : 0,
    };
    reader->views[reader->n_views++] = (MailView){view, tables, text, strchr(flags, 'f')};
}

/* The upper half of a charset whose name has an odd length; it is remembered, so it is
   the same each time. */
static Slice
upper_half(Slice charset)
{
    static uint8_t codes[2 * 128];
    for (size_t n = 0; n < sizeof codes; n++)
        codes[n] = (uint8_t)(n % 2 ? 0x10 * (n % 16) : n);
    return slice(codes, codes + (length_of(charset) % 2 ? sizeof codes : 0));
}

static Slice
answer(Mail *asking, Question question, Slice first, Slice second)
{
    size_t length = length_of(first);
    int kind = (behaviour + (int)question + (int)length) % 16;
    if (question == UPPER_HALF)
        return upper_half(first);
    if (kind == 0)
        stop(asking, FAILED);
    if (kind == 1)
        first = second;
    if (kind == 2)
        length = 0;
    uint8_t *copy = grab_for(asking, 3 * length_of(first) + 1), *to = copy;
    for (size_t n = 0; n < length && first.at + n < first.end; n++) {
        uint8_t byte = first.at[n];
        to = byte < 0x80 || kind > 12 ? put(to, slice(first.at + n, first.at + n + 1))
                                      : put_code(to, kind > 6 ? 0x400u + byte : REPLACEMENT);
    }
    return slice(copy, to);
}

/* Make another reader, by the same views. */
static void
make_other(void)
{
    other = calloc(1, sizeof *other);
    HOLDS(other);
    memcpy(other->views, mail->views, sizeof mail->views);
    other->n_views = mail->n_views;
    other->ask = answer;
    other->is_named = true;
}

/* Write the digest of the message that was read, by itself. */
static void
digest_of(const Mail *read, uint8_t *written)
{
    Hash hash = read->named;
    add_to_hash(&hash, hash.rest);
    end_hash(&hash, written);
}

void
prepare(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    HOLDS(file && fread(bytes, 1, sizeof bytes, file) > 4 + 2 * N_BLOCKS);
    fclose(file);
    const uint8_t *at = bytes + 4;
    size_t n_classes = bytes[0] | (size_t)bytes[1] << 8;
    size_t n_offsets = bytes[2] | (size_t)bytes[3] << 8;
    TableSource source;
    source.class_index = take(&at, N_BLOCKS);
    source.classes = take(&at, n_classes * BLOCK);
    source.fold_index = take(&at, N_BLOCKS);
    source.offsets = take(&at, n_offsets * BLOCK * 4);
    fill(&fields, source, "\0\0\1\1\1\1");
    fill(&words_of, source, "\0\0\0\1\3\3");
    fill(&marks, source, "\0\2\2\1\3\2");
    fill(&kept_spaces, source, "\0\1\1\1\1\1");
    mail = calloc(1, sizeof *mail);
    plain = calloc(1, sizeof *plain);
    HOLDS(mail && plain);
    add_view(mail, HEADERS_TEXT, &fields, "tTPf", 1 << 20);
    add_view(mail, RAW_TEXT, &words_of, "p", 1000);
    add_view(mail, BODY_TEXT, &marks, "tpP", 1 << 20);
    add_view(mail, BODY_TEXT, &kept_spaces, "tTn", 1 << 20);
    add_view(mail, HEADERS_TEXT, &kept_spaces, "n", 50);
    add_view(mail, BODY_TEXT, &words_of, "pT", 7);
    add_view(plain, PLAIN_TEXT, &marks, "tpP", 1 << 20);
    add_view(plain, PLAIN_TEXT, &kept_spaces, "tTn", 1 << 20);
    mail->ask = plain->ask = answer;
    mail->is_named = plain->is_named = true;
    make_other();
}

static int
compare(const void *one, const void *two)
{
    uint64_t first = *(const uint64_t *)one, second = *(const uint64_t *)two;
    return (first > second) - (first < second);
}

/* Hold the last message of the batch against its keys by themselves, and sort these. */
static void
check_batch(Mail *read)
{
    bool is_counted = batch.facts.values[batch.facts.length - 1];
    size_t most = 0;
    for (size_t n = 0; n < read->n_views; n++) {
        const BatchView *view = batch.views + n;
        const int16_t *counts = (const int16_t *)(const void *)view->counts.values;
        size_t length = view->ends.length, end = view->keys.length, n_distinct = 0;
        size_t start = length > 1 ? view->ends.values[length - 2] : 0;
        uint64_t sum = 0, *keys = read->keys[n].values;
        HOLDS(view->ends.values[length - 1] == end);
        for (size_t k = start; k < end; k++) {
            int16_t count = batch.are_counted ? counts[k] : 1;
            HOLDS(count > 0 && view->keys.values[k] >> KEY_BITS == 0);
            sum += (uint64_t)count * mixed(view->keys.values[k]);
        }
        if (read->keys[n].length)
            qsort(keys, read->keys[n].length, sizeof *keys, compare);
        for (size_t k = 0, same = 0; k < read->keys[n].length; k++) {
            same = k && keys[k] == keys[k - 1] ? same + 1 : 1;
            n_distinct += same == 1;
            most = same > most ? same : most;
            sum -= mixed(keys[k]);
        }
        HOLDS(batch.are_counted || n_distinct <= end - start);
        HOLDS(!is_counted || !batch.are_counted || n_distinct == end - start);
        HOLDS(is_counted ? sum == 0 : start == end);
    }
    HOLDS(is_counted || most > UINT16_MAX);
}

/* Hold a digest against that of another reading. */
static void
check_named(const Mail *again, Outcome outcome)
{
    uint8_t other_digest[DIGEST_SIZE];
    if (outcome != READ)
        return;
    digest_of(again, other_digest);
    HOLDS(!memcmp(other_digest, digest, DIGEST_SIZE));
}

/* Hold the digest of the batch's last message, once it is there, against that by itself. */
static void
check_digest(void)
{
    size_t n_left = random_below(LANES);
    find_digests(&batch, (int)n_left);
    HOLDS((size_t)batch.n_lanes <= n_left);
    if (!n_left && batch.facts.values[batch.facts.length - 1])
        HOLDS(!memcmp(batch.facts.values + batch.facts.length - 4, digest, DIGEST_SIZE));
}

/* Whether another reading has the same terms; those of the first are sorted. */
static void
check_same(Mail *again)
{
    HOLDS(again->is_typical == mail->is_typical);
    for (size_t n = 0; n < mail->n_views; n++) {
        size_t length = mail->keys[n].length;
        uint64_t *keys = again->keys[n].values;
        HOLDS(again->keys[n].length == length);
        if (!length)
            continue;
        qsort(keys, length, sizeof *keys, compare);
        HOLDS(!memcmp(keys, mail->keys[n].values, length * sizeof *keys));
    }
}

static void
empty_batch(void)
{
    release_batch(&batch);
    batch = (Batch){.secret = random_bits() | 1, .are_counted = random_below(4)};
}

/* Read as a document that is no mail: twice, the second time perhaps without memory. */
static void
check_plain(Slice data)
{
    Outcome expected = read_mail(plain, data);
    if (expected == READ)
        digest_of(plain, digest);
    empty_batch();
    HOLDS(push_message(&batch, plain, expected == READ));
    check_digest();
    if (expected == READ)
        check_batch(plain);
    if (random_below(2))
        fail_at(1 + (long)random_below(8));
    Outcome again = read_mail(plain, data);
    fail_at(-1);
    HOLDS(again == expected || again == OUT_OF_MEMORY);
    check_named(plain, again);
    trim_mail(plain);
    empty_batch();
}

/* Read with line feeds as CR LF: nothing else may come of it. */
static void
check_line_ends(Slice data)
{
    uint8_t *copy = malloc(2 * length_of(data) + 1), *to = copy;
    HOLDS(copy);
    for (const uint8_t *at = data.at; at < data.end; at++) {
        if (*at == '\n')
            *to++ = '\r';
        *to++ = *at;
    }
    if (read_mail(other, slice(copy, to)) == READ) {
        check_named(other, READ);
        check_same(other);
    }
    trim_mail(other);
    free(copy);
}

void
try_input(const uint8_t *bytes, size_t length)
{
    Slice data = slice(bytes, bytes + length);
    int what = (int)random_below(16);
    behaviour = (int)random_below(1000);
    Outcome expected = read_mail(mail, data);
    HOLDS(expected != OUT_OF_MEMORY);
    if (expected == READ)
        digest_of(mail, digest);
    if (!batch.secret || batch.facts.length >= 4 * 12)
        empty_batch();
    else if (batch.n_slotted && !random_below(8)) /* as after thousands of millions of keys */
        batch.n_slotted = UINT32_MAX - (uint32_t)random_below(4000);
    HOLDS(push_message(&batch, mail, expected == READ));
    check_digest();
    if (expected == READ)
        check_batch(mail);
    if (what < 2) {
        Outcome again = read_mail(other, data);
        HOLDS(again == expected);
        check_named(other, again);
        if (again == READ)
            check_same(other);
    } else if (what < 3 && expected == READ && !find_byte(data, '\r')) {
        check_line_ends(data);
    } else if (what < 6) { /* without memory from some request on */
        fail_at(1 + (long)random_below(40));
        Outcome again = read_mail(other, data);
        check_named(other, again);
        bool is_pushed = again == READ && push_message(&batch, other, true);
        fail_at(-1);
        HOLDS(again == OUT_OF_MEMORY || again == expected);
        if (again == READ)
            check_same(other);
        if (is_pushed)
            check_batch(other);
        empty_batch();
        release_mail(other);
        make_other();
    } else if (what < 8) {
        check_plain(data);
    }
    trim_mail(other);
    trim_mail(mail);
}
