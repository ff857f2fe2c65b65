"""
Durable files: opened with care, locked with a deadline, replaced whole or not at all.

A path goes in; a descriptor, a lock or a new file in the place of an old one comes out.
The functions raise `OSError`, and `BusyError` for a lock that cannot be had; callers
say what that means for a model, a mailbox or a socket. A crash is the end of a process,
which keeps what the system was told, or of the machine, which keeps what was made
durable.

What is exported is loaded when it is first asked for: to learn one message takes a lock
and an append, and nothing else of this.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from nbtext.files._access import keep_access, make_file, make_folder
    from nbtext.files._locking import locked, succeeds_until, unlocked
    from nbtext.files._opening import (
        Buffer,
        is_in_place,
        open_file,
        read_file,
        write_all,
        write_at,
        write_out,
    )
    from nbtext.files._renaming import make_durable, rename_exclusively
    from nbtext.files._replacing import NotDurableError, new_file, replace_file

__all__ = [
    "Buffer",
    "NotDurableError",
    "is_in_place",
    "keep_access",
    "locked",
    "make_durable",
    "make_file",
    "make_folder",
    "new_file",
    "open_file",
    "read_file",
    "rename_exclusively",
    "replace_file",
    "succeeds_until",
    "unlocked",
    "write_all",
    "write_at",
    "write_out",
]

_HOMES = {
    "_access": ["keep_access", "make_file", "make_folder"],
    "_locking": ["locked", "succeeds_until", "unlocked"],
    "_opening": [
        "Buffer",
        "is_in_place",
        "open_file",
        "read_file",
        "write_all",
        "write_at",
        "write_out",
    ],
    "_renaming": ["make_durable", "rename_exclusively"],
    "_replacing": ["NotDurableError", "new_file", "replace_file"],
}

__getattr__ = lazy_face(__name__, _HOMES)
