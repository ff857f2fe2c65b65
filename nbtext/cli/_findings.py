"""What `doctor` has found, as lines: the kind of finding first, then its parts."""

from collections.abc import Iterator
from typing import Any, Final

from nbtext.cli._report import class_name, counted, escaped, well_formed
from nbtext.doctor import Findings
from nbtext.document import readable

KINDS: Final = {
    "label": "Labels that may be wrong: document, label, the label that it looks like, "
    "how much more (in nats), and why",
    "same": "The same document under two labels",
    "near": "Documents of different labels that are nearly the same, and how nearly",
    "copies": "Labels with copies of their own documents, which count as often as they "
    "are there",
    "again": "Labels with documents that are nearly the same as others of the label: "
    "what `eval` says of those is too good",
    "leak": "Terms in nearly all documents of a label and in no other: label, view, "
    "term, documents",
    "dates": "Labels whose mail is of another time than the rest: label, its dates, "
    "those of the rest, share of pairs in that order",
    "small": "Labels with few documents",
    "alike": "Labels that are the same but for case, blanks, or how their characters "
    "are composed: each with its documents",
    "unreadable": "Documents that cannot be read",
}
"""The kinds of findings, in the order of the lines, each with its heading."""

NOUNS: Final = {
    "label": ("document that looks like another label",
              "documents that look like another label"),
    "same": ("document under two labels", "documents under two labels"),
    "near": ("near duplicate", "near duplicates"),
    "copies": ("label with copies", "labels with copies"),
    "again": ("label that repeats itself", "labels that repeat themselves"),
    "leak": ("leaking term", "leaking terms"),
    "dates": ("label apart by date", "labels apart by date"),
    "small": ("small label", "small labels"),
    "alike": ("label like another", "labels like others"),
    "unreadable": ("unreadable document", "unreadable documents"),
}  # fmt: skip
"""What one finding of a kind is called, and several."""


def finding_rows(found: Findings) -> Iterator[tuple[str, ...]]:
    """Yield a row for each finding: its kind, and the columns of that kind."""
    for suspect in found.suspects:
        reasons = ", ".join(f"'{escaped(text.strip())}'" for text in suspect.reasons)
        yield (
            "label",
            escaped(suspect.name),
            class_name(suspect.label),
            class_name(suspect.likelier),
            f"{suspect.nats:.2f}",
            reasons or "-",
        )
    for kind, pairs in (("same", found.same), ("near", found.near)):
        for pair in pairs:
            yield (
                kind,
                escaped(pair.first),
                class_name(pair.first_label),
                escaped(pair.second),
                class_name(pair.second_label),
                f"{pair.similarity:.2f}",
            )
    for kind, numbers in (("copies", found.copies), ("again", found.repeated)):
        for name, n in numbers.items():
            yield kind, class_name(name), f"{n} of {found.classes[name]}"
    for leak in found.leaks:
        size = found.classes[leak.label]
        of_class = f"{leak.documents} of {size}"
        yield "leak", class_name(leak.label), leak.view, escaped(leak.term), of_class
    for one in found.apart:
        yield (
            "dates",
            class_name(one.label),
            f"{one.first} to {one.last}",
            f"{one.others_first} to {one.others_last}",
            f"{one.ordered:.3f}",
        )
    for name in found.small:
        yield "small", class_name(name), str(found.classes[name])
    for names in found.alike:
        sizes = ((class_name(name), str(found.classes[name])) for name in names)
        yield "alike", *(part for size in sizes for part in size)
    if found.unreadable:
        yield "unreadable", str(found.unreadable)


def totals(found: Findings) -> dict[str, int]:
    """Return how many findings of each kind there are, told or not."""
    return {
        "label": found.n_suspects,
        "same": found.n_same,
        "near": found.n_near,
        "copies": len(found.copies),
        "again": len(found.repeated),
        "leak": found.n_leaks,
        "dates": len(found.apart),
        "small": len(found.small),
        "alike": len(found.alike),
        "unreadable": found.unreadable,
    }


def summary(found: Findings) -> str:
    """Say in a sentence what was found."""
    parts = [
        f"{count:,} {NOUNS[kind][count != 1]}"
        for kind, count in totals(found).items()
        if count
    ]
    what = ", ".join(parts) if parts else "nothing found"
    return f"{counted(found.documents, 'document')}: {what}"


def findings_json(found: Findings) -> dict[str, Any]:
    """Return findings for `json.dumps`; names are escaped as in TSV."""
    plain = found.as_dict()
    for pair in (*plain["same"], *plain["near"]):
        pair |= {"first": readable(pair["first"]), "second": readable(pair["second"])}
    for suspect in plain["suspects"]:
        reasons = [well_formed(text) for text in suspect["reasons"]]
        suspect |= {"name": readable(suspect["name"]), "reasons": reasons}
    for leak in plain["leaks"]:
        leak["term"] = well_formed(leak["term"])
    return plain
