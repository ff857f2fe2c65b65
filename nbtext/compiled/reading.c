/* A document that is no mail; twin of `_read_text` of nbtext/tokens/reading.py. */

#include "mail.h"

enum { SEARCHED = 1024 }; /* bytes, for NULs */

static void
name_text(Mail *mail, Slice data)
{
    uint8_t *text = begin_naming(mail, 8 + length_of(data));
    for (int n = 0; n < 8; n++)
        text[n] = (uint8_t)((uint64_t)length_of(data) >> 8 * n);
    mail->named.rest = slice(text, put(text + 8, data));
}

void
read_plain(Mail *mail, Slice data)
{
    static const uint8_t nuls[7]; /* which no text has in a row, in UTF-16 or in UTF-32 */
    Slice nothing = slice(data.end, data.end); /* neither charset nor name */
    Slice head = length_of(data) > SEARCHED ? slice(data.at, data.at + SEARCHED) : data;
    if (is_wide(data) || (find_byte(head, 0) && !find_text(head, slice(nuls, nuls + 7))))
        stop(mail, REFUSED); /* the latter may be wide without a mark */
    if (mail->is_named)
        name_text(mail, data);
    add_text(mail, mail->texts + PLAIN_TEXT, nothing, decode(mail, nothing, data));
}
