"""What a file or stream holds: one document, an mbox's messages, rows, an index."""

from collections.abc import Iterator
from io import BytesIO

from nbtext import wording
from nbtext.byte_order import LOOKED_AT, is_wide, unmarked_text
from nbtext.document import PAUSE, Document, Item, Note, Pause, Unread, Unreadable
from nbtext.errors import SourceError
from nbtext.plain_mail import is_name_of_file
from nbtext.sources._complaints import counted_complaints
from nbtext.sources._inspect import (
    HEAD,
    LABELLED_LINES,
    ONE_DOCUMENT,
    has_label,
    index_path,
    inspect,
    labelled_format,
    refuse_unread,
    separator_of_labels,
    split_index_line,
)
from nbtext.sources._labels import printable
from nbtext.sources._lines import lines
from nbtext.sources._options import Options, Place
from nbtext.sources._stream import Stream
from nbtext.sources._unicode import narrow, refuse_unmarked
from nbtext.sources.mbox import LONGEST_SEPARATOR, item_of, may_become_mbox, messages

IS_MAIL = {"mail": True, "text": False}
"""What a forced format says about every document."""

_LONGEST_INDEX_LINE = 2**16


def stream_items(
    stream: Stream,
    kind: str | None,
    place: Place,
    options: Options,
    *,
    can_reopen: bool,
) -> Iterator[Item]:
    """
    Yield what a stream holds; one document in a file stays unread.

    Args:
        stream: its bytes.
        kind: the format of the whole, None to go by inspection.
        place: where it lies.
        options: how to read it.
        can_reopen: whether it can be opened again by its name.
    """
    if stream.may_wait:
        yield PAUSE
    elif may_become_mbox(stream.peek(LONGEST_SEPARATOR)):
        note = stream.take_snapshot()  # waits for the rest of its first line
        if note is not None:
            yield note
            return
    doubts: Iterator[Note] = iter(())
    if kind is None:
        kind = inspect(
            stream,
            "" if place.name == "-" else place.name,
            options.max_bytes,
            is_label_wanted=place.labelled and not place.is_label_given,
        )
        if kind == ONE_DOCUMENT:
            doubts = _doubts(stream, place, options)
    is_mail = IS_MAIL.get(options.format)
    try:
        if is_mail is None:
            refuse_unread(stream.peek(HEAD), place.name)
        yield from doubts
        if kind == ONE_DOCUMENT and can_reopen:
            if stream.error is None:  # else nothing has told what it is
                yield Unread(place.name, place.name, place.label, is_mail)
        elif kind == ONE_DOCUMENT:
            yield from _whole_items(stream, place, options)
        elif kind == "mbox":
            narrow(stream)
            yield from _mbox_items(stream, place, options)
        else:
            narrow(stream)
            refuse_unmarked(stream, waits=place.labelled)
            if kind == "index":
                items = _index_items(stream, place)
            else:
                from nbtext.sources._rows import row_items  # most are no tables

                items = row_items(stream, kind, place, options)
            if not place.by_number:
                items = counted_complaints(items, place.name)
            yield from items
    except SourceError as error:
        yield Unreadable(place.name, error)
    if stream.error is not None:
        yield Unreadable(place.name, stream.error)


def _doubts(stream: Stream, place: Place, options: Options) -> Iterator[Note]:
    """
    Say what one document may be instead.

    It is a list, would be a table or an index in training, or has another encoding.
    """
    name = place.name
    if options.expects_table:
        yield Note(
            f"{name}: read as one document, though an option for columns is "
            f"given; {wording.given(format='csv')} reads it as a table"
        )
        return
    head = stream.peek(HEAD)
    codec = None if is_wide(head) else unmarked_text(head[:LOOKED_AT])
    if codec is not None:
        yield Note(
            f"{name}: what looks like {codec} without a byte order mark is decoded as "
            "a text, but read byte by byte as mail, and hardly a word of it is found; "
            f"if it is mail, convert it with `iconv -f {codec} -t UTF-8`",
            is_warning=True,
        )
    if place.labelled:
        is_training = options.guess is not None and place.label is not None
        is_by_name = place.is_alone and not place.is_label_given
        if is_training and is_by_name and b"\n" in head.strip():
            yield Note(
                f"{name}: read as one document; if each line is one, {_advice(head)}"
            )
        return
    path = "" if name == "-" else name
    if all(map(is_name_of_file, (head.rpartition(b"\n")[0] or head).split(b"\n"))):
        lists = wording.given(lists=(name,))
        looks = f"every line is the name of a file; {lists} reads these"
        yield Note(f"{name}: read as one document, but {looks}")
        return
    first = head.partition(b"\n")[0]
    if not (b"\n" in head and (b"\t" in first or has_label(first, path))):
        return  # as nearly all documents: lines need not be looked at
    kind = labelled_format(head, path)
    if kind == LABELLED_LINES:
        is_first = has_label(first, "")
        where = "begins with a word and" if is_first else "ends with a word behind"
        looks = (
            f"every line {where} a tab; with {wording.given(format='tsv')} each line"
        )
        yield Note(f"{name}: read as one document, but {looks} is one")
    elif kind == "index":
        index = wording.given(format="index")
        looks = f"its lines are labels and files; {index} reads these"
        yield Note(f"{name}: read as one document, but {looks}")


def _advice(head: bytes) -> str:
    """Say how lines are read that each have a label."""
    separator = separator_of_labels(head)
    if separator is None:
        return "begin it with its label and a tab"
    return f"{wording.given(format='csv', delimiter=separator)} reads it"


def _whole_items(stream: Stream, place: Place, options: Options) -> Iterator[Item]:
    """Yield the one document of a pipe, unless not a byte of it could be read."""
    _need_label(place)
    text = BytesIO()  # which gives away what it holds, and copies nothing
    for chunk in stream.chunks():
        if isinstance(chunk, Pause):
            yield chunk
            continue
        text.write(chunk)
        if text.tell() > options.max_bytes:
            break
    size = text.tell()
    if size or stream.error is None:
        is_mail = IS_MAIL.get(options.format)
        is_cut = size > options.max_bytes
        text.truncate(options.max_bytes)
        whole = text.getvalue()
        del text  # this waits here while the document is read
        yield Document(place.name, (whole,), place.label, is_mail, is_cut)


def _mbox_items(stream: Stream, place: Place, options: Options) -> Iterator[Item]:
    _need_label(place)
    note = stream.take_snapshot()
    if note is not None:
        yield note
    number = 0
    for message in messages(stream, options.max_bytes):
        if isinstance(message, Pause):
            yield message
            continue
        number += 1
        text, is_cut = message
        yield item_of(place.name, place.label, number, text, is_cut)


def _index_items(stream: Stream, place: Place) -> Iterator[Item]:
    """Yield the files that an index names, as the TREC spam track's do."""
    number = 0
    for line in lines(stream, _LONGEST_INDEX_LINE):
        if isinstance(line, Pause):
            yield line
            continue
        if isinstance(line, bytes) and not line.strip():
            continue
        number += 1
        entry = split_index_line(line) if isinstance(line, bytes) else None
        if entry is None:
            name = f"{place.name}:{number}"
            error = SourceError(
                f"{name}: a label and a path were expected; mend or remove the line"
            )
            yield Unreadable(name, error)
        else:
            path = index_path(place.name, entry[1])
            label = place.label if place.is_label_given else printable(entry[0])
            yield Unread(path, path, label, is_one=True)


def _need_label(place: Place) -> None:
    """
    Refuse a source without a label where one is needed.

    Raises:
        SourceError: it has none.
    """
    if place.labelled and place.label is None:
        raise SourceError(
            f"{place.name}: no label to learn it under; write LABEL={place.name}"
        )
