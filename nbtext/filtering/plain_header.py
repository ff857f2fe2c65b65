"""
A field added to a message whose header is plain, without loading what reads any other.

`nbtext.filtering.header_field` specifies where a field goes; here it is told whether
that is the end of a header beyond doubt: whole fields with line feeds, none of them
ours.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FIELD: "Final" = "X-NBText"
"""The name of the field, unless the user names another."""

LONGEST_NAME: "Final" = 128

ENVELOPES: "Final" = (b"From ", b">From ")
BLANKS: "Final" = (b" ", b"\t")
VISIBLE: "Final" = bytes(code for code in range(33, 127) if code != ord(":"))
"""What the name of a field is made of (RFC 5322, section 3.6.8)."""


def with_field(message: bytes, field: str, value: str) -> bytes | None:
    """
    Return a message with a field at the end of its header.

    Args:
        message: the message.
        field: the name of the field.
        value: printable ASCII, on one line.

    Returns:
        None if the header is not plain.

    """
    header, blank, body = message.partition(b"\n\n")
    if not blank or b"\r" in header or not _is_plain(header, field.lower().encode()):
        return None
    return b"".join((header, f"\n{field}: {value}\n\n".encode(), body))


def _is_plain(header: bytes, unwanted: bytes) -> bool:
    """Return whether a header is whole fields, and has none of a name."""
    lines = header.split(b"\n")
    while lines and lines[0].startswith(ENVELOPES):
        del lines[0]
    if not lines or lines[0].startswith(BLANKS):
        return False
    for line in lines:
        if line.startswith(BLANKS):
            continue
        before, colon, _ = line.partition(b":")
        name = before.rstrip(b" \t")
        is_name = 0 < len(name) <= LONGEST_NAME and not name.translate(None, VISIBLE)
        if not (colon and is_name) or name.lower() == unwanted:
            return False
    return True


def is_plain_label(label: str) -> bool:
    """Return whether a label is told as it is."""
    return label.isascii() and label.replace("-", "x").replace("_", "x").isalnum()
