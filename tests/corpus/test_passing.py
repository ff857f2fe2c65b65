"""Every mail of the corpora passes through byte for byte."""

import re
from collections.abc import Iterator
from contextlib import closing
from mailbox import mbox
from pathlib import Path

import pytest

from nbtext.filtering.header_field import AddedField, with_added

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
MARK = AddedField("X-NBText", "spam, probability=0.9987")
LINE = b"X-NBText: spam, probability=0.9987"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason=f"{CORPORA} is not there"),
]


def messages() -> Iterator[tuple[str, bytes]]:
    for name in ("spamassassin", "mail-misc", "20news/test"):
        for path in sorted((CORPORA / name).rglob("*")):
            if path.is_file():
                yield str(path), path.read_bytes()
    with closing(mbox(CORPORA / "nazario" / "20051114.mbox")) as box:
        for number in box.keys():  # noqa: SIM118  a mailbox is no dictionary
            yield f"nazario:{number}", box.get_bytes(number)


def test_every_mail_passes_byte_for_byte() -> None:
    count = 0
    for name, message in messages():
        passed = with_added(message, MARK)

        assert passed.count(LINE) == 1 + message.count(LINE), name
        place = passed.index(LINE)
        rest = re.sub(rb"\A\r?\n", b"", passed[place + len(LINE) :])
        whole = passed[:place] + rest
        # a text without a header has an empty line more, which ends ours
        shorter = passed[:place] + re.sub(rb"\A\r?\n", b"", rest)
        assert message in (whole, shorter), name
        count += 1
    assert count > 10_000
