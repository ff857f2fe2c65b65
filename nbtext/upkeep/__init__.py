"""
What a model needs in the course of years: merged, pruned, checked, repaired.

In: model files, or their contents. Out: the sum of several, a model without its rare
terms, or a report of what is wrong with one and a new file of what is sound of it. The
files that go in are never changed. What is exported is loaded when it is first asked
for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.upkeep.checking import Checked, check_model, repair_model
    from nbtext.upkeep.deciding import set_policy
    from nbtext.upkeep.doubles import about_doubles, count_doubles
    from nbtext.upkeep.merging import Merged, merge, open_models, take_doubles
    from nbtext.upkeep.pruning import Pruned, prune
    from nbtext.upkeep.renaming import rename
    from nbtext.upkeep.scan import Part, documents_in

__all__ = [
    "Checked",
    "Merged",
    "Part",
    "Pruned",
    "about_doubles",
    "check_model",
    "count_doubles",
    "documents_in",
    "merge",
    "open_models",
    "prune",
    "rename",
    "repair_model",
    "set_policy",
    "take_doubles",
]

_HOMES: Final = {
    "checking": ["Checked", "check_model", "repair_model"],
    "deciding": ["set_policy"],
    "doubles": ["about_doubles", "count_doubles"],
    "merging": ["Merged", "merge", "open_models", "take_doubles"],
    "pruning": ["Pruned", "prune"],
    "renaming": ["rename"],
    "scan": ["Part", "documents_in"],
}

__getattr__ = lazy_face(__name__, _HOMES)
