"""
A document, to the keys of its terms.

In: a document and the settings of a model. Out: the distinct keys of its terms in each
view, how often each occurs, and a fingerprint of them. `definition` is the
specification of what a term and a key are; `compiled` does the same in C, to the bit;
`engine` says which of the two is in use.

What is exported is loaded when it is first asked for: one message needs little of it.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False  # typing takes longer to import than a message to classify
if TYPE_CHECKING:
    from nbtext.tokens.bag import Bag, bag_of, fingerprint
    from nbtext.tokens.bags import Terms, fingerprints, read_terms
    from nbtext.tokens.definition import terms
    from nbtext.tokens.engine import Content
    from nbtext.tokens.key_reading import AnyReading, read_keys
    from nbtext.tokens.reading import Reading, is_mail, read

__all__ = [
    "AnyReading",
    "Bag",
    "Content",
    "Reading",
    "Terms",
    "bag_of",
    "fingerprint",
    "fingerprints",
    "is_mail",
    "read",
    "read_keys",
    "read_terms",
    "terms",
]

_HOMES = {
    "bag": ["Bag", "bag_of", "fingerprint"],
    "bags": ["Terms", "fingerprints", "read_terms"],
    "definition": ["terms"],
    "engine": ["Content"],
    "key_reading": ["AnyReading", "read_keys"],
    "reading": ["Reading", "is_mail", "read"],
}

__getattr__ = lazy_face(__name__, _HOMES)
