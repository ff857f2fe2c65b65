/*
 * What view H reads: each field's text, what fields there are, and the fields of parts.
 * Twin of `_header_view` in nbtext/mail/message.py.
 */

#include "mail.h"

/* Fields that mail has. */
static const char *const TELL_TALE[] = {
    "received", "date", "message-id", "return-path", "mime-version", NULL,
};

static const char *const WITH_ADDRESSES[] = {
    "received", "received-spf", "x-client-ip", "x-forwarded-for", "x-originating-ip",
    "x-received", "x-remote-ip", "x-sender-ip", "x-source-ip", NULL,
};

static const char *const WITH_MAILBOXES[] = {
    "cc", "errors-to", "from", "message-id", "reply-to", "return-path", "sender", "to",
    NULL,
};

/* The text of a Content-Type without boundaries; false if Python has to. */
static bool
type_text(Slice declared, uint8_t *copy, Slice *text)
{
    Parameter boundary;
    Search found;
    uint8_t *to = copy;
    while ((found = find_parameter(declared, "boundary", &boundary)) == FOUND) {
        to = put(to, slice(declared.at, boundary.start));
        declared.at = boundary.end;
    }
    to = put(to, declared);
    *text = stripped(slice(copy, to));
    return found == NOT_THERE;
}

/* What stands at a dot within an IPv4 address: the three numbers around and behind it. */
static bool
numbers_at(Slice text, const uint8_t *dot, Slice *numbers)
{
    const uint8_t *start = dot, *end;
    while (start > text.at && is_digit(start[-1]) && dot - start < 3)
        start--;
    numbers[0] = slice(start, dot);
    for (int n = 1; n < 3; n++) {
        for (end = dot + 1; end < text.end && is_digit(*end);)
            end++;
        numbers[n] = slice(dot + 1, end);
        if (end == dot + 1 || end - dot > 4 || end == text.end || *end != '.')
            return false;
        dot = end;
    }
    return start < numbers[0].end && dot + 1 < text.end && is_digit(dot[1]);
}

/* Add the /24 and /16 prefixes of each IPv4 address. */
static Slice
address_text(Mail *mail, Slice text)
{
    Slice numbers[3];
    const uint8_t *dot = find_byte(text, '.');
    if (!dot)
        return text;
    /* for each dot up to seven bytes and for each digit up to five are added */
    uint8_t *copy = grab_for(mail, 8 * length_of(text)), *to = put(copy, text);
    for (Slice rest = text; (dot = find_byte(rest, '.')); rest.at = dot + 1) {
        if (!numbers_at(text, dot, numbers))
            continue;
        for (int n_numbers = 3; n_numbers > 1; n_numbers--) {
            *to++ = ' ';
            for (int n = 0; n < n_numbers; n++) {
                to = put(to, numbers[n]);
                *to++ = '.';
            }
        }
    }
    return slice(copy, to);
}

/* Add the host of each address. */
static Slice
mailbox_text(Mail *mail, Slice text)
{
    if (!find_byte(text, '@'))
        return text;
    /* "@a" becomes "@a @a" */
    uint8_t *copy = grab_for(mail, 3 * length_of(text)), *to = put(copy, text);
    const uint8_t *at;
    for (Slice rest = text; (at = find_byte(rest, '@'));) {
        const uint8_t *end = at + 1;
        while (end < rest.end
               && (is_letter(*end) || is_digit(*end) || *end == '.' || *end == '-'))
            end++;
        while (end > at + 1 && (end[-1] == '.' || end[-1] == '-'))
            end--;
        rest.at = end;
        if (end > at + 1) {
            *to++ = ' ';
            to = put(to, slice(at, end));
        }
    }
    return slice(copy, to);
}

/* Whether a text begins as a pattern says: A and a for letters, 9 for digits. */
static bool
is_like(Slice text, const char *pattern)
{
    for (; *pattern; pattern++, text.at++) {
        uint8_t byte = text.at < text.end ? *text.at : 0;
        bool fits = *pattern == 'A'   ? (uint8_t)(byte - 'A') < 26
                    : *pattern == 'a' ? (uint8_t)(byte - 'a') < 26
                    : *pattern == '9' ? is_digit(byte)
                                      : byte == (uint8_t)*pattern;
        if (!fits)
            return false;
    }
    return true;
}

/* Weekday, hour and zone of a usual date; false if Python has to. */
static bool
date_text(Slice date, uint8_t *to, Slice *text)
{
    static const char *const DAYS[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", NULL};
    const uint8_t *day = date.at;
    bool has_day = length_of(date) > 4 && is_one_of(slice(day, day + 3), DAYS);
    if (has_day) {
        date.at += 3 + (day[3] == ',');
        if (date.at == date.end || *date.at != ' ')
            return false;
        while (date.at < date.end && *date.at == ' ')
            date.at++;
    }
    if (is_like(date, "99"))
        date.at++;
    /* "1 Jul 2002 10:20:30 +0200", "GMT" or nothing */
    if (!is_like(date, "9 Aaa 9999 99:99:99"))
        return false;
    const uint8_t *hour = date.at + 11, *zone = date.at + 19, *end = zone;
    if (zone < date.end) {
        end = zone = zone + (*zone == ' ');
        if (is_like(slice(zone, date.end), "+9999") || is_like(slice(zone, date.end), "-9999"))
            end += 5;
        while (end < date.end && end - zone < 5 && is_letter(*end))
            end++;
        if (zone == date.at + 19 || end == zone
            || (end < date.end && (is_letter(*end) || is_digit(*end) || *end == '_')))
            return false;
    }
    text->at = to;
    for (int n = 0; has_day && n < 4; n++)
        *to++ = n < 3 ? lower(day[n]) : ' ';
    to = put(to, slice(hour, hour + 2));
    *to++ = 'h';
    if (zone < end)
        *to++ = ' ';
    for (; zone < end; zone++)
        *to++ = lower(*zone);
    text->end = to;
    return true;
}

/* What view H reads of a field. */
static Slice
field_text(Mail *mail, const Field *field)
{
    if (is_equal(field->name, "content-type") || is_equal(field->name, "date")) {
        Slice text = stripped(field->value);
        uint8_t *copy = grab_for(mail, length_of(text) + 16);
        bool is_known = is_ascii(text) && !find_text(text, slice_of("=?"))
                        && (*field->name.at == 'd' ? date_text(text, copy, &text)
                                                   : type_text(text, copy, &text));
        return is_known ? text : mail->ask(mail, FIELD_TEXT, field->name, field->value);
    }
    Slice text = readable(mail, field->value);
    if (is_one_of(field->name, WITH_ADDRESSES))
        return address_text(mail, text);
    return is_one_of(field->name, WITH_MAILBOXES) ? mailbox_text(mail, text) : text;
}

/* Whether no field before has this one's name. */
static bool
is_first(const Field *fields, const Field *field)
{
    for (; fields != field; fields = fields->next)
        if (fields->hash == field->hash && is_same(fields->name, field->name))
            return false;
    return true;
}

/* Add the texts of what fields there are and of how many hops. */
static void
add_summary(Mail *mail, const Head *head)
{
    const Slice received = slice_of("received=");
    size_t length = 0;
    unsigned n_received = 0, n_typical = 0;
    for (const Field *field = head->first; field; field = field->next)
        length += length_of(field->name) + 1;
    uint8_t *names = grab_for(mail, length), *to = names;
    uint8_t *hops = grab_for(mail, length_of(received) + 11), *hop = hops;
    for (const Field *field = head->first; field; field = field->next) {
        n_received += is_equal(field->name, "received");
        if (!is_first(head->first, field))
            continue;
        n_typical += is_one_of(field->name, TELL_TALE);
        to = put(to, field->name);
        *to++ = ' ';
    }
    mail->is_typical = n_typical > 1;
    hop = put(hop, received);
    hop = put_number(hop, n_received);
    Texts *texts = mail->texts + HEADERS_TEXT;
    add_text(mail, texts, slice_of("has"), slice(names, to - 1));
    add_text(mail, texts, slice_of("hops"), slice(hops, hop));
}

void
add_headers(Mail *mail, const Head *head)
{
    Texts *texts = mail->texts + HEADERS_TEXT;
    size_t length = 0;
    for (const Field *field = head->first; field; field = field->next)
        add_text(mail, texts, field->name, field_text(mail, field));
    add_summary(mail, head);
    for (const Field *field = mail->first_part_field; field; field = field->next) {
        Slice name = slice(field->name.at - 5, field->name.end); /* with "part." */
        add_text(mail, texts, name, field_text(mail, field));
    }
    for (const Text *text = texts->first; text; text = text->next)
        length += length_of(text->name) + length_of(text->text);
    if (length > MAX_HEADER_CHARS) /* perhaps more characters, too */
        stop(mail, REFUSED);
}
