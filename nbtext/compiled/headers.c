/* The header block of a message or part; twin of nbtext/mail/headers.py. */

#include "mail.h"

enum { LONGEST_NAME = 128 };

static const char *const INVISIBLE[] = {
    "content-length", "delivered-to", "envelope-to", "lines", "status", "x-bogosity",
    "x-envelope-to", "x-gmail-labels", "x-imap", "x-imapbase", "x-keywords", "x-label",
    "x-offlineimap", "x-original-to", "x-status", "x-text-classification", "x-tuid",
    "x-uid", "x-uidl", "x-uuid", NULL,
};

static const char *const INVISIBLE_PREFIXES[] = {
    "x-antivirus", "x-barracuda", "x-crm114-", "x-dspam-", "x-getmail-", "x-gm-",
    "x-mailscanner", "x-mozilla-", "x-nbtext", "x-popfile-", "x-spam-", "x-spambayes-",
    "x-virus", NULL,
};

static bool
is_invisible(Slice name)
{
    if (*name.at != 'x' && !strchr("cdels", *name.at))
        return false;
    const char *const *prefix = INVISIBLE_PREFIXES;
    while (*prefix && !begins(name, *prefix))
        prefix++;
    return *prefix || is_one_of(name, INVISIBLE);
}

/* Whether a field begins here, as _FIELD_START says. */
static bool
is_field_start(Slice text)
{
    const uint8_t *at = text.at;
    while (at < text.end && *at > ' ' && *at < 0x7F && *at != ':')
        at++;
    if (at == text.at || at - text.at > LONGEST_NAME)
        return false;
    while (at < text.end && (*at == ' ' || *at == '\t'))
        at++;
    return at < text.end && *at == ':' && !begins(slice(at + 1, text.end), "//");
}

static bool
is_continued(const uint8_t *line_end, const uint8_t *end)
{
    return end - line_end > 1 && (line_end[1] == ' ' || line_end[1] == '\t');
}

/* Take the next line off a block, unfolded. */
static Slice
take_line(Mail *mail, Slice *block)
{
    const uint8_t *end = find_byte(*block, '\n');
    if (!end)
        end = block->end;
    Slice line = slice(block->at, end);
    if (is_continued(end, block->end)) {
        while (is_continued(end, block->end)) {
            end = find_byte(slice(end + 1, block->end), '\n');
            if (!end)
                end = block->end;
        }
        uint8_t *copy = grab_for(mail, (size_t)(end - block->at)), *to = copy;
        const uint8_t *feed;
        for (; (feed = find_byte(slice(line.at, end), '\n')); line.at = feed + 1)
            to = put(to, slice(line.at, feed));
        line = slice(copy, put(to, slice(line.at, end)));
    }
    block->at = end < block->end ? end + 1 : NULL; /* after the last line */
    return line;
}

/* Copy a name in lower case behind "part.". */
static void
take_name(Mail *mail, Slice written, Field *field)
{
    uint8_t *copy = grab_for(mail, 5 + length_of(written)), *to = copy + 5;
    memcpy(copy, "part.", 5);
    while (written.at < written.end)
        *to++ = lower(*written.at++);
    field->name = slice(copy + 5, to);
    field->hash = hash_of(field->name);
}

/* Find a name before a line's first colon; false if there is none. */
static bool
find_name(Mail *mail, Slice line, Slice *name)
{
    const uint8_t *at = line.at;
    uint8_t all = 0;
    if (length_of(line) > LONGEST_NAME)
        line.end = line.at + LONGEST_NAME;
    while (at < line.end && *at != ':')
        all |= *at++;
    if (at == line.end)
        return false;
    if (all >= 0x80)
        stop(mail, REFUSED);
    *name = slice(line.at, at);
    while (name->at < name->end && is_text_space(name->end[-1]))
        name->end--;
    for (at = name->at; at < name->end && *at != ' ' && *at != '\t';)
        at++;
    return at == name->end && at > name->at;
}

static void
note_content(Head *head, const Field *field)
{
    if (!head->type.at && is_equal(field->name, "content-type"))
        head->type = field->value;
    if (!head->encoding.at && is_equal(field->name, "content-transfer-encoding"))
        head->encoding = field->value;
}

static void
add_field(Mail *mail, Head *head, Slice line, Slice name)
{
    Field *field = grab_for(mail, sizeof *field);
    take_name(mail, name, field);
    if (is_invisible(field->name))
        return;
    if (!mail->fields_left--)
        stop(mail, REFUSED);
    field->next = NULL;
    field->line = line;
    field->value = slice(find_byte(slice(name.end, line.end), ':') + 1, line.end);
    if (is_equal(field->name, "received")) /* the date is behind the last semicolon */
        for (const uint8_t *at = line.end; at-- > field->value.at;)
            if (*at == ';') {
                field->line.end = field->value.end = at;
                break;
            }
    note_content(head, field);
    APPEND(head->first, head->last, field);
}

/* Read lines up to an empty one; what is behind that is the body. */
static void
read_block(Mail *mail, Slice block, Head *head)
{
    const uint8_t *start = block.at, *line_end = start;
    while (block.at && (block.at == block.end || *block.at != '\n')) {
        Slice name, line = take_line(mail, &block);
        line_end = block.at ? block.at - 1 : block.end;
        if ((size_t)(line_end - start) > mail->header_left)
            stop(mail, REFUSED);
        if (find_name(mail, line, &name))
            add_field(mail, head, line, name);
        else if (line.at < line.end && !is_envelope(line))
            add_text(mail, &head->strays, slice(line.at, line.at), line);
    }
    mail->header_left -= (size_t)(line_end - start);
    head->body = block.at ? block.at + 1 : block.end;
}

void
read_head(Mail *mail, const uint8_t *start, const uint8_t *end, Head *head)
{
    *head = (Head){0};
    head->body = start;
    if (start < end && *start == '\n')
        head->body = start + 1;
    else if (is_field_start(slice(start, end)))
        read_block(mail, slice(start, end), head);
}
