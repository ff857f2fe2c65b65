/* A document that is no mail; twin of `_read_text` of nbtext/tokens/reading.py. */

#include "mail.h"

enum { LOOKED_AT = 65536, SEARCHED = 1024 }; /* bytes, for a mail's header, and for NULs */

/* Which of the fields that mail has a line is: a bit for each. */
static unsigned
tell_tale(Slice line)
{
    for (unsigned n = 0; TELL_TALE[n]; n++) {
        Slice rest = line;
        if (!begins_folded(rest, TELL_TALE[n]))
            continue;
        rest.at += strlen(TELL_TALE[n]);
        while (rest.at < rest.end && (*rest.at == ' ' || *rest.at == '\t'))
            rest.at++;
        if (rest.at < rest.end && *rest.at == ':')
            return 1u << n;
    }
    return 0;
}

/* Twin of `looks_like_mail` of nbtext/mail/message.py, of bytes that are not wide. */
static bool
looks_like_mail(Mail *mail, Slice data)
{
    unsigned found = 0;
    if (length_of(data) > LOOKED_AT)
        data.end = data.at + LOOKED_AT;
    if (!with_line_feeds(mail, &data))
        return false;
    data.at = message_start(data);
    while (data.at < data.end) {
        const uint8_t *end = find_byte(data, '\n');
        found |= tell_tale(slice(data.at, end ? end : data.end));
        if (!end || end + 1 == data.end || end[1] == '\n')
            break;
        data.at = end + 1;
    }
    mail->is_typical = found & (found - 1); /* two of them or more */
    return true;
}

static void
name_text(Mail *mail, Slice data)
{
    uint8_t size[8];
    Hash hash;
    for (int n = 0; n < 8; n++)
        size[n] = (uint8_t)((uint64_t)length_of(data) >> 8 * n);
    start_hash(&hash, DIGEST_SIZE);
    add_to_hash(&hash, slice(size, size + 8));
    add_to_hash(&hash, data);
    end_hash(&hash, mail->digest);
}

bool
read_plain(Mail *mail, Slice data)
{
    static const uint8_t nuls[7]; /* which no text has in a row, in UTF-16 or in UTF-32 */
    Slice text = data, nothing = slice(data.end, data.end); /* neither charset nor name */
    Slice head = length_of(data) > SEARCHED ? slice(data.at, data.at + SEARCHED) : data;
    if (is_wide(data) || (find_byte(head, 0) && !find_text(head, slice(nuls, nuls + 7))))
        return stop(mail, REFUSED); /* the latter may be wide without a mark */
    if (mail->is_named)
        name_text(mail, data);
    return looks_like_mail(mail, data) && decode(mail, nothing, &text)
           && add_text(mail, mail->texts + PLAIN_TEXT, nothing, text);
}
