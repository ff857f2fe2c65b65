/* The texts that views read, and the digest; twin of nbtext/mail/message.py. */

#include "mail.h"

#include <stdlib.h>

enum { MOST_KEPT = 1 << 16 }; /* room for keys that waits for the next message */

static const char *const IDENTIFYING[] = {"from", "to", "date", "subject", "message-id"};
enum { N_IDENTIFYING = 5, OF_SIZE = 24 }; /* fields; bytes of a size and of what is around it */

void
add_text(Mail *mail, Texts *texts, Slice name, Slice text)
{
    Text *added = grab_for(mail, sizeof *added);
    *added = (Text){NULL, name, text};
    APPEND(texts->first, texts->last, added);
}

bool
is_wide(Slice data)
{
    static const uint8_t UTF_32[] = {0, 0, 0xFE, 0xFF};
    return begins(data, "\xFF\xFE") || begins(data, "\xFE\xFF")
           || (length_of(data) >= 4 && !memcmp(data.at, UTF_32, 4));
}

Slice
with_line_feeds(Mail *mail, Slice data)
{
    if (!find_byte(data, '\r'))
        return data;
    uint8_t *copy = grab_for(mail, length_of(data)), *to = copy;
    for (const uint8_t *at = data.at; at < data.end; at++) {
        if (*at != '\r')
            *to++ = *at;
        else if (at + 1 == data.end || at[1] != '\n')
            *to++ = '\n';
    }
    return slice(copy, to);
}

/* --- views R and B ---------------------------------------------------------------- */

/* Join the visible lines and as much of the body as there is room for. */
static void
add_raw(Mail *mail, const Head *head, const uint8_t *end)
{
    uint8_t *copy = grab_for(mail, RAW_BYTES), *to = copy, *room = copy + RAW_BYTES;
    const Field *field = head->first;
    const Text *stray = head->strays.first;
    while ((field || stray) && to < room) {
        Slice line = field ? field->line : stray->text;
        if (to > copy)
            *to++ = '\n';
        if (length_of(line) > (size_t)(room - to))
            line.end = line.at + (room - to);
        to = put(to, line);
        if (field)
            field = field->next;
        else
            stray = stray->next;
    }
    for (int n = 0; n < 2 && to > copy && to < room; n++)
        *to++ = '\n';
    Slice body = slice(head->body < end ? head->body : end, end);
    size_t left = (size_t)(room - to) - (to == copy ? 2 : 0);
    if (length_of(body) > left)
        body.end = body.at + left;
    Slice text = latin1_to_utf8(mail, slice(copy, put(to, body)));
    add_text(mail, mail->texts + RAW_TEXT, slice_of("raw"), text);
}

/* The first bytes of a text, at most so many; no character of UTF-8 is cut. */
static Slice
beginning(Slice data, size_t room)
{
    if (length_of(data) <= room)
        return data;
    for (size_t n = room; n && n + 4 > room; n--)
        if ((data.at[n] & 0xC0) != 0x80)
            return slice(data.at, data.at + n);
    return slice(data.at, data.at + room);
}

/* Add the text of each text part, as long as there is room. */
static void
add_body(Mail *mail)
{
    size_t room = BODY_BYTES;
    for (const Leaf *leaf = mail->first_leaf; leaf && room; leaf = leaf->next) {
        if (leaf->kind == DATA)
            continue;
        Slice text = beginning(leaf->data, room);
        room -= length_of(text);
        text = decode(mail, leaf->charset, text);
        if (leaf->kind == HTML)
            text = html_text(mail, text);
        add_text(mail, mail->texts + BODY_TEXT, slice_of("body"), text);
    }
}

/* --- keys ------------------------------------------------------------------------- */

static uint64_t
salt_by_hash(Slice name)
{
    uint8_t digest[8];
    Hash hash;
    start_hash(&hash, sizeof digest);
    add_to_hash(&hash, name);
    end_hash(&hash, digest);
    return word_at(digest, sizeof digest);
}

uint64_t
salt_of(Mail *mail, Slice name)
{
    size_t length = length_of(name);
    Salt *known = mail->salts + hash_of(name) % N_SALTS;
    if (length && known->length == length && !memcmp(known->name, name.at, length))
        return known->salt;
    uint64_t salt = salt_by_hash(name);
    if (length && length <= sizeof known->name) {
        known->salt = salt;
        known->length = length;
        memcpy(known->name, name.at, length);
    }
    return salt;
}

bool
read_view(Mail *mail, const MailView *view, Keys *keys)
{
    size_t left = view->view.limit;
    if (view->view.ngrams) {
        Normalised normalised;
        return push_ngrams(mail, view, &normalised, keys);
    }
    for (const Text *text = mail->texts[view->text].first; text; text = text->next) {
        uint64_t salt = view->fields ? salt_of(mail, text->name) : 0;
        if (!read_field(view->tables, &view->view, text->text, salt, &left, keys, NULL))
            return false;
    }
    return true;
}

/* --- the digest ------------------------------------------------------------------- */

/* Copy data without white space to a place with room for it, and a byte more. */
static uint8_t *
put_rest(uint8_t *to, Slice data)
{
    for (; data.at < data.end; data.at++) {
        *to = *data.at;
        to += !is_space(*data.at);
    }
    return to;
}

/* Write a leaf behind its size. */
static uint8_t *
put_leaf(Mail *mail, uint8_t *to, const Leaf *leaf)
{
    bool is_data = leaf->kind == DATA;
    Slice data = without_end_space(is_data ? leaf->data : with_line_feeds(mail, leaf->data));
    if (is_data)
        data = slice(to + OF_SIZE, put_rest(to + OF_SIZE, data));
    *to++ = '\n';
    to = put_number(to, length_of(data));
    *to++ = ':';
    return (uint8_t *)memmove(to, data.at, length_of(data)) + length_of(data);
}

uint8_t *
begin_naming(Mail *mail, size_t most)
{
    mail->named.room.length = 0;
    if (!make_room(&mail->named.room, most / 8 + 1))
        stop(mail, OUT_OF_MEMORY);
    start_hash(&mail->named, DIGEST_SIZE);
    return (uint8_t *)mail->named.room.values;
}

/* Name the message; what has nothing to be named by is refused. */
static void
name_mail(Mail *mail, const Head *head)
{
    size_t most = HEADER_BYTES - mail->header_left + N_IDENTIFYING, least = N_IDENTIFYING - 1;
    for (const Leaf *leaf = mail->first_leaf; leaf; leaf = leaf->next, least += strlen("\n0:"))
        most += length_of(leaf->data) + OF_SIZE;
    uint8_t *text = begin_naming(mail, most), *to = text;
    for (size_t n = 0; n < N_IDENTIFYING; n++) {
        const Field *field = head->first;
        while (field && !is_equal(field->name, IDENTIFYING[n]))
            field = field->next;
        if (n)
            *to++ = '\n';
        if (field)
            to = put_rest(to, field->value);
    }
    for (const Leaf *leaf = mail->first_leaf; leaf; leaf = leaf->next)
        to = put_leaf(mail, to, leaf);
    mail->named.rest = slice(text, to);
    if (length_of(mail->named.rest) == least)
        stop(mail, REFUSED);
}

/* --- all of it -------------------------------------------------------------------- */

/* Read a message down to the texts of its views, and name it if that is asked for. */
static void
read_texts(Mail *mail, Slice data)
{
    Head head;
    if (is_wide(data))
        stop(mail, REFUSED);
    data = with_line_feeds(mail, data);
    read_head(mail, message_start(data), data.end, &head);
    if (!head.first) /* perhaps one that begins badly */
        stop(mail, REFUSED);
    walk(mail, data, &head, MAX_DEPTH);
    add_headers(mail, &head);
    add_raw(mail, &head, data.end);
    add_body(mail);
    if (mail->is_named)
        name_mail(mail, &head);
}

static void
begin_mail(Mail *mail)
{
    mail->outcome = READ;
    mail->first_leaf = mail->last_leaf = NULL;
    mail->first_part_field = mail->last_part_field = NULL;
    mail->header_left = HEADER_BYTES;
    mail->fields_left = MOST_FIELDS;
    mail->parts_left = MAX_PARTS;
    mail->messages_left = MOST_ENCODED;
    memset(mail->texts, 0, sizeof mail->texts);
}

/* Whether the documents are no mail. */
static bool
are_plain(const Mail *mail)
{
    return mail->n_views && mail->views[0].text == PLAIN_TEXT;
}

Outcome
read_mail_texts(Mail *mail, Slice data)
{
    begin_mail(mail);
    if (!setjmp(mail->end))
        (are_plain(mail) ? read_plain : read_texts)(mail, data);
    return mail->outcome;
}

Outcome
read_mail(Mail *mail, Slice data)
{
    if (read_mail_texts(mail, data) != READ)
        return mail->outcome;
    for (size_t n = 0; n < mail->n_views; n++) {
        mail->keys[n].length = 0;
        if (!read_view(mail, mail->views + n, mail->keys + n))
            return mail->outcome = OUT_OF_MEMORY;
    }
    return READ;
}

void
release_mail(Mail *mail)
{
    release_arena(&mail->arena);
    for (size_t n = 0; n < MOST_VIEWS; n++)
        release_keys(mail->keys + n);
    release_keys(&mail->named.room);
    free(mail);
}

void
trim_mail(Mail *mail)
{
    empty_arena(&mail->arena);
    for (size_t n = 0; n < mail->n_views; n++)
        if (mail->keys[n].room > MOST_KEPT)
            release_keys(mail->keys + n);
    if (mail->named.room.room > MOST_KEPT)
        release_keys(&mail->named.room);
}
