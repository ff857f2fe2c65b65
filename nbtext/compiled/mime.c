/* A message's parts, down to its leaves; twin of nbtext/mail/mime.py. */

#include "mail.h"

/* Find a parameter of a Content-Type field; odd are stars and backslashes. */
Search
find_parameter(Slice declared, const char *name, Parameter *parameter)
{
    const uint8_t *end = declared.end;
    for (; declared.at < end; declared.at++) {
        Slice rest = slice(declared.at + 1, end);
        if ((*declared.at != ';' && !is_space(*declared.at))
            || !begins_folded(rest, name))
            continue;
        rest.at += strlen(name);
        if (rest.at < end && *rest.at == '*')
            return IS_ODD;
        while (rest.at < end && is_space(*rest.at))
            rest.at++;
        if (rest.at == end || *rest.at != '=')
            continue;
        rest.at++;
        while (rest.at < end && is_space(*rest.at))
            rest.at++;
        bool is_quoted = rest.at < end && *rest.at == '"';
        rest.at += is_quoted;
        const uint8_t *at = rest.at;
        while (at < end && (is_quoted ? *at != '"' : *at != ';' && !is_space(*at))) {
            if (is_quoted && *at == '\\')
                return IS_ODD;
            at++;
        }
        parameter->value = slice(rest.at, at);
        parameter->start = declared.at;
        parameter->end = is_quoted && at < end ? at + 1 : at;
        return FOUND;
    }
    return NOT_THERE;
}

/* The value of a parameter, empty if it is not there. */
static Slice
parameter_of(Mail *mail, Slice declared, const char *name)
{
    Parameter parameter;
    Search found = find_parameter(declared, name, &parameter);
    if (found == IS_ODD)
        stop(mail, REFUSED);
    return found == FOUND ? parameter.value : slice(declared.end, declared.end);
}

bool
is_envelope(Slice text)
{
    return begins(text, "From ") || begins(text, ">From ");
}

const uint8_t *
message_start(Slice data)
{
    while (data.at < data.end && *data.at == '\n')
        data.at++;
    while (is_envelope(data)) {
        const uint8_t *end = find_byte(data, '\n');
        data.at = end ? end + 1 : data.end;
    }
    return data.at;
}

static void
add_leaf(Mail *mail, LeafKind kind, Slice charset, Slice data)
{
    Leaf *leaf = grab_for(mail, sizeof *leaf);
    *leaf = (Leaf){NULL, kind, charset, data};
    APPEND(mail->first_leaf, mail->last_leaf, leaf);
}

/* Lines among the fields that are none are a text of their own. */
static void
add_strays(Mail *mail, const Head *head)
{
    size_t length = 0;
    for (const Text *stray = head->strays.first; stray; stray = stray->next)
        length += length_of(stray->text) + 1;
    if (!length)
        return;
    uint8_t *copy = grab_for(mail, length), *to = copy;
    for (const Text *stray = head->strays.first; stray; stray = stray->next) {
        to = put(to, stray->text);
        *to++ = '\n';
    }
    add_leaf(mail, TEXT, slice(to, to), slice(copy, to - 1));
}

static bool
is_type_byte(uint8_t byte)
{
    return is_letter(byte) || is_digit(byte) || (byte && strchr("_.+-", byte));
}

/* The media type at the beginning of a Content-Type field, empty if there is none. */
static Slice
media_type(Mail *mail, Slice declared)
{
    while (declared.at < declared.end && is_text_space(*declared.at))
        declared.at++;
    const uint8_t *at = declared.at, *end = declared.end, *mark;
    while (at < end && is_type_byte(*at))
        at++;
    mark = at;
    if (at < end && *at == '/')
        at++;
    while (mark < at && at < end && is_type_byte(*at))
        at++;
    if (at < end && *at >= 0x80) /* perhaps a letter, or white space */
        stop(mail, REFUSED);
    return mark > declared.at && at > mark + 1 ? slice(declared.at, at) : slice(end, end);
}

/* What follows a delimiter on its line. */
typedef enum { TEXT_BEHIND, NOTHING, CLOSING } Behind;

static Behind
behind_delimiter(Slice rest)
{
    rest = without_end_space(rest);
    while (rest.at < rest.end && is_space(*rest.at))
        rest.at++;
    return rest.at == rest.end ? NOTHING : is_equal(rest, "--") ? CLOSING : TEXT_BEHIND;
}

static void
walk_part(Mail *mail, Slice part, int depth)
{
    Head head;
    mail->parts_left--;
    read_head(mail, part.at, part.end, &head);
    if (head.first) {
        APPEND(mail->first_part_field, mail->last_part_field, head.first);
        mail->last_part_field = head.last;
    }
    walk(mail, part, &head, depth - 1);
}

/* Walk a multipart's parts; tell whether there are any. */
static bool
walk_parts(Mail *mail, Slice body, Slice boundary, int depth)
{
    size_t length = length_of(boundary) + 3;
    uint8_t *delimiter = grab_for(mail, length);
    memcpy(delimiter, "\n--", 3);
    put(delimiter + 3, boundary);
    const uint8_t *start = NULL, *at = body.at, *end = body.end;
    bool is_open = true, has_parts = false;
    while (is_open && at) {
        const uint8_t *next = NULL;
        at = find_text(slice(at, end), slice(delimiter, delimiter + length));
        Behind behind = NOTHING;
        if (at) {
            const uint8_t *line_end = find_byte(slice(at + length, end), '\n');
            behind = behind_delimiter(slice(at + length, line_end ? line_end : end));
            next = line_end ? line_end + 1 : end;
        }
        if (behind != TEXT_BEHIND) {
            const uint8_t *part_end = at ? at : end;
            if (start) {
                has_parts = true;
                if (!depth || !mail->parts_left)
                    break;
                walk_part(mail, slice(start, part_end > start ? part_end : start), depth);
            }
            start = next;
            is_open = behind == NOTHING;
        }
        at = at ? at + length : NULL;
    }
    return has_parts;
}

/* Walk a message inside the message; its subject is text like any other. */
static void
walk_message(Mail *mail, Slice message, Encoding encoding, int depth)
{
    Head head;
    if (!depth || !mail->parts_left)
        return;
    mail->parts_left--;
    if (encoding != AS_IT_IS && mail->messages_left) {
        mail->messages_left--;
        message = decode_transfer(mail, encoding, message);
    }
    read_head(mail, message_start(message), message.end, &head);
    for (Field *field = head.first, *next; field; field = next) {
        next = field->next;
        if (is_equal(field->name, "subject")) {
            add_leaf(mail, TEXT, slice_of("utf-8"), readable(mail, field->value));
        } else if (begins(field->name, "content-")) {
            field->next = NULL;
            APPEND(mail->first_part_field, mail->last_part_field, field);
        }
    }
    walk(mail, message, &head, depth - 1);
}

static bool
is_html_start(Slice body)
{
    while (body.at < body.end && is_space(*body.at))
        body.at++;
    return begins_folded(body, "<html") || begins_folded(body, "<!doctype html");
}

/* Walk a multipart; false if it has no parts. A digest is refused, no less than one whose
   boundary is to be guessed. */
static bool
walk_multipart(Mail *mail, Slice part, const Head *head, int depth, Slice type)
{
    /* the line end that a delimiter begins with */
    const uint8_t *start = head->body > part.at ? head->body - 1 : part.at;
    Slice boundary = without_end_space(parameter_of(mail, head->type, "boundary"));
    if (boundary.at == boundary.end || is_equal_folded(type, "multipart/digest"))
        stop(mail, REFUSED);
    return walk_parts(mail, slice(start, part.end), boundary, depth);
}

void
walk(Mail *mail, Slice part, const Head *head, int depth)
{
    add_strays(mail, head);
    Slice type = media_type(mail, head->type), body = slice(head->body, part.end);
    Slice charset = parameter_of(mail, head->type, "charset");
    bool is_known = type.at < type.end;
    if (!is_known)
        type = slice_of("text/plain");
    if (begins_folded(type, "multipart/")) {
        if (walk_multipart(mail, part, head, depth, type))
            return;
        is_known = false; /* without parts, all of it is text */
    } else if (!begins_folded(type, "text/") && !begins_folded(type, "message/")) {
        add_leaf(mail, DATA, charset, body);
        return;
    }
    Slice declared = stripped(head->encoding);
    if (declared.at < declared.end && *declared.at >= 0x80)
        stop(mail, REFUSED); /* perhaps white space */
    Encoding encoding = encoding_of(declared);
    if (is_equal_folded(type, "message/rfc822") || is_equal_folded(type, "message/global")
        || is_equal_folded(type, "message/news")) {
        walk_message(mail, body, encoding, depth);
        return;
    }
    body = decode_transfer(mail, encoding, body);
    bool is_html = is_known ? is_equal_folded(type, "text/html")
                                  || is_equal_folded(type, "message/html")
                            : is_html_start(body);
    add_leaf(mail, is_html ? HTML : TEXT, charset, body);
}
