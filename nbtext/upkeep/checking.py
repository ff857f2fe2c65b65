"""
Checking a model file: what of it is sound, and a new file of that.

A path goes in; out comes what there is, part by part, whatever the bytes are, and then
whether the sound tables add up: they have equal settings, what they take away was
there, and what they say of one another is so.
"""

from __future__ import annotations

from dataclasses import replace
from time import sleep
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.counts import CountTable
    from nbtext.settings.reading import Settings
    from nbtext.store import Header, StoredTable

from nbtext import wording
from nbtext.counts import n_terms
from nbtext.counts.adding import KeptTables
from nbtext.counts.correction import why_not_added
from nbtext.counts.count_histograms import histograms_of
from nbtext.counts.histograms import added
from nbtext.errors import (
    ModelFileError,
    ModelVersionError,
    ModelWriteError,
    NotAModelError,
)
from nbtext.scoring import load_model
from nbtext.store import ModelFile, read_contents
from nbtext.store.corrections import read_correction
from nbtext.store.file import map_file, map_settled, without_correction
from nbtext.store.packing import unpack_table
from nbtext.store.writing import replace_file
from nbtext.upkeep.doubles import about_doubles, count_doubles
from nbtext.upkeep.repair import add_sound
from nbtext.upkeep.scan import Part, beginning, documents_in, parts_of, what_is_wrong

TRIES: Final = 20
PAUSE: Final = 0.05
"""How often a file that is being written is looked at, and seconds between."""

SURPLUS: Final = "it takes away what the sound tables do not have"


class Checked(NamedTuple):
    """
    What checking a model file has found.

    Attributes:
        path: the file.
        size: its bytes.
        parts: what it consists of, in order.
        faults: what is wrong with the whole, though its tables are sound.
        notes: what its user should know.
    """

    path: str
    size: int
    parts: tuple[Part, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Return whether readers can rely on all of it but a cut-off table."""
        return not self.faults and not self.lost

    @property
    def lost(self) -> list[Part]:
        """Return the parts that readers should have, and cannot."""
        return [part for part in self.parts if part.verdict in ("damaged", "surplus")]

    @property
    def sound(self) -> list[Part]:
        """Return the parts that are sound, and add up."""
        return [part for part in self.parts if part.verdict == "sound"]

    @property
    def tables(self) -> tuple[StoredTable, ...]:
        """Return the tables that are sound."""
        return tuple(part.table for part in self.sound if part.table is not None)


def check_model(path: str) -> Checked:
    """
    Look at every byte of a model file.

    Raises:
        NoModelError: there is no such file.
        NotAModelError: no table begins anywhere in it.
        ModelVersionError: it is whole or damaged, but of another nbtext.
        ModelFileError: it cannot be read.
    """
    mapped = _mapped(path)
    if beginning(mapped, 0) == len(mapped):
        message = (
            f"{path}: not an nbtext model, or nothing is left of one: no table begins "
            "in it; check the path, restore a copy or train again"
        )
        raise NotAModelError(message)
    parts, total = _adding_up(_of_equal_settings(list(parts_of(path, mapped))))
    checked = Checked(path, len(mapped), tuple(parts), (), ())
    if not checked.sound:
        try:
            load_model(path)
        except ModelVersionError:  # of another nbtext nothing need be damaged
            raise
        except ModelFileError:
            return checked
    if total is None or not checked.is_sound:
        return checked
    try:
        model = load_model(path)
        notes = (*model.notes, *_notes(checked, model.file))
    except ModelFileError as error:
        return checked._replace(faults=(what_is_wrong(path, error),))
    faults = _chain_faults(checked, total) if _is_chained(checked.tables) else ()
    faults += _amount_faults(model.file, total)
    return checked._replace(faults=faults, notes=notes)


def _mapped(path: str) -> memoryview:
    """Return the bytes of a file as nobody is writing them, if that can be had soon."""
    for _ in range(TRIES):
        mapped = map_settled(path)
        if mapped is not None:
            return mapped
        sleep(PAUSE)
    return map_file(path)


def repair_model(checked: Checked, path: str) -> int:
    """
    Write a new model file of what is sound, and return its size in bytes.

    Raises:
        NotAModelError: nothing is sound.
        ModelWriteError: there is such a file, or it cannot be written.
    """
    tables = checked.tables
    if not documents_in(checked.sound):
        message = (
            f"{checked.path}: no document is left in what is sound of it, so nothing "
            "is written; restore a copy or train again"
        )
        raise NotAModelError(message)
    infos = [table.header.correction for table in tables]
    if why_not_added([info for info in infos if info is not None]):
        tables = tuple(map(without_correction, tables))
    file = ModelFile(checked.path, checked.size, tables, 0, memoryview(b""), ())
    try:
        return replace_file(path, read_contents(file).pack(), exclusively=True)
    except FileExistsError as error:
        message = (
            f"{path}: there is a file already; move it away, or name another with "
            f"{wording.named('path')}"
        )
        raise ModelWriteError(message) from error


def _of_equal_settings(parts: list[Part]) -> list[Part]:
    """Return parts; sound ones that were read otherwise than the first are surplus."""
    first: Settings | None = None
    for place, part in enumerate(parts):
        if part.verdict == "sound" and part.header is not None:
            settings = part.header.settings
            first = first or settings
            if settings != first:
                what = f"it does not add to the first: {first.difference(settings)}"
                parts[place] = replace(part, verdict="surplus", what=what)
    return parts


def _adding_up(parts: list[Part]) -> tuple[list[Part], CountTable | None]:
    """
    Leave out sound tables that take away what the others do not have.

    Returns:
        The parts, and the sum of those that are sound; None if none is.
    """
    places: list[int] = []
    kept = KeptTables()
    for place, part in enumerate(parts):
        if part.verdict == "sound" and part.table is not None:
            places.append(place)
            kept.add(unpack_table(part.table))
    if not places:
        return parts, None
    left_out, total = add_sound(dict(zip(places, kept.tables, strict=True)))
    for place in left_out:
        parts[place] = replace(parts[place], verdict="surplus", what=SURPLUS)
    return parts, total


def _notes(checked: Checked, file: ModelFile) -> Iterator[str]:
    """Yield what the user of a sound model should know of it."""
    for part in checked.parts:
        if part.note:
            yield f"{checked.path}: the table at byte {part.offset}: {part.note}"
    if not _is_chained(checked.tables):
        compact = wording.call("store.compact")
        yield (
            f"{checked.path}: its tables were joined, so how many terms it has is "
            f"counted where it is needed; `{compact}` makes it faster to open"
        )
    doubles = count_doubles(file)
    if doubles:
        yield f"{checked.path}: {about_doubles(doubles)}"


def _is_chained(tables: Sequence[StoredTable]) -> bool:
    """Return whether each table behind the first was appended where it is."""
    return all(table.offset == table.header.history.offset for table in tables[1:])


def _chain_faults(checked: Checked, total: CountTable) -> tuple[str, ...]:
    """Return in which views tables say of one another what is not so."""
    first, *tail = (table.header for table in checked.tables)
    faults = []
    for view, runs in enumerate(total.runs):
        more = sum(header.history.new_terms[view] for header in tail)
        found = n_terms(runs)
        if first.terms[view] + more != found:
            name = first.settings.views[view].name
            faults.append(
                f"its tables say that there are {first.terms[view] + more} terms in "
                f"the view {name}, there are {found}"
            )
    return (*faults, *_histogram_faults([first, *tail], total))


def _histogram_faults(headers: Sequence[Header], total: CountTable) -> Iterator[str]:
    """Yield in which views tables say what is not so of how often terms are there."""
    known = [one.histograms for one in headers if one.histograms is not None]
    if len(known) < len(headers):
        return
    views = total.settings.views
    histograms = added(known), histograms_of(total)
    for view, said, found in zip(views, *histograms, strict=True):
        if said != found:
            yield (
                f"its tables say that other numbers of terms of the view {view.name} "
                "are in so many documents of a class than there are"
            )


def _amount_faults(file: ModelFile, total: CountTable) -> tuple[str, ...]:
    """Return whether a correction has amounts of documents that are not counted."""
    correction = read_correction(file)
    if correction is None:
        return ()
    amounts = correction.of_classes(total.classes).amounts
    for place, ledger in enumerate(total.ledger):
        rows = amounts.entries[amounts.labels == place]
        together = np.unique(np.concatenate([ledger.entries, rows]), axis=0)
        if len(together) > len(ledger):
            return ("its correction has amounts of documents that are not counted",)
    return ()
