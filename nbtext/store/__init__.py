"""
Counts to a model file and back.

In: the contents of a model, or the delta that learning makes. Out: the bytes of a model
file, written so that a crash at any instruction leaves a readable model, and read in
place. Any bytes at all give a model or a `ModelFileError`. docs/model-format.md has the
format. What is exported is loaded when it is first asked for: one message needs no
arrays.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from nbtext.store.compacting import compact
    from nbtext.store.contents import Contents, read_contents
    from nbtext.store.file import ModelFile, check_sound, open_model
    from nbtext.store.header import Header, History
    from nbtext.store.ledger import Row, record_of, rows_of
    from nbtext.store.replacing import check_replaceable, replace_model
    from nbtext.store.table import StoredTable
    from nbtext.store.undo import UndoRecords

__all__ = [
    "Contents",
    "Header",
    "History",
    "ModelFile",
    "Row",
    "StoredTable",
    "UndoRecords",
    "check_replaceable",
    "check_sound",
    "compact",
    "open_model",
    "read_contents",
    "record_of",
    "replace_model",
    "rows_of",
]

_HOMES = {
    "compacting": ["compact"],
    "contents": ["Contents", "read_contents"],
    "file": ["ModelFile", "check_sound", "open_model"],
    "header": ["Header", "History"],
    "ledger": ["Row", "record_of", "rows_of"],
    "replacing": ["check_replaceable", "replace_model"],
    "table": ["StoredTable"],
    "undo": ["UndoRecords"],
}

__getattr__ = lazy_face(__name__, _HOMES)
