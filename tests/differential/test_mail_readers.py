"""The compiled reader of mail finds what the plain one specifies, on real mail."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fuzz import mails
from fuzz.readers import check, settings_of_all
from nbtext.document import Document
from nbtext.settings.reading import Settings
from nbtext.tokens import read_terms
from nbtext.tokens.bags import fingerprints
from nbtext.tokens.batch_reading import read_together
from nbtext.tokens.engine import COMPILED, best
from nbtext.tokens.key_reading import KeyReading, read_keys
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


@pytest.mark.parametrize(
    "message",
    [EMPTY, NO_HEAD, WIDE, LONG_HEAD, MANY_FIELDS, WIDE_NAME, WIDE_TYPE, WIDE_ENCODING,
     NOTHING],
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

    asking = b"Subject: =?utf-8?q?a?=\n\nb\n"

    def fail(_number: int, _first: bytes, _second: bytes) -> bytes:
        raise KeyError(1)

    with pytest.raises(KeyError):
        MailReader((), fail).read(asking)
    with pytest.raises(TypeError):
        MailReader((), lambda *_: "text").read(asking)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        MailReader((), fail).read(bytearray(asking))  # type: ignore[arg-type]


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
    from nbtext.tokens import compiled
    from nbtext.tokens.kinds import answered, reader_of

    settings = ALL[0]
    reader = compiled.reader(settings.views, "mail")
    assert reader is not None
    plain = b"Subject: within\n\nno question\n"
    inner: list[object] = []

    def answer(number: int, first: bytes, second: bytes) -> bytes | None:
        inner.append(outer.read(plain))
        return answered(number, first, second)

    outer = reader_of(compiled.described(settings.views), answer)

    assert outer.read(mails.PLAIN) == reader.read(mails.PLAIN)
    assert inner == [reader.read(plain)] * len(inner)
    assert inner


LONG = b"Subject: x\n\n" + b" ".join(b"%x" % (n * n % 7919) for n in range(30_000))
COUNTED = b"Subject: x\n\n" + b"again " * 32_767
REPEATED = b"Subject: x\n\n" + b"again " * 70_000


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
        MailReader((), lambda *_: None).read_all(messages)
