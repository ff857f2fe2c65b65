"""
Mailboxes that messages are moved in: Maildir, MH and mbox.

`nbtext.sources` reads documents; this package lists mailboxes and changes them. At
every instant a message is in one mailbox, or after a crash in two. Its bytes do not
change, except for flags that were asked for and, from mbox to mbox, the number it had.

The modules, in pipeline order: `_message` and `_content` (messages), `_transfer` and
`_locks` (moving and locking files), `_keywords` and `_maildir`, `_sequences` and `_mh`,
`_fields`, `_spans`, `_rewriting`, `_late`, `_mbox` and `_carrying`, `_opening` (which
kind a mailbox is) and `_moving`.
"""

from nbtext.filtering.mailboxes._carrying import Carried, Plan, carry_out
from nbtext.filtering.mailboxes._content import Content, read_content
from nbtext.filtering.mailboxes._late import clean_up
from nbtext.filtering.mailboxes._mbox import Mbox
from nbtext.filtering.mailboxes._message import UNMARKED, Marks, Message, marks_of
from nbtext.filtering.mailboxes._mh import MH
from nbtext.filtering.mailboxes._moving import Task, move_all, read_message
from nbtext.filtering.mailboxes._opening import (
    Folder,
    Mailbox,
    check_marks,
    check_owner,
    is_same,
    open_mailbox,
    target_of,
)
from nbtext.filtering.mailboxes._rewriting import OldFiles, OldState
from nbtext.filtering.mailboxes._spans import Span

__all__ = [
    "MH",
    "UNMARKED",
    "Carried",
    "Content",
    "Folder",
    "Mailbox",
    "Marks",
    "Mbox",
    "Message",
    "OldFiles",
    "OldState",
    "Plan",
    "Span",
    "Task",
    "carry_out",
    "check_marks",
    "check_owner",
    "clean_up",
    "is_same",
    "marks_of",
    "move_all",
    "open_mailbox",
    "read_content",
    "read_message",
    "target_of",
]
