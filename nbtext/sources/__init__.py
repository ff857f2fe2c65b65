"""
Where documents come from: files, folders, mailboxes, tables and the standard input.

Arguments as the user writes them go in, a stream of `Item`s comes out, in order and
lazily; nothing is held but the document at hand. The modules, in pipeline order:
`_options` and `_labels` (what the user says), `_compressed` and `_stream` (bytes),
`_mbox`, `_lines`, `_csv`, `_heading`, `_table` and `_rows` (containers taken apart),
`_walk` (folders), `_inspect` (which of these it is), `_arguments`, `_contents`,
`_documents` and `_load`; `_mailboxes`, where nothing but mail is expected; and `_seen`,
which leaves mail out.
"""

from nbtext.sources._arguments import labels
from nbtext.sources._compressed import compression
from nbtext.sources._documents import documents
from nbtext.sources._failures import cannot_read
from nbtext.sources._load import load, load_all
from nbtext.sources._mailboxes import (
    INPUT,
    Kind,
    input_items,
    mailbox_items,
    names,
)
from nbtext.sources._mbox import (
    LONGEST_SEPARATOR,
    Opening,
    is_mbox,
    pieces,
    split,
    unquoted,
    without_blank_end,
)
from nbtext.sources._options import FORMATS, Options
from nbtext.sources._rereadable import rereadable
from nbtext.sources._seen import seen_only
from nbtext.sources._walk import is_maildir

__all__ = [
    "FORMATS",
    "INPUT",
    "LONGEST_SEPARATOR",
    "Kind",
    "Opening",
    "Options",
    "cannot_read",
    "compression",
    "documents",
    "input_items",
    "is_maildir",
    "is_mbox",
    "labels",
    "load",
    "load_all",
    "mailbox_items",
    "names",
    "pieces",
    "rereadable",
    "seen_only",
    "split",
    "unquoted",
    "without_blank_end",
]
