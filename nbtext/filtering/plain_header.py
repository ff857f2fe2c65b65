"""
The end of a header that is plain, found without loading what reads any other.

`nbtext.filtering.header_field` specifies where a field goes; here it is told whether
that is the end of a header beyond doubt: whole fields with line feeds, none of them
ours. So it is for most mail.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FIELD: "Final" = "X-NBText"
"""The name of the field, unless the user names another."""

LONGEST_NAME: "Final" = 128

LONGEST: "Final" = 1 << 16
"""Maximum bytes of a header that is looked at here."""

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
    end = plain_end(message, field.lower().encode())
    if not end:
        return None
    return b"".join((message[:end], f"{field}: {value}\n".encode(), message[end:]))


def plain_end(message: bytes, ours: bytes) -> int:
    """
    Return where a header ends to which a field is only added.

    Args:
        message: the message.
        ours: the name of the field, in lower case.

    Returns:
        The place behind the last line of the header; 0 if that is not plain.
    """
    end = message.find(b"\n\n", 0, LONGEST) + 1
    header = message[:end]
    lines = header.split(b"\n")[:-1]
    while lines and lines[0].startswith(ENVELOPES):
        del lines[0]
    if not lines or b"\r" in header or lines[0].startswith(BLANKS):
        return 0
    if b"\n" + ours in b"\n" + header.lower():
        return 0
    for line in lines:
        if not line.startswith(BLANKS):
            name, colon, _ = line.partition(b":")
            name = name.rstrip(b" \t")
            is_name = 0 < len(name) <= LONGEST_NAME
            if not (colon and is_name) or name.translate(None, VISIBLE):
                return 0
    return end


def is_plain_label(label: str) -> bool:
    """Return whether a label is told as it is."""
    return label.isascii() and label.replace("-", "x").replace("_", "x").isalnum()
