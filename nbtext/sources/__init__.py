"""
Where documents come from: files, folders, mailboxes, tables and the standard input.

In: arguments as the user writes them, and `Options`. Out: a stream of `Item`s, in order
and lazily; only the document at hand is in memory. `nbtext.sources.mbox` takes mbox
files apart, and `nbtext.sources.mailboxes` reads what can only be mail.

The modules, in pipeline order: `_options`, `_labels` and `_failures` (what the user and
the system say), `_compressed`, `_snapshot` and `_stream` (bytes), `_content_length`,
`mbox`, `_lines`, `_text_lines`, `_csv`, `_heading`, `guess`, `_table`, `_json_lines`,
`json_array`, `beside`, `_column_notes` and `_rows` (containers taken apart),
`_listing`, `_maildir` and `_walk` (folders), `_inspect` (what a source is), `_names`,
`_numbered` (one of many documents), `_meanings`, `_arguments`, `_doubtful`,
`_complaints`, `_unicode`, `_contents`, `_documents`, `_rereadable`, `_ahead`, `_load`,
`seen`; `mailboxes`. What those without `_` have is imported from them: folders of mail
need neither tables nor JSON.
"""

from nbtext.sources._ahead import small_files, with_texts
from nbtext.sources._arguments import labels, named_paths, total_bytes
from nbtext.sources._compressed import compression
from nbtext.sources._documents import (
    Unopened,
    documents,
    items_of_stream,
    listed_items,
    opened_items,
)
from nbtext.sources._failures import cannot_read
from nbtext.sources._inspect import container_format
from nbtext.sources._labels import file_label, folder_label, split_label
from nbtext.sources._load import load, loaded
from nbtext.sources._meanings import meanings_of, note_of
from nbtext.sources._names import listed
from nbtext.sources._numbered import NO_NUMBERS, split_number
from nbtext.sources._options import FORMATS, Options, Place, is_delimiter
from nbtext.sources._rereadable import rereadable
from nbtext.sources._stream import open_binary
from nbtext.sources._walk import SEQUENCES, is_maildir

__all__ = [
    "FORMATS",
    "NO_NUMBERS",
    "SEQUENCES",
    "Options",
    "Place",
    "Unopened",
    "cannot_read",
    "compression",
    "container_format",
    "documents",
    "file_label",
    "folder_label",
    "is_delimiter",
    "is_maildir",
    "items_of_stream",
    "labels",
    "listed",
    "listed_items",
    "load",
    "loaded",
    "meanings_of",
    "named_paths",
    "note_of",
    "open_binary",
    "opened_items",
    "rereadable",
    "small_files",
    "split_label",
    "split_number",
    "total_bytes",
    "with_texts",
]
