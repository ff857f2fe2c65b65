/*
 * What the reader of mail consists of: bytes in, keys of all views and the digest out.
 *
 * Everything is read through slices of the message, or of copies in its arena. What is
 * rare is asked for: a question is answered by the Python function that there is for it.
 * What is rarer still is refused, and Python reads the whole message.
 */

#ifndef NBTEXT_MAIL_H
#define NBTEXT_MAIL_H

#include "core.h"

#include <setjmp.h>

/* --- memory: memory.c ------------------------------------------------------------- */

typedef struct Block Block;

/* Memory that is released together. */
typedef struct {
    Block *last;
} Arena;

/* Return so many bytes that stay until the arena is emptied, NULL if there are none. */
void *grab(Arena *arena, size_t size);
/* Take back all that was grabbed; a little memory is kept for the next message. */
void empty_arena(Arena *arena);
void release_arena(Arena *arena);

/* --- BLAKE2b: blake2b.c ----------------------------------------------------------- */

enum { HASHED = 128, LANES = 4 }; /* bytes of a block; texts that are hashed at a time */

typedef struct {
    uint64_t state[9];  /* the last is how many bytes were hashed */
    Slice rest;         /* of the text */
    size_t size, place; /* of the digest */
    Keys room;          /* for bytes of a text that waits for others */
} Hash;

void start_hash(Hash *hash, size_t size);
/* Hash a text, once; it is still there when the hash ends. */
void add_to_hash(Hash *hash, Slice text);
/* Hash of each of LANES texts as much as all of them have, but for their last blocks. */
void hash_together(Hash *of);
/* Write as many bytes as the hash was started with. */
void end_hash(Hash *hash, uint8_t *digest);

/* --- a message -------------------------------------------------------------------- */

enum { MOST_VIEWS = 16, MOST_FIELDS = 1024, N_SALTS = 1024, DIGEST_SIZE = 16 };
enum { MAX_HEADER_CHARS = 65536, HEADER_BYTES = 1 << 18 };
enum { RAW_BYTES = 8192, BODY_BYTES = 1 << 20 };
enum { MAX_DEPTH = 16, MAX_PARTS = 1000, MOST_ENCODED = 2 };

/* What Python answers: nbtext.mail.questions.ANSWERS has them in this order. */
typedef enum { DECODED, FIELD_TEXT, REFERENCES, UPPER_HALF, READABLE } Question;

/* How reading ends. */
typedef enum { READ, REFUSED, OUT_OF_MEMORY, FAILED } Outcome;

/* Put an item at the end of a list. */
#define APPEND(first, last, item)                                                        \
    do {                                                                                 \
        *((last) ? &(last)->next : &(first)) = (item);                                   \
        (last) = (item);                                                                 \
    } while (0)

/* A visible field; before its name, which is in lower case, there is "part.". */
typedef struct Field {
    struct Field *next;
    Slice name, value, line;
    uint64_t hash; /* of the name */
} Field;

/* A text that a view reads, and the name of its field. */
typedef struct Text {
    struct Text *next;
    Slice name, text;
} Text;

typedef struct {
    Text *first, *last;
} Texts;

/* What precedes the body of a message or part, as nbtext.mail.headers.Head. */
typedef struct {
    Field *first, *last;
    Texts strays;         /* lines among the fields that are none */
    Slice type, encoding; /* of the content; NULL if it is not said */
    const uint8_t *body;
} Head;

typedef enum { DATA, TEXT, HTML } LeafKind;

typedef struct Leaf {
    struct Leaf *next;
    LeafKind kind;
    Slice charset, data;
} Leaf;

/* Views read all that is no mail as PLAIN_TEXT, and nothing else of it. */
typedef enum { HEADERS_TEXT, RAW_TEXT, BODY_TEXT, PLAIN_TEXT, N_TEXTS } TextKind;

/* A view of mail, or of plain text. */
typedef struct {
    View view;
    const Tables *tables;
    TextKind text;
    bool fields; /* names of fields are parts of terms */
} MailView;

typedef struct {
    uint64_t salt;
    uint8_t name[56];
    size_t length;
} Salt;

enum { LONGEST_CHARSET = 64, N_HALVES = 8 };

/* What a charset has from 0x80 on, where each byte is a character. */
typedef struct {
    uint8_t name[LONGEST_CHARSET];
    size_t length, n; /* no characters if it is another charset */
    uint16_t codes[128];
} UpperHalf;

typedef struct Mail Mail;

/* Answer a question about one value or two. */
typedef Slice Ask(Mail *mail, Question question, Slice first, Slice second);

/* What messages are read with, and what was read of the last one. */
struct Mail {
    MailView views[MOST_VIEWS];
    size_t n_views;
    Ask *ask;
    void *asked, *thread; /* whom to ask, and what that needs the lock for */
    bool is_named; /* whether a message gets a digest */

    Keys keys[MOST_VIEWS];
    Hash named; /* what the digest is of */
    bool is_typical; /* mail: has at least two of the fields that mail has */

    Outcome outcome;
    jmp_buf end; /* of reading, which ends early by `stop` */
    Arena arena;
    Leaf *first_leaf, *last_leaf;
    Field *first_part_field, *last_part_field;
    size_t header_left, fields_left;
    int parts_left, messages_left;
    Texts texts[N_TEXTS];
    Salt salts[N_SALTS];
    UpperHalf halves[N_HALVES]; /* of late */
    unsigned next_half;
};

/* End reading a message, wherever it is read: nothing in between has memory to give back, since
   all that is grabbed is in the arena. */
_Noreturn static inline void
stop(Mail *mail, Outcome outcome)
{
    mail->outcome = outcome;
    longjmp(mail->end, 1);
}

/* Grab memory of a message; if there is none, reading ends. */
static inline void *
grab_for(Mail *mail, size_t size)
{
    void *memory = grab(&mail->arena, size);
    if (!memory)
        stop(mail, OUT_OF_MEMORY);
    return memory;
}

/* Read a message. What was found stays until the next one is read. */
Outcome read_mail(Mail *mail, Slice data);
/* Read a message down to the texts of its views. */
Outcome read_mail_texts(Mail *mail, Slice data);
/* Push the key of each n-gram, and return the text; false if there is no memory. */
bool push_ngrams(const Mail *mail, const MailView *view, Normalised *text, Keys *keys);
/* Return how many bytes the run of three that begins here has, 0 if none is a term. */
size_t run_of_three(const uint8_t *at);
/* Push the keys of the texts of a view; false if there is no memory. */
bool read_view(Mail *mail, const MailView *view, Keys *keys);
void release_mail(Mail *mail);
/* Give back what is more memory than most messages take. */
void trim_mail(Mail *mail);

/* message.c: what sets the terms of a field apart; names of late are remembered */
uint64_t salt_of(Mail *mail, Slice name);
void add_text(Mail *mail, Texts *texts, Slice name, Slice text);
/* Whether a mark says that the bytes are UTF-16 or UTF-32. */
bool is_wide(Slice data);
/* Begin what a message is named by, so many bytes at the most; return where it is written. */
uint8_t *begin_naming(Mail *mail, size_t most);
/* Return CR LF and CR as line feeds. */
Slice with_line_feeds(Mail *mail, Slice data);

/* reading.c: what is no mail */
void read_plain(Mail *mail, Slice data);

/* header_view.c: what view H reads; what may be too much is refused */
void add_headers(Mail *mail, const Head *head);

/* headers.c */
void read_head(Mail *mail, const uint8_t *start, const uint8_t *end, Head *head);

/* encoded_words.c: a field's value as it is read */
Slice readable(Mail *mail, Slice value);

/* mime.c */
typedef enum { NOT_THERE, FOUND, IS_ODD } Search;
typedef struct {
    Slice value;
    const uint8_t *start, *end; /* of all of it, with what stands before its name */
} Parameter;
Search find_parameter(Slice declared, const char *name, Parameter *parameter);
const uint8_t *message_start(Slice data);
/* Whether a line is the one that an mbox has before a message. */
bool is_envelope(Slice line);
void walk(Mail *mail, Slice part, const Head *head, int depth);

/* transfer.c */
typedef enum { AS_IT_IS, QUOTED_PRINTABLE, BASE64, UUENCODED } Encoding;
Encoding encoding_of(Slice declared);
Slice decode_transfer(Mail *mail, Encoding encoding, Slice data);
/* Whether nothing but base64 is there, in whole groups of four. */
bool is_whole_base64(Slice data);

/* charsets.c: UTF-8 from what a part was sent in */
Slice decode(Mail *mail, Slice charset, Slice text);
Slice latin1_to_utf8(Mail *mail, Slice text);
bool is_utf8(Slice text);
/* The 32 characters of Windows-1252 that are not Latin-1's, as browsers read them. */
extern const uint16_t WINDOWS_1252[32];

/* markup.c */
Slice html_text(Mail *mail, Slice text);
/* A digit's value; what is none has one that is not below any base. */
unsigned digit_of(uint8_t byte);
/* The bytes of the character of white space that a text begins with, 0 if it is none. */
size_t space_at(Slice text);

/* --- bytes ------------------------------------------------------------------------ */

static inline bool
is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static inline bool
is_letter(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26;
}

static inline uint8_t
lower(uint8_t byte)
{
    return (uint8_t)(byte - 'A') < 26 ? byte | 0x20 : byte;
}

/* White space of bytes, and of patterns of ASCII. */
static inline bool
is_space(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* White space of texts, as far as it is ASCII. */
static inline bool
is_text_space(uint8_t byte)
{
    return is_space(byte) || (byte >= 0x1C && byte <= 0x1F);
}

static inline bool
begins(Slice text, const char *with)
{
    for (; *with; with++, text.at++) /* most differ in their first byte */
        if (text.at == text.end || *text.at != (uint8_t)*with)
            return false;
    return true;
}

static inline bool
is_equal(Slice text, const char *other)
{
    return begins(text, other) && length_of(text) == strlen(other);
}

static inline bool
is_same(Slice one, Slice other)
{
    return length_of(one) == length_of(other)
           && memcmp(one.at, other.at, length_of(one)) == 0;
}

/* Whether a text is one of some, behind which is NULL. */
static inline bool
is_one_of(Slice text, const char *const *known)
{
    while (*known && !is_equal(text, *known))
        known++;
    return *known;
}

/* Whether a text begins so whatever the case of letters; `with` is in lower case. */
static inline bool
begins_folded(Slice text, const char *with)
{
    for (; *with; with++, text.at++)
        if (text.at == text.end || lower(*text.at) != (uint8_t)*with)
            return false;
    return true;
}

static inline bool
is_equal_folded(Slice text, const char *other)
{
    return begins_folded(text, other) && length_of(text) == strlen(other);
}

static inline const uint8_t *
find_byte(Slice text, uint8_t byte)
{
    return text.at == text.end ? NULL : memchr(text.at, byte, length_of(text));
}

/* Find a text of two bytes or more by its second, in linear time if its first is there once. */
static inline const uint8_t *
find_text(Slice text, Slice wanted)
{
    size_t length = length_of(wanted);
    if (length_of(text) < length)
        return NULL;
    Slice seconds = slice(text.at + 1, text.end - length + 2);
    for (; (seconds.at = find_byte(seconds, wanted.at[1])); seconds.at++)
        if (memcmp(seconds.at - 1, wanted.at, length) == 0)
            return seconds.at - 1;
    return NULL;
}

static inline Slice
stripped(Slice text)
{
    while (text.at < text.end && is_text_space(*text.at))
        text.at++;
    while (text.at < text.end && is_text_space(text.end[-1]))
        text.end--;
    return text;
}

/* White space of bytes at the end. */
static inline Slice
without_end_space(Slice text)
{
    while (text.at < text.end && is_space(text.end[-1]))
        text.end--;
    return text;
}

static inline bool
is_ascii(Slice text)
{
    uint64_t word, all = 0;
    for (; length_of(text) >= sizeof word; text.at += sizeof word) {
        memcpy(&word, text.at, sizeof word);
        all |= word;
    }
    for (; text.at < text.end; text.at++)
        all |= *text.at;
    return !(all & 0x8080808080808080u);
}

/* Copy a text to a place that has room for it; return where it ends. */
static inline uint8_t *
put(uint8_t *at, Slice text)
{
    if (text.at < text.end)
        memcpy(at, text.at, length_of(text));
    return at + length_of(text);
}

/* Write a number in decimal; return where it ends. */
static inline uint8_t *
put_number(uint8_t *to, size_t number)
{
    uint8_t digits[20], *first = digits + sizeof digits;
    do
        *--first = (uint8_t)('0' + number % 10);
    while (number /= 10);
    return put(to, slice(first, digits + sizeof digits));
}

#endif
