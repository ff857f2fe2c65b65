"""What a file or a stream holds, by its name and by its beginning."""

# ruff: noqa: PTH118, PTH120, PTH122 -- importing pathlib costs 10 ms

import codecs
import os

from nbtext import wording
from nbtext.byte_order import as_utf8
from nbtext.errors import SourceError
from nbtext.sources._compressed import LONGEST_MAGIC, MAGIC, compression
from nbtext.sources._labels import COMPRESSIONS, without_compression
from nbtext.sources._stream import Stream
from nbtext.sources._text_lines import is_marked
from nbtext.sources.mbox import is_mbox

ONE_DOCUMENT = "document"
LABELLED_LINES = "labelled"
"""What holds no records, and what holds a label, a tab and a text on each line; the
other answers are among `FORMATS`."""

HEAD = 2**16
"""How much of a source is looked at, in bytes."""

_CONTAINERS = {
    ".mbox": "mbox",
    ".mbx": "mbox",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}
_ENDINGS = (*_CONTAINERS, *COMPRESSIONS)
_ONE_MESSAGE = (".eml", ".txt")  # an envelope line in them makes them no mbox
_MMDF = b"\1\1\1\1\n"  # before and after each message
ZIP = "a ZIP archive"
SHEET = ", or save a spreadsheet as CSV"
"""What else to do about a ZIP archive, as .xlsx and .ods are, too."""

_ARCHIVES = {
    b"PK\3\4": ZIP,
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\7": "a RAR archive",
}
_PARQUET = b"PAR1\x15"  # behind the magic a page, or the footer, begins
_MAP = b"\xde\0"  # behind it the size of the map that a model's header is, and:
_MODEL = b"\xa6format\xb2nbtext count table"
_NO_TEXTS = {
    b"\x89PNG\r\n\x1a\n": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"\x7fELF": "a program (ELF)",
    b"%PDF-": "PDF",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a document of Microsoft Office",
}
"""What is neither mail nor text; none begins as the name of a header field does."""

_UNREAD = (_MMDF, _PARQUET, _MAP, *_ARCHIVES, *_NO_TEXTS, *MAGIC)
_TAR = (b"ustar\x0000", b"ustar  \0")  # of POSIX and of GNU, in the first file's header
_TAR_AT = slice(257, 265)
_TAR_SIZE = 512
_TAR_SUM = slice(148, 156)
_BEFORE_JSON = codecs.BOM_UTF8 + b" \t\r\n"
_LEAST_ROWS = 4
_ROWS = 100  # as many as tell what the columns of a table are
_LONGEST_LABEL = 64  # bytes; a longer word before a tab is not taken for a label


def container_format(path: str) -> str | None:
    """Return the container that a file's suffix names, if any."""
    if not path.lower().endswith(_ENDINGS):  # as most do not, of many
        return None
    suffix = os.path.splitext(without_compression(path))[1]
    return _CONTAINERS.get(suffix.lower())


def inspect(stream: Stream, path: str, max_bytes: int, *, is_label_wanted: bool) -> str:
    """
    Tell what a named file or a stream holds; its bytes are left to be read.

    Args:
        stream: its bytes, of which the head is looked at.
        path: where it lies, "" for the standard input.
        max_bytes: how long the first line of JSON lines may be.
        is_label_wanted: whether labels must be inside, if anywhere: then a file
            whose every line begins with one is a table or an index.
    """
    by_name = container_format(path)
    if by_name is not None:
        return by_name
    suffix = os.path.splitext(without_compression(path))[1].lower()
    head = as_utf8(stream.peek(HEAD))
    if suffix == ".json" or _is_json_lines(stream, head, max_bytes):
        return "jsonl"
    if head.lstrip(_BEFORE_JSON)[:1] == b"[" and _is_json_array(stream, max_bytes):
        return "jsonl"
    if may_be_mbox(head, path):
        return "mbox"
    if is_marked(head.removeprefix(codecs.BOM_UTF8)):
        return "lines"
    if is_label_wanted and suffix != ".eml":
        return labelled_format(as_utf8(stream.peek(HEAD, waits=True)), path)
    return ONE_DOCUMENT


def is_doubtful(head: bytes) -> bool:
    """Return whether a file begins as if it were compressed, or not to be read."""
    return (
        head.startswith(_UNREAD)
        or head.startswith(_TAR, _TAR_AT.start)
        or len(head) < LONGEST_MAGIC
    )


def refuse_unread(head: bytes, name: str) -> None:
    """
    Refuse what holds documents and is not taken apart, whatever its name says.

    Raises:
        SourceError: it is a mailbox of the kind MMDF, an archive, Parquet, still
            compressed, a model, or neither mail nor text.
    """
    if not is_doubtful(head):
        return  # as most, of many
    if head.startswith(_MMDF):
        raise SourceError(
            f"{name}: a mailbox of the kind MMDF found, which is not read; save it as "
            "an mbox, MH folder or Maildir (mutt: set mbox_type=mbox, and save)"
        )
    twice = compression(head)
    if twice is not None:
        raise SourceError(
            f"{name}: {twice} data found in compressed data, and only one compression "
            "is undone; decompress it once before"
        )
    kind = _archive(head)
    if kind is not None:
        raise SourceError(
            f"{name}: {kind} found, which is not read; unpack it, and name what was in "
            f"it{SHEET if kind == ZIP else ''}"
        )
    if head.startswith(_PARQUET):
        raise SourceError(
            f"{name}: Parquet found, which is read with {wording.named('client')} "
            "alone; save it as CSV or JSON lines (pandas: to_json(FILE, "
            "orient='records', lines=True))"
        )
    if head.startswith(_MAP) and head.startswith(_MODEL, len(_MAP) + 1):
        raise SourceError(
            f"{name}: mail or text was expected, and a model of nbtext found; give it "
            f"with {wording.named('model')}, or leave it out"
        )
    for magic, what in _NO_TEXTS.items():
        if head.startswith(magic):
            raise SourceError(
                f"{name}: mail or text was expected, and {what} found; save what it "
                "says as text (pdftotext, or a program for it), or leave it out"
            )


def _archive(head: bytes) -> str | None:
    """Return what archive a file is by its beginning, if it is one."""
    if head.startswith(tuple(_ARCHIVES)):
        return next(kind for magic, kind in _ARCHIVES.items() if head.startswith(magic))
    return (
        "a tar archive" if head[_TAR_AT] in _TAR and _is_tar(head[:_TAR_SIZE]) else None
    )


def _is_tar(header: bytes) -> bool:
    """Return whether the checksum of the first file fits, as in no mail."""
    said = header[_TAR_SUM].strip(b" \0")
    total = sum(header) - sum(header[_TAR_SUM]) + sum(b" " * 8)
    return said.isdigit() and said == b"%0*o" % (len(said), total)


def may_be_mbox(head: bytes, path: str) -> bool:
    """Tell whether a file begins as an mbox does, and is not called one message."""
    if not is_mbox(head):
        return False
    return not without_compression(path).lower().endswith(_ONE_MESSAGE)


def split_index_line(line: bytes) -> tuple[bytes, bytes] | None:
    """Return the label and the path on a line of an index, if it has both."""
    fields = line.split(None, 1)
    if len(fields) < 2 or len(fields[0]) > _LONGEST_LABEL:
        return None
    return fields[0], fields[1].rstrip()


def _is_json_lines(stream: Stream, head: bytes, max_bytes: int) -> bool:
    """Tell whether the first line with anything on it is a JSON object."""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if start[:1] != b"{" or start[1:].lstrip()[:1] not in (b'"', b"}"):
        return False
    if b"\n" not in start and len(stream.peek(HEAD)) == HEAD:
        head = as_utf8(stream.peek(max_bytes))
        start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    import json

    try:
        json.loads(start.partition(b"\n")[0].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return False
    return True


def _is_json_array(stream: Stream, max_bytes: int) -> bool:
    """
    Tell whether an array begins with an object of JSON.

    This waits for its end, if need be, and no longer: how fast the bytes come does not
    tell what they are.
    """
    # of few sources
    from nbtext.sources.json_array import begins_with_object, may_be_of_objects

    head = stream.peek(HEAD)
    if not may_be_of_objects(as_utf8(head)):
        return False
    looked_at = 0
    while len(head) < HEAD:
        if b"}" in head[looked_at:] and begins_with_object(as_utf8(head)):
            return True
        looked_at = len(head)
        stream.peek(looked_at + 1, waits=True)
        head = stream.peek(HEAD)
        if len(head) == looked_at:  # at its end
            return False
    return begins_with_object(as_utf8(head)) or (
        max_bytes > HEAD
        and begins_with_object(as_utf8(stream.peek(max_bytes, waits=True)))
    )


def labelled_format(head: bytes, path: str) -> str:
    """
    Tell whether each whole line of the head, or the one, begins with a label.

    Or ends with one, which is used again and again.
    """
    whole = head.rpartition(b"\n")[0] or head
    lines = [line for line in whole.split(b"\n") if line.strip()]
    if not lines:
        return ONE_DOCUMENT
    entries = [split_index_line(line) for line in lines] if path else [None]
    if entries[0] and all(entries) and os.path.lexists(index_path(path, entries[0][1])):
        return "index"
    if all(map(_is_labelled, lines)) or _are_labelled_last(lines):
        return LABELLED_LINES
    return ONE_DOCUMENT


def has_label(line: bytes, path: str) -> bool:
    """Tell whether a line has a label and a text, or a label and an existing path."""
    if _is_labelled(line):
        return True
    entry = split_index_line(line) if path else None
    return entry is not None and os.path.lexists(index_path(path, entry[1]))


def _is_labelled(line: bytes) -> bool:
    label, tab, _ = line.partition(b"\t")
    return bool(tab) and len(label) <= _LONGEST_LABEL and label.split() == [label]


def separator_of_labels(head: bytes) -> str | None:
    """Return what is between a text and a label on each line, if it is no tab."""
    lines = [line for line in head.rpartition(b"\n")[0].split(b"\n") if line.strip()]
    found = (one for one in (b";", b"@", b"|", b",") if _are_labelled_last(lines, one))
    separator = next(found, None)
    return None if separator is None else separator.decode()


def _are_labelled_last(lines: list[bytes], separator: bytes = b"\t") -> bool:
    """Tell whether each line has a text, and a label at its end that others have."""
    if not all(line.count(separator) == 1 for line in lines):
        return False
    from nbtext.sources._heading import is_label_last  # few have such lines

    rows = [line.removesuffix(b"\r").split(separator) for line in lines]
    if not all(_is_labelled(label + b"\t") for _, label in rows):
        return False
    return is_label_last(rows[0], rows[1:_ROWS], ()) and len(rows) >= _LEAST_ROWS


def index_path(index: str, path: bytes) -> str:
    """Return where an index says that a file is: relative to the index's folder."""
    return os.path.join(os.path.dirname(index), os.fsdecode(path))
