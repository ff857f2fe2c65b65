"""
Bytes of a file from a place on, all of them.

pread(2) may return fewer than were asked for: a file system that other machines or
programs serve may give them in pieces.
"""

import os


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """
    Return so many bytes of an open file from a place on, fewer only where it ends.

    Raises:
        OSError: it cannot be read.
    """
    data = os.pread(descriptor, size, offset)
    while len(data) < size:
        piece = os.pread(descriptor, size - len(data), offset + len(data))
        if not piece:
            break
        data += piece
    return data
