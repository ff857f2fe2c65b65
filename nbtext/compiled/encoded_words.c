/*
 * The readable text of a field's value: raw UTF-8 or Windows-1252, and encoded words
 * (RFC 2047). Twin of nbtext/mail/encoded_words.py.
 */

#include "mail.h"

enum { GROWTH = 3 }; /* bytes of UTF-8 for one of another charset, at the most */

typedef struct {
    const uint8_t *start, *end; /* of all of it */
    Slice charset, text;
    bool is_base64;
} Word;

/* A value that is being decoded; a run are bytes of neighbours of one charset. */
typedef struct {
    Mail *mail;
    uint8_t *to, *run, *run_end;
    Slice charset;
    bool is_known; /* or Python has to */
} Decoding;

/* Find the first encoded word of a text of ASCII; false if there is none. */
static bool
next_word(Slice text, Word *word)
{
    for (; (text.at = find_text(text, slice_of("=?"))); text.at++) {
        const uint8_t *first = text.at + 2, *at = first, *end;
        while (at < text.end && *at != '?' && !is_text_space(*at))
            at++;
        if (at == first || at - first > LONGEST_CHARSET || text.end - at < 5 || *at != '?'
            || at[2] != '?' || (lower(at[1]) != 'b' && lower(at[1]) != 'q'))
            continue;
        end = find_byte(slice(at + 3, text.end), '?');
        if (!end || end + 1 == text.end || end[1] != '=')
            continue;
        const uint8_t *star = find_byte(slice(first, at), '*'); /* RFC 2231's language */
        *word = (Word){text.at, end + 2, slice(first, star ? star : at),
                       slice(at + 3, end), lower(at[1]) == 'b'};
        return true;
    }
    return false;
}

/* Add what a word encodes to the run. */
static void
add_word(Decoding *of, const Word *word)
{
    Slice bytes = word->text;
    if (word->is_base64) {
        of->is_known &= is_whole_base64(bytes);
    } else {
        uint8_t *copy = grab_for(of->mail, length_of(bytes));
        bytes = slice(copy, put(copy, bytes));
        for (; copy < bytes.end; copy++)
            if (*copy == '_')
                *copy = ' ';
    }
    bytes = decode_transfer(of->mail, word->is_base64 ? BASE64 : QUOTED_PRINTABLE, bytes);
    of->run_end = put(of->run_end, bytes);
}

/* Write the text of the run. */
static void
end_run(Decoding *of)
{
    Slice text = slice(of->run, of->run_end);
    size_t most = GROWTH * length_of(text);
    if (text.at == text.end)
        return;
    text = decode(of->mail, of->charset, text);
    of->is_known &= length_of(text) <= most;
    if (of->is_known)
        of->to = put(of->to, text);
    of->run_end = of->run;
}

/* Decode the encoded words of a text of ASCII, and copy what is between them; false if Python
   has to. */
static bool
decode_words(Mail *mail, Slice *text)
{
    size_t length = length_of(*text);
    uint8_t *copy = grab_for(mail, GROWTH * length), *run = grab_for(mail, length);
    Decoding of = {.mail = mail, .to = copy, .run = run, .run_end = run,
                   .charset = slice(text->at, text->at), .is_known = true};
    Slice rest = *text;
    Word word;
    while (of.is_known && next_word(rest, &word)) {
        Slice between = slice(rest.at, word.start), visible = stripped(between);
        bool is_alone = visible.at < visible.end;
        if (is_alone || !is_same(of.charset, word.charset))
            end_run(&of);
        if (is_alone || rest.at == text->at)
            of.to = put(of.to, between);
        add_word(&of, &word);
        of.charset = word.charset;
        rest.at = word.end;
    }
    end_run(&of);
    *text = slice(copy, put(of.to, rest));
    return of.is_known;
}

/* Whether a text begins or ends with white space that is not ASCII. */
static bool
has_space_around(Slice text)
{
    const uint8_t *last = text.end;
    while (last > text.at && (*--last & 0xC0) == 0x80)
        ;
    return space_at(text) || space_at(slice(last, text.end));
}

Slice
readable(Mail *mail, Slice value)
{
    bool is_in_ascii = is_ascii(value);
    Slice nothing = slice_of(""), text = is_in_ascii ? value : decode(mail, nothing, value);
    bool is_known = !find_text(text, slice_of("=?"))
                    || (is_in_ascii && decode_words(mail, &text));
    text = stripped(text);
    is_known = is_known && !has_space_around(text);
    return is_known ? text : mail->ask(mail, READABLE, value, nothing);
}
