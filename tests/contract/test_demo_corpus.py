"""
The demonstration corpus keeps the promises that corpora/README.md makes.

`make demo` and the README's sixty seconds stand on these files, and the mail
reader's tests borrow them, so what they contain is checked here: how many, how
varied, that only the files listed as broken are broken, and that nothing in
them points at a real host, address or network.
"""

import email
import hashlib
import ipaddress
import re
import unicodedata
from collections import Counter
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORPORA = ROOT / "corpora"
DEMO = CORPORA / "demo"
CLASSES = ("ham", "spam")
TRAIN = {label: sorted((DEMO / label).iterdir()) for label in CLASSES}
CHECK = {label: sorted((DEMO / "check" / label).iterdir()) for label in CLASSES}
FILES = [path for part in (TRAIN, CHECK) for label in CLASSES for path in part[label]]

# What is wrong on purpose, by file. Whatever is not listed is sound mail.
BROKEN = {
    "check/spam/06-image-hidden-text-broken.eml": {"CloseBoundaryNotFoundDefect"},
    "ham/36-broken-charset-label.eml": {"wrong charset"},
    "ham/37-broken-no-close-boundary.eml": {"CloseBoundaryNotFoundDefect"},
    "ham/40-broken-raw-8bit-header.eml": {"8-bit header"},
    "spam/19-broken-no-close-boundary.eml": {"CloseBoundaryNotFoundDefect"},
    "spam/20-broken-wrong-charset.eml": {"wrong charset"},
    "spam/21-broken-damaged-base64.eml": {
        "InvalidBase64CharactersDefect",
        "wrong charset",
    },
    "spam/22-broken-missing-blank-line.eml": {"MissingHeaderBodySeparatorDefect"},
    "spam/23-broken-bad-header-line.eml": {"MissingHeaderBodySeparatorDefect"},
    "spam/24-broken-8bit-headers.eml": {"8-bit header"},
}
CHARSETS = {
    "us-ascii",
    "utf-8",
    "iso-8859-1",
    "iso-8859-15",
    "windows-1251",
    "windows-1256",
    "koi8-r",
    "iso-2022-jp",
    "shift_jis",
    "gb18030",
    "big5",
    "euc-kr",
}
SCRIPTS = {
    "LATIN",
    "CYRILLIC",
    "ARABIC",
    "DEVANAGARI",
    "THAI",
    "HIRAGANA",
    "CJK",
    "HANGUL",
}
STRUCTURES = {
    "text/plain",
    "text/html",
    "text/calendar",
    "text/csv",
    "image/png",
    "application/pdf",
    "message/rfc822",
    "multipart/mixed",
    "multipart/alternative",
    "multipart/related",
}

RESERVED = re.compile(
    r"(?:^|\.)(?:example|test|invalid|localhost|example\.(?:com|net|org))$"
)
HOST_PLACES = (
    re.compile(r"@([\w.-]+\w)"),
    re.compile(r"\b[a-z][a-z0-9+.-]*://([^\s/:?#\"'<>)\]]+)", re.IGNORECASE),
    re.compile(r"\b(?:helo=|HELO |Received: from |Received: by |\tby |dns; )([\w.-]+)"),
    re.compile(r"\b(?:d=|List-Id:.*<)([\w.-]+\w)"),
    re.compile(
        r"\b((?:[a-z0-9-]+\.)+(?:com|net|org|edu|gov|mil|int|info|biz|io|co|me|tv|xyz"
        r"|top|online|site|shop|club|app|dev|us|uk|de|at|ch|fr|es|it|nl|be|dk|se|no"
        r"|fi|pl|ru|su|ua|cn|tw|hk|jp|kr|in|ir|sa|ae|th|br|mx|au|ca|eu))\b"
        r"(?![.\w-]|@)",
        re.IGNORECASE,
    ),
)
NETWORKS = [
    ipaddress.ip_network(block)
    for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")
]


def name(path: Path) -> str:
    return path.relative_to(DEMO).as_posix()


def parse(path: Path) -> Message:
    return email.message_from_bytes(path.read_bytes())


def head(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")[0]


def leaves(message: Message) -> list[Message]:
    return [part for part in message.walk() if not part.is_multipart()]


def content(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload


def text(path: Path) -> str:
    """Subject and From decoded, and every text part, as a reader sees them."""
    message = parse(path)
    found = []
    for field in ("From", "Subject"):
        for value, charset in decode_header(str(message.get(field, ""))):
            found.append(
                value
                if isinstance(value, str)
                else value.decode(charset or "ascii", "replace")
            )
    for part in leaves(message):
        if part.get_content_maintype() in {"text", "message"}:
            charset = part.get_content_charset() or "ascii"
            found.append(content(part).decode(charset, "replace"))
    return "\n".join(found)


def faults(path: Path) -> set[str]:
    found = set()
    message = parse(path)
    for part in leaves(message):
        decoded = content(part)  # may add to the part's defects
        if part.get_content_maintype() == "text":
            try:
                decoded.decode(part.get_content_charset() or "ascii")
            except UnicodeDecodeError:
                found.add("wrong charset")
    for part in message.walk():
        found |= {type(defect).__name__ for defect in part.defects}
    if not head(path).isascii():
        found.add("8-bit header")
    return found


def types(paths: list[Path]) -> Counter[str]:
    return Counter(
        part.get_content_type() for path in paths for part in parse(path).walk()
    )


def everything(path: Path) -> str:
    """What the file says in any way: raw, and headers and parts decoded."""
    raw = path.read_bytes().decode("latin-1")
    parts = [content(part).decode("latin-1") for part in leaves(parse(path))]
    return "\n".join([re.sub("=\r?\n", "", raw), text(path), *parts])


def real_hosts(said: str) -> set[str]:
    """
    Hosts that might exist: not of a name kept for examples and tests.

    A name without a dot is a machine's own and reaches nothing; networks given by
    number are another test's.
    """
    found = {host.lower() for place in HOST_PLACES for host in place.findall(said)}
    return {
        host
        for host in found
        if "." in host and not re.fullmatch(r"[\d.]+", host)
        if not RESERVED.search(host)
    }


def test_there_are_enough_of_both_and_all_differ() -> None:
    assert all(len(TRAIN[label]) >= 36 for label in CLASSES)
    assert all(len(CHECK[label]) >= 6 for label in CLASSES)
    digests = {hashlib.sha256(path.read_bytes()).digest() for path in FILES}
    assert len(digests) == len(FILES)
    bodies = {
        path.read_bytes().replace(b"\r", b"")[len(head(path)) :] for path in FILES
    }
    assert len(bodies) >= len(FILES) - 1  # two are empty
    assert {path.suffix for path in FILES} == {".eml"}
    assert all(path.name[:2].isdigit() for path in FILES)


def test_the_files_are_small() -> None:
    sizes = [path.stat().st_size for path in FILES]
    assert max(sizes) <= 16 * 1024
    assert min(sizes) >= 300
    assert sum(sizes) <= 500 * 1024


@pytest.mark.parametrize("path", FILES, ids=name)
def test_what_is_not_listed_as_broken_is_sound(path: Path) -> None:
    assert faults(path) == BROKEN.get(name(path), set())


def test_every_broken_file_is_there() -> None:
    assert set(BROKEN) <= {name(path) for path in FILES}
    assert {entry.split("/")[-2] for entry in BROKEN} == set(CLASSES)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_headers_are_those_of_delivered_mail(path: Path) -> None:
    message = parse(path)
    for field in ("Return-Path", "Received", "Date", "From", "To", "Subject"):
        assert message[field], field
    assert len(message.get_all("From", [])) == 1
    assert parsedate_to_datetime(message["Date"]).year in {2023, 2024}
    if "bad-header-line" not in path.name:  # there the rest has become the body
        assert message["Message-ID"]


@pytest.mark.parametrize("label", CLASSES)
def test_languages_and_charsets_do_not_give_the_class_away(label: str) -> None:
    charsets = {
        part.get_content_charset()
        for path in TRAIN[label]
        for part in leaves(parse(path))
    }
    assert charsets >= CHARSETS
    scripts = {
        unicodedata.name(char, "?").split()[0]
        for path in TRAIN[label]
        for char in text(path)
    }
    assert scripts >= SCRIPTS


@pytest.mark.parametrize("label", CLASSES)
def test_structures_are_as_varied_as_those_of_real_mail(label: str) -> None:
    paths = TRAIN[label]
    assert set(types(paths)) >= STRUCTURES
    encodings = {
        str(part.get("Content-Transfer-Encoding", "7bit")).lower()
        for path in paths
        for part in leaves(parse(path))
    }
    assert encodings >= {"7bit", "8bit", "quoted-printable", "base64"}
    heads = [head(path).lower() for path in paths]
    assert any(b"?b?" in lines for lines in heads)
    assert any(b"?q?" in lines for lines in heads)
    assert any(b"\nlist-unsubscribe:" in lines for lines in heads)
    assert any(b"\ndkim-signature:" in lines for lines in heads)
    assert any(b"\r\n" in path.read_bytes() for path in paths)
    assert any(parse(path).get_content_type() == "text/html" for path in paths)
    assert any(
        part.is_multipart() and part.get_content_maintype() == "multipart"
        for path in paths
        for outer in parse(path).walk()
        if outer.get_content_maintype() == "multipart"
        for part in outer.get_payload()
        if isinstance(part, Message)
    )
    lengths = [len("".join(text(path).split())) for path in paths]
    assert min(lengths) < 150
    assert max(lengths) > 2000
    assert sum(
        not content(part).strip() for path in paths for part in leaves(parse(path))
    )


def test_ham_has_reports_and_digests() -> None:
    assert set(types(TRAIN["ham"])) >= {
        "multipart/report",
        "message/delivery-status",
        "text/rfc822-headers",
        "multipart/digest",
    }


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("ham", ["invoice", "offer", "free", "click", "account", "password", "bank"]),
        ("spam", ["meeting", "list", "patch", "invoice", "table", "train", "please"]),
    ],
)
def test_words_of_the_other_class_occur(label: str, words: list[str]) -> None:
    said = " ".join(text(path).lower() for path in TRAIN[label])
    assert [word for word in words if word not in said] == []


def test_spam_hides_its_words() -> None:
    said = [text(path) for path in TRAIN["spam"]]
    assert any("V i a g r a" in one for one in said)
    assert any("\u200b" in one for one in said)
    assert any(re.search(r"\w<!--[^>]*-->\w", one) for one in said)
    assert any("display:none" in one for one in said)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_host_or_address_is_real(path: Path) -> None:
    assert real_hosts(everything(path)) == set()


def test_a_real_host_would_be_seen() -> None:
    said = "<a href=http://Shop.Brand.zone/x>\nmail me@bank.coop, see www.brand.com"
    assert real_hosts(said) == {"shop.brand.zone", "bank.coop", "www.brand.com"}


@pytest.mark.parametrize("path", FILES, ids=name)
def test_networks_are_those_kept_for_documentation(path: Path) -> None:
    for quad in re.findall(r"(?<![\d.])\d+\.\d+\.\d+\.\d+(?![\d.])", everything(path)):
        try:
            address = ipaddress.ip_address(quad)
        except ValueError:
            continue  # a version number
        assert any(address in network for network in NETWORKS), quad


def test_git_leaves_the_bytes_alone() -> None:
    lines = (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    assert "corpora/demo/** -text" in lines


def test_the_readme_tells_the_numbers() -> None:
    said = (CORPORA / "README.md").read_text("utf-8")
    for part in (TRAIN, CHECK):
        counts = {label: len(part[label]) for label in CLASSES}
        assert f"{counts['spam']} spam and {counts['ham']} ham" in said


def test_the_readme_describes_every_corpus_of_its_table() -> None:
    said = (CORPORA / "README.md").read_text("utf-8")
    headings = {
        re.sub(r"[^\w -]", "", line[4:]).lower().replace(" ", "-")
        for line in said.splitlines()
        if line.startswith("### ")
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", said)) == headings
    assert len(headings) >= 13
    for section in said.split("\n### ")[1:]:
        assert "\n    nbtext train " in section, section.splitlines()[0]
