"""
Mailboxes filtered, and messages passed on with a field that tells the decision.

A mailbox, rules for its classes and a classifier go in; messages are moved and marked,
and an outcome for each new message comes out. Whenever it is killed, every message is
in a mailbox. `with_added` adds the decision to one message in memory. What is exported
is loaded when it is first asked for: passing on a message needs no mailboxes.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False  # typing takes longer to import than a message to pass on
if TYPE_CHECKING:
    from nbtext.filtering.header_field import AddedField, added_by, with_added
    from nbtext.filtering.mailbox import filter_mailbox
    from nbtext.filtering.mailboxes import open_mailbox
    from nbtext.filtering.rules import (
        FilterOptions,
        FilterReport,
        FilterRules,
        Outcome,
        Rule,
        Run,
        check_classes,
        rules_of,
    )
    from nbtext.filtering.seen_file import open_seen

__all__ = [
    "AddedField",
    "FilterOptions",
    "FilterReport",
    "FilterRules",
    "Outcome",
    "Rule",
    "Run",
    "added_by",
    "check_classes",
    "filter_mailbox",
    "open_mailbox",
    "open_seen",
    "rules_of",
    "with_added",
]

_HOMES = {
    "header_field": ["AddedField", "added_by", "with_added"],
    "mailbox": ["filter_mailbox"],
    "mailboxes": ["open_mailbox"],
    "rules": [
        "FilterOptions",
        "FilterReport",
        "FilterRules",
        "Outcome",
        "Rule",
        "Run",
        "check_classes",
        "rules_of",
    ],
    "seen_file": ["open_seen"],
}

__getattr__ = lazy_face(__name__, _HOMES)
