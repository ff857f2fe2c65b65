/* The texts that views read, and the digest; twin of nbtext/mail/message.py. */

#include "mail.h"

#include <stdlib.h>

enum { MOST_KEPT = 1 << 16 }; /* room for keys that waits for the next message */

static const char *const IDENTIFYING[] = {"from", "to", "date", "subject", "message-id"};
enum { N_IDENTIFYING = 5 };

bool
add_text(Mail *mail, Texts *texts, Slice name, Slice text)
{
    Text *added = grab_for(mail, sizeof *added);
    if (!added)
        return false;
    *added = (Text){NULL, name, text};
    APPEND(texts->first, texts->last, added);
    return true;
}

bool
is_wide(Slice data)
{
    static const uint8_t UTF_32[] = {0, 0, 0xFE, 0xFF};
    return begins(data, "\xFF\xFE") || begins(data, "\xFE\xFF")
           || (length_of(data) >= 4 && !memcmp(data.at, UTF_32, 4));
}

bool
with_line_feeds(Mail *mail, Slice *data)
{
    if (!find_byte(*data, '\r'))
        return true;
    uint8_t *copy = grab_for(mail, length_of(*data)), *to = copy;
    if (!copy)
        return false;
    for (const uint8_t *at = data->at; at < data->end; at++) {
        if (*at != '\r')
            *to++ = *at;
        else if (at + 1 == data->end || at[1] != '\n')
            *to++ = '\n';
    }
    *data = slice(copy, to);
    return true;
}

/* --- views R and B ---------------------------------------------------------------- */

/* Join the visible lines and as much of the body as there is room for. */
static bool
add_raw(Mail *mail, const Head *head, const uint8_t *end)
{
    uint8_t *copy = grab_for(mail, RAW_BYTES), *to = copy, *room = copy + RAW_BYTES;
    if (!copy)
        return false;
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
    to = put(to, body);
    Slice text = slice(copy, to);
    return latin1_to_utf8(mail, &text)
           && add_text(mail, mail->texts + RAW_TEXT, slice_of("raw"), text);
}

/* The first bytes of a text, at most so many; no character of UTF-8 is cut. */
static Slice
beginning(Slice data, size_t room)
{
    if (length_of(data) <= room)
        return data;
    const uint8_t *end = data.at + room, *least = room > 4 ? end - 4 : data.at;
    for (const uint8_t *at = end; at > least; at--)
        if ((*at & 0xC0) != 0x80)
            return slice(data.at, at);
    return slice(data.at, end);
}

/* Add the text of each text part, as long as there is room. */
static bool
add_body(Mail *mail)
{
    size_t room = BODY_BYTES;
    for (const Leaf *leaf = mail->first_leaf; leaf && room; leaf = leaf->next) {
        if (leaf->kind == DATA)
            continue;
        Slice text = beginning(leaf->data, room);
        room -= length_of(text);
        if (!decode(mail, leaf->charset, &text)
            || (leaf->kind == HTML && !html_text(mail, &text))
            || !add_text(mail, mail->texts + BODY_TEXT, slice_of("body"), text))
            return false;
    }
    return true;
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
    uint32_t place = 2166136261u;
    for (const uint8_t *at = name.at; at < name.end; at++)
        place = (place ^ *at) * 16777619u;
    Salt *known = mail->salts + place % N_SALTS;
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
        if (!read_field(view->tables, &view->view, text->text, salt, &left, keys))
            return false;
    }
    return true;
}

/* --- the digest ------------------------------------------------------------------- */

typedef struct {
    Hash hash;
    bool is_empty; /* nothing but line feeds */
} Naming;

static void
name_by(Naming *naming, Slice data)
{
    for (const uint8_t *at = data.at; naming->is_empty && at < data.end; at++)
        naming->is_empty = *at == '\n';
    add_to_hash(&naming->hash, data);
}

/* Hash data without white space; return how many bytes that is. */
static size_t
name_by_rest(Naming *naming, Slice data)
{
    uint8_t rest[1024], *to = rest;
    size_t n = 0;
    for (const uint8_t *at = data.at; at < data.end; at++) {
        *to = *at;
        if (is_space(*at))
            continue;
        n++;
        to++;
        if (to == rest + sizeof rest) {
            if (naming)
                name_by(naming, slice(rest, to));
            to = rest;
        }
    }
    if (naming)
        name_by(naming, slice(rest, to));
    return n;
}

static bool
name_by_leaf(Mail *mail, Naming *naming, const Leaf *leaf)
{
    uint8_t size[24], *end = size;
    Slice data = leaf->data;
    if (leaf->kind != DATA && !with_line_feeds(mail, &data))
        return false;
    data = without_end_space(data);
    size_t n = leaf->kind == DATA ? name_by_rest(NULL, data) : length_of(data);
    *end++ = '\n';
    end = put_number(end, n);
    *end++ = ':';
    add_to_hash(&naming->hash, slice(size, end));
    if (leaf->kind == DATA)
        name_by_rest(naming, data);
    else
        name_by(naming, data);
    return true;
}

/* Name the message; what has nothing to be named by is refused. */
static bool
find_digest(Mail *mail, const Head *head)
{
    Naming naming;
    naming.is_empty = true;
    start_hash(&naming.hash, DIGEST_SIZE);
    for (size_t n = 0; n < N_IDENTIFYING; n++) {
        const Field *field = head->first;
        while (field && !is_equal(field->name, IDENTIFYING[n]))
            field = field->next;
        if (n)
            add_to_hash(&naming.hash, slice_of("\n"));
        if (field)
            name_by_rest(&naming, field->value);
    }
    for (const Leaf *leaf = mail->first_leaf; leaf; leaf = leaf->next)
        if (!name_by_leaf(mail, &naming, leaf))
            return false;
    if (naming.is_empty)
        return stop(mail, REFUSED);
    end_hash(&naming.hash, mail->digest);
    return true;
}

/* --- all of it -------------------------------------------------------------------- */

/* Read a message down to the texts of its views, and name it if that is asked for. */
static bool
read_texts(Mail *mail, Slice data)
{
    Head head;
    if (is_wide(data))
        return stop(mail, REFUSED);
    if (!with_line_feeds(mail, &data)
        || !read_head(mail, message_start(data), data.end, &head))
        return false;
    if (!head.first) /* perhaps one that begins badly */
        return stop(mail, REFUSED);
    return walk(mail, data, &head, MAX_DEPTH)
           && add_headers(mail, &head) && add_raw(mail, &head, data.end)
           && add_body(mail) && (!mail->is_named || find_digest(mail, &head));
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
    return (are_plain(mail) ? read_plain : read_texts)(mail, data) ? READ : mail->outcome;
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
    free(mail);
}

void
trim_mail(Mail *mail)
{
    empty_arena(&mail->arena);
    for (size_t n = 0; n < mail->n_views; n++)
        if (mail->keys[n].room > MOST_KEPT)
            release_keys(mail->keys + n);
}
