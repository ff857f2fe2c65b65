"""The compiled reader of mail finds what the plain one specifies, on real mail."""

from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import mails
from fuzz.readers import check, settings_of_all
from nbtext.document import Document
from nbtext.mail.questions import ANSWERS
from nbtext.settings.reading import Settings
from nbtext.tokens import compiled, read_terms
from nbtext.tokens.bags import fingerprints
from nbtext.tokens.batch_reading import read_together
from nbtext.tokens.engine import COMPILED, best
from nbtext.tokens.key_reading import KeyReading, read_keys
from nbtext.tokens.kinds import reader_of
from nbtext.tokens.reading import read
from tests.corpus.splits import CORPORA

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "corpora" / "demo"
ALL = settings_of_all()

pytestmark = pytest.mark.skipif(
    best() != COMPILED, reason="nbtext was installed without a C compiler"
)


def files_below(*folders: Path) -> list[Path]:
    paths = (path for folder in folders for path in folder.rglob("*"))
    return sorted(path for path in paths if path.is_file())


@pytest.mark.parametrize(
    "settings", ALL, ids=["two", "many", "odd", "text", "odd text"]
)
def test_seeds_of_the_fuzzer_and_demo_mails(settings: Settings) -> None:
    messages = [path.read_bytes() for path in files_below(DEMO)]

    n_read = sum([check(message, settings) for message in [*mails.seeds(), *messages]])

    assert n_read > len(messages) // 2


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("corpus", "least"),
    [
        ("spamassassin", 1.0),
        ("mail-unlabelled", 1.0),
        ("enron", 0.9),
        ("mail-misc", 0.5),
    ],
)
def test_all_mails_of_a_corpus(corpus: str, least: float) -> None:
    paths = files_below(CORPORA / corpus)
    if not paths:
        pytest.skip(f"there is no {corpus}")

    n_read = sum([check(path.read_bytes(), ALL[0]) for path in paths])

    assert n_read >= least * len(paths)


EMPTY = b""
NO_HEAD = b"just a text\n"
WIDE = "Subject: x\n\nwide\n".encode("utf-16")
LONG_HEAD = b"Subject: x\n" + b"X-Long: y z\n" * 30_000 + b"\nbody\n"
MANY_FIELDS = b"".join(b"X-%d: y\n" % n for n in range(5_000)) + b"\nbody\n"
WIDE_NAME = b"Subject: x\nX\xe9: y\n\nbody\n"
WIDE_TYPE = b"Subject: x\nContent-Type: text\xe9/html\n\n<p>body\n"
WIDE_ENCODING = b"Subject: x\nContent-Transfer-Encoding: \xa0base64\n\nYWJj\n"
NOTHING = b"Received: x\n\n\n"
GUESSED = b"Subject: x\nContent-Type: multipart/mixed\n\n--a\n\nin\n--a--\n"
ODD_NAME = b"Subject: x\nContent-Type: text/plain; charset*=utf-7\n\n+AOk-\n"


@pytest.mark.parametrize(
    "message",
    [EMPTY, NO_HEAD, WIDE, LONG_HEAD, MANY_FIELDS, WIDE_NAME, WIDE_TYPE, WIDE_ENCODING,
     NOTHING, GUESSED, ODD_NAME, mails.ENCODED, mails.DIGEST],
)  # fmt: skip
def test_what_is_refused_is_read_in_python(message: bytes) -> None:
    document = Document("odd", (message,))

    found = read_keys(document, ALL[0])

    assert not isinstance(found, KeyReading)
    assert found == read(document, ALL[0])


@pytest.mark.parametrize(
    "document",
    [
        Document("named", (mails.PLAIN,), identity="name"),
        Document("mail", (mails.PLAIN,), is_mail=False),
        Document("joined", (mails.PLAIN, b"and more")),
    ],
)
def test_documents_that_say_more_are_read_alike(document: Document) -> None:
    found, reading = read_keys(document, ALL[0]), read(document, ALL[0])

    assert isinstance(found, KeyReading)
    assert found[1:] == reading[1:]


def test_an_answer_that_is_none_of_bytes_is_an_error() -> None:
    from nbtext._compiled import MailReader

    asking = b"Date: some day\n\nb\n"

    def fail(_number: int, _first: bytes, _second: bytes) -> bytes:
        raise KeyError(1)

    with pytest.raises(KeyError):
        MailReader((), fail).read((asking,))
    with pytest.raises(TypeError):
        MailReader((), lambda *_: "text").read((asking,))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        MailReader((), fail).read((bytearray(asking),))  # type: ignore[arg-type]


DECODED, UPPER_HALF, READABLE = 0, 3, 4  # numbers of questions, as in mail.h


def questions_of(message: bytes) -> list[int]:
    """Return which questions the compiled reader asks, once what it finds is right."""
    asked: list[int] = []

    def answer(number: int, first: bytes, second: bytes) -> bytes | None:
        asked.append(number)
        return ANSWERS[number](first, second)

    settings = ALL[0]
    assert check(message, settings)
    reader = reader_of(compiled.described(settings.views), answer)
    assert reader.read((message,))[1][-8:] != bytes(8)
    asked_before = len(asked)
    assert reader.read((message,))[1][-8:] != bytes(8)  # again, by what it remembers
    return asked[asked_before:]


WORDS = [
    b"=?utf-8?q?Gr=C3=BC=C3=9Fe?=",
    b"=?UTF-8?B?R3LDvMOfZQ==?= <ann@example.org>",
    b'"=?iso-8859-1?Q?J=F6rg_M=FCller?=" <j@example.org>, bob@example.net',
    b"Re: =?us-ascii?q?one?= =?us-ascii?q?_two=5Fthree?=  four",
    b"=?utf-8?q?a=C3?= \t =?utf-8?q?=A9b?=",  # a character cut in two
    b"=?utf-8?q?a?= x =?utf-8?q?b?= =?iso-8859-1?q?c?= =?utf-8?q?d?=",
    b"=?utf-8*en?q?a?= =?utf-8?q?b?= =?*?q?c?=",
    b"=?utf-8?q??= =?utf-8?b??=",
    b"=?windows-1251?b?z/Do4uXy?= =?WINDOWS-1251?q?=CF=F0?=",
    b"=?utf-8?q?no end =?utf-8?q?an?= =?x y?q?z?= =?utf-8?x?a?= =??q?a?=",
    b"=?" + b"x" * 64 + b"?q?a?= =?" + b"x" * 65 + b"?q?a?=",
    b"=?utf-8?q?=41=4=_=5F=?= =?utf-8?q?a=?=",
    b"=?utf-8?q?10.1.2.3?= a@=?utf-8?q?b.example?=",
    b"? =? =?= =?=?=",
    b"Gr\xfc\xdfe", b"Gr\xc3\xbc\xc3\x9fe", b"a@b.\xe9xample <c@d.example>", b"a\x85",
    b"\xef\xbb\xbfa\xe9",
]  # fmt: skip
"""Values of fields that need no question."""


@pytest.mark.parametrize("value", WORDS)
@pytest.mark.parametrize("field", [b"Subject", b"From", b"Received", b"X-Other"])
def test_common_words_and_bytes_of_fields_need_no_question(
    field: bytes, value: bytes
) -> None:
    message = b"%s: %s\nTo: bob@example.net\n\nhello\n" % (field, value)

    assert questions_of(message) == []


ODD_WORDS = [
    b"=?utf-8?b?YWJ?=", b"=?utf-8?b?YW I=?=", b"=?utf-8?b?YQ=b?=", b"=?utf-8?b?Y===?=",
    b"=?utf-8?b?YWJj*?=", b"\xa0=?utf-8?q?a?=", b"Gr\xfc =?utf-8?q?a?=", b"\xa0a",
    b"a\xa0", b"=?utf-8?q?=C2=A0a?=", b"=?utf-8?q?a=E2=80=83?=",
    b"=?gb2312?b?xOO6ww==?=", b"=?iso-2022-jp?b?GyRCJDMbKEI=?=", b"=?utf-7?q?+AOk-?=",
    b"=?utf-16?b?//5hAA==?=",
]  # fmt: skip
"""Others, of which Python reads the whole, or what is in one of their charsets."""


@pytest.mark.parametrize("value", ODD_WORDS)
@pytest.mark.parametrize("field", [b"Subject", b"From", b"Received", b"X-Other"])
def test_odd_words_are_asked_for(field: bytes, value: bytes) -> None:
    message = b"%s: %s\nTo: bob@example.net\n\nhello\n" % (field, value)

    assert set(questions_of(message)) <= {DECODED, READABLE}
    assert questions_of(message)


PIECES = [
    b"=?", b"?=", b"?q?", b"?B?", b"=?utf-8?q?", b"utf-8", b"iso-8859-1", b"koi8-r",
    b"gb2312", b"*en", b"=C3=A9", b"=C3", b"=5F", b"_", b"=0A", b"=C2=A0", b"YWJj",
    b"YQ==", b"Y", b"==", b"=", b" ", b"\t", b"\n ", b"\xe9", b"\xc3\xa9", b"\xa0",
    b"a", b"@b.example", b"10.1.2.3", b"Mon", b", ", b"28 May 2007", b" 10:20:30",
    b" +0200", b" GMT", b";", b"\xff\xfe", b"=\0?\0",
]  # fmt: skip
"""What values of fields are made of."""


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [b"Subject", b"From", b"Received", b"Date", b"Content-Type"]
            ),
            st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_is_in_fields_is_read_alike(fields: list[tuple[bytes, bytes]]) -> None:
    head = b"".join(b"%s: %s\n" % field for field in fields)

    check(head + b"\nbody\n", ALL[0])


MARKUP = [
    b"<", b"</", b">", b"/", b" ", b"\n", b"\0", b"x", b"a", b"B", b"span", b"strike",
    b"ACRONYM", b"acronyms", b"acronym\0", b"a\0", b"o:p", b"<!--", b"-->", b"--", b"!",
    b"&eacute;", b"\xe9", b"\xe9t\xe9 is summer", b"plain text to and fro",
]  # fmt: skip
"""What is in HTML: tags in the midst of words and between them, comments, 8 bits."""


@given(st.lists(st.sampled_from(MARKUP), max_size=30).map(b"".join))
def test_whatever_is_in_html_is_read_alike(html: bytes) -> None:
    check(b"Subject: x\nContent-Type: text/html\n\n" + html, ALL[0])


@given(st.lists(st.sampled_from([b"\n", b"-", b"--", b"a", b"\n--a"])).map(b"".join))
def test_however_parts_begin_and_end_they_are_read_alike(body: bytes) -> None:
    check(b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n" + body, ALL[0])


@pytest.mark.parametrize("value", WORDS)
def test_words_in_special_fields_are_read_alike(value: bytes) -> None:
    kind = b"text/plain; name=%s; boundary=x" % value
    message = b"Content-Type: %s\nDate: Mon, 1 Jul 2002 %s\n\nhello\n" % (kind, value)

    assert check(message, ALL[0])


def test_the_subject_of_a_message_inside_may_have_words() -> None:
    head = b"Subject: out\nContent-Type: message/rfc822\n\n"

    assert questions_of(head + b"Subject: Gr\n\nin\n") == []
    assert questions_of(head + b"Subject: =?l1?q?=DF?=\n\nin\n") == []
    assert questions_of(head + b"Subject: =?l1?b?YWJ?=\n\nin\n") == [READABLE]


@pytest.mark.parametrize(
    ("date", "is_plain"),
    [
        (b"28 May 2007 04:31:23 +0000", True),
        (b"8 May 2007 14:31:23 -0700 (PDT)", True),
        (b"Mon, 28 May 2007 04:31:23 +0000", True),
        (b"28 May 2007 04:31:23 +00000", False),
        (b"28 May 2007 04:31:23 GMT", True),
        (b"Mon, 28 May 2007 04:31:23 EST-5", True),
        (b"Mon, 28 May 2007 04:31:23", True),
        (b"Mon, 28 May 2007 04:31:23 Eastern", False),
        (b"Mon, 28 May 2007 04:31:23  +0000", False),
        (b"Mon, 28 May 2007 04:31:23 GMT_", False),
        (b"Mon, 28 May 2007 04:31:23+0000", False),
        (b"Mon, 28 May 2007 04:31:23 -000", False),
        (b"28 may 2007 04:31:23 +0000", False),
        (b"Mo, 28 May 2007 04:31:23 +0000", False),
    ],
)
def test_a_date_may_have_no_weekday_and_no_number_of_its_zone(
    date: bytes, is_plain: bool
) -> None:
    assert (
        not questions_of(b"Date: %s\nFrom: a@b.example\n\nhello\n" % date)
    ) == is_plain


@pytest.mark.parametrize(
    "name",
    [b"iso-8859-2", b"KOI8-R", b"windows-1250", b"x-mac-roman", b"nothing-known"],
)
def test_charsets_of_bytes_are_asked_for_once(name: bytes) -> None:
    head = b"Subject: x\nContent-Type: text/plain; charset=%s\n\n" % name

    assert questions_of(head + bytes(range(0x80, 0x100)) + b"\xc3\xa9") == []
    assert questions_of(head + "Grüße".encode()) == []


@pytest.mark.parametrize("name", [b"gb2312", b"cp864", b"tis-620", b"utf-7", b"big5"])
def test_other_charsets_are_asked_for_each_time(name: bytes) -> None:
    head = b"Subject: x\nContent-Type: text/plain; charset=%s\n\n" % name

    assert questions_of(head + b"5% \xc1\xe9 +AOk-") == [DECODED]


def test_more_charsets_than_are_remembered_are_read_alike() -> None:
    names = [
        b"cp%d" % n for n in (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862)
    ]
    parts = [
        b"Content-Type: text/plain; charset=%s\n\n\xa1\xe9\xf5 word\n" % name
        for name in [*names, *names]
    ]
    head = b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"

    assert set(questions_of(head + b"--b\n".join(parts))) == {UPPER_HALF}


@pytest.mark.parametrize("views", [(1,), ((),), [()], ((1,) * 9,)])
def test_what_are_no_views_is_an_error(views: object) -> None:
    from nbtext._compiled import MailReader

    with pytest.raises(TypeError):
        MailReader(views, print)  # type: ignore[arg-type]


def test_threads_may_share_a_reader() -> None:
    messages = [*mails.seeds(), *(path.read_bytes() for path in files_below(DEMO))] * 5
    documents = [Document("", (message,)) for message in messages]
    alone = [read_keys(document, ALL[0]) for document in documents]

    with ThreadPoolExecutor(4) as executor:
        together = [*executor.map(lambda one: read_keys(one, ALL[0]), documents)]

    assert together == alone


def test_a_question_may_read_another_message() -> None:
    settings = ALL[0]
    reader = compiled.reader(settings.views, "mail")
    assert reader is not None
    plain = b"Subject: within\n\nno question\n"
    inner: list[object] = []

    def answer(number: int, first: bytes, second: bytes) -> bytes | None:
        inner.append(outer.read((plain,), True, False))
        return ANSWERS[number](first, second)

    outer = reader_of(compiled.described(settings.views), answer)

    asking = (mails.ASKING,)
    assert outer.read(asking, True, False) == reader.read(asking, True, False)
    assert inner == [reader.read((plain,), True, False)] * len(inner)
    assert inner


def test_texts_are_looked_for_in_one_message_at_a_time() -> None:
    settings = ALL[0]
    refused: list[str] = []

    def answer(number: int, first: bytes, second: bytes) -> bytes | None:
        with pytest.raises(RuntimeError) as raised:
            looking.find_texts(mails.PLAIN)
        refused.append(str(raised.value))
        return ANSWERS[number](first, second)

    looking = reader_of(compiled.described(settings.views), answer)
    with pytest.raises(RuntimeError, match="looks for nothing"):
        looking.find_texts(mails.PLAIN)
    sentinel = (1 << 64) - 1
    wanted: Any = array("Q", [7, sentinel]), array("q", [0, 1]), 47
    with pytest.raises(ValueError, match="each view has its keys"):
        looking.look_for((wanted,))
    looking.look_for((wanted,) * len(settings.views))

    assert looking.find_texts(mails.ASKING)
    assert refused
    assert [*map(bytes, looking.found(0))] == [b"", b"\0"]


LONG = b"Subject: x\n\n" + b" ".join(b"%x" % (n * n % 7919) for n in range(30_000))
COUNTED = b"Subject: x\n\n" + b"again " * 65_535
REPEATED = b"Subject: x\n\n" + b"again " * 70_000


@pytest.mark.parametrize("settings", [ALL[0], ALL[3]], ids=["mail", "text"])
def test_digests_side_by_side_are_those_of_each_alone(settings: Settings) -> None:
    """Four texts are hashed at a time, as far as all have blocks of 128 bytes."""
    lengths = [*range(1, 400), 1_000, 5_000, 300_000, 20_000, 70_000, 128, 256]
    Random(1).shuffle(lengths)  # noqa: S311  no secret
    fields = (b"", b"Content-Type: image/png\n", b"To: b\nDate: today\n")
    texts = [
        b"Subject: x\n%s\n%s"
        % (fields[n % 3], b"ab cd ef gh\n" * (n // 12) + b"z" * (n % 12))
        for n in lengths
    ]
    documents = [Document("", (text,)) for text in texts]

    for n in (1, 2, 5, len(documents)):
        batch = read_together(documents[:n], settings)

        assert batch.digests == [read(one, settings).digest for one in documents[:n]]


def test_what_is_read_together_is_what_is_read_alone() -> None:
    named = Document("named", (mails.PLAIN,), identity="name")
    odd = [Document("", (text,)) for text in (NO_HEAD, LONG, EMPTY, REPEATED, NOTHING)]
    counted = Document("", (COUNTED,))
    texts = [Document("", (text,)) for text in mails.seeds()]
    documents = [
        odd[0],
        named,
        *texts,
        *odd[1:],
        counted,
        Document("", (mails.PLAIN,), None, False),
    ]

    batch = read_together(documents, ALL[0])

    alone = {document: read_keys(document, ALL[0]) for document in documents}
    read = [one for one in documents if isinstance(alone[one], KeyReading)]
    read.remove(odd[3])  # whose counts do not fit in 16 bits
    assert batch.documents == read
    assert counted in read
    assert batch.others == [one for one in documents if one not in read]
    assert {odd[0], odd[2], odd[4]} <= {*batch.others}
    assert batch.digests == [alone[one].digest for one in read]
    assert batch.are_mail == [alone[one].is_mail for one in read]
    expected = read_terms(ALL[0], [alone[one].views for one in read])
    assert batch.fingerprints == fingerprints(expected).tolist()
    for found, terms in zip(batch.views, expected, strict=True):
        assert found.starts.tolist() == terms.starts.tolist()
        for number in range(len(read)):
            assert found.bag(number) == terms.bag(number)


def test_of_no_documents_there_are_no_terms() -> None:
    batch = read_together([], ALL[0])

    assert [len(terms.keys) for terms in batch.views] == [0, 0, 0]
    assert batch.views[0].starts.tolist() == [0]


@pytest.mark.parametrize("messages", [[], (mails.PLAIN, "a"), (bytearray(),), None])
def test_only_bytes_are_read_together(messages: Any) -> None:
    from nbtext._compiled import MailReader

    with pytest.raises(TypeError):
        MailReader((), lambda *_: None).read(messages)
