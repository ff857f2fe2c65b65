"""`nbtext check`: look at every byte of a model, and save what is sound."""

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from nbtext.cli import _status as status
from nbtext.cli._options import named_model, output_options, within_memory
from nbtext.cli._places import default_model
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, counted, escaped, size
from nbtext.cli._terminal import Output, is_watched, show, to_stderr, to_stdout
from nbtext.cli._words import line_of, typed
from nbtext.document import readable

if TYPE_CHECKING:
    from nbtext.upkeep import Checked, Part

ENDING: Final = ".repaired"


@click.command(
    epilog="The exit status is 0 if the model is sound, or what is sound was written "
    "(--repair), else 65."
)
@named_model
@click.option(
    "--repair",
    is_flag=True,
    help="If the model is damaged, write a new one of what is sound.",
)
@click.option("-o", "--output", "new", metavar="FILE", help="Where the new model goes.")
@within_memory
@output_options
def command(model: str, repair: bool, new: str | None, output: Output) -> int:
    """
    Look at every byte of a model, and say what is wrong.

    \b
    nbtext check
    nbtext check mail.nbt --repair -o saved.nbt

    Each table has a line: where it begins, its bytes, its documents, and whether it is
    sound. --repair leaves the model as it is and replaces no file; without --output it
    writes beside the model, under its name and `.repaired`.
    """  # noqa: D301  click wants a real backspace
    if new is not None and not repair:
        message = "--output is for --repair."
        raise click.UsageError(message)
    from nbtext.upkeep import check_model, repair_model

    checked = check_model(model)
    new = new or f"{model}{ENDING}"
    written = None
    if repair and not checked.is_sound:
        written = repair_model(checked, new)
    _print(checked, facts_of(checked, None if written is None else new), output)
    if not checked.is_sound:
        to_stderr(complaint(checked))
    for line in () if output.quiet else remarks(checked, new, written):
        to_stderr(line)
    return status.DATA if not checked.is_sound and written is None else status.DONE


def _print(checked: "Checked", facts: dict[str, Any], output: Output) -> None:
    rows = [row_of(part) for part in checked.parts]
    if output.as_json:
        to_stdout([json_of(facts)])
    elif is_watched(sys.stdout):
        from nbtext.cli._tables import check_table

        show([check_table(rows)])
    else:
        to_stdout("\t".join(row) for row in rows)


def row_of(part: "Part") -> tuple[str, str, str, str]:
    """Return where a part begins, its bytes, its documents, and what it is."""
    from nbtext.upkeep import documents_in

    what = f"{part.verdict}: {part.what}" if part.what else part.verdict
    if part.header is not None and part.what:
        what += f" (written {part.header.written})"
    documents = "?" if part.header is None else _listed(documents_in([part]))
    return str(part.offset), str(part.length), documents, escaped(what)


def _listed(documents: dict[str, int]) -> str:
    """Return how many documents each class has, in one line."""
    from nbtext.store.cut_short import listed

    return listed({class_name(name): count for name, count in documents.items()})


def complaint(checked: "Checked") -> str:
    """Say in one line what is wrong with a model."""
    from nbtext.upkeep import documents_in

    parts = list(checked.faults)
    lost = checked.lost
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        parts.append(f"{len(lost)} of {counted(len(checked.parts), 'part')} {verb} bad")
    known = documents_in(lost)
    if known:
        parts.append(f"with {_listed(known)}")
    unknown = sum(part.length for part in lost if part.header is None)
    if unknown:
        parts.append(f"{size(unknown)} do not say what was in them")
    return f"{checked.path}: {'; '.join(parts)}"


def remarks(checked: "Checked", new: str, written: int | None) -> list[str]:
    """Return what else there is to say: notes, what was done, what to do."""
    from nbtext.upkeep import documents_in

    left = _listed(documents_in(checked.sound))
    lines = [f"note: {note}" for note in checked.notes]
    if checked.is_sound:
        lines.append(f"sound: {left}")
    elif written is not None:
        lines.append(f"wrote {new} ({size(written)}): {left}")
        files = " ".join(map(typed, (new, checked.path)))
        end = "-- " if "-" in (new[:1], checked.path[:1]) else ""
        lines.append(
            f"if that is enough, `mv {end}{files}` puts it in the model's place"
        )
    elif documents_in(checked.sound):
        where = [] if checked.path == default_model() else ["-m", checked.path]
        line = line_of(["check", "--repair", *where])
        lines.append(f"`{line}` writes what is sound to {new}: {left}")
    else:
        lines.append("nothing of it is sound; restore a copy or train again")
    return lines


def facts_of(checked: "Checked", repaired: str | None) -> dict[str, Any]:
    """Return the same for a program."""
    from nbtext.upkeep import documents_in

    return {
        "path": readable(checked.path),
        "bytes": checked.size,
        "sound": checked.is_sound,
        "tables": [
            {
                "offset": part.offset,
                "bytes": part.length,
                "verdict": part.verdict,
                "what": part.what,
                "classes": None if part.header is None else documents_in([part]),
                "written": None if part.header is None else part.header.written,
            }
            for part in checked.parts
        ],
        "faults": list(checked.faults),
        "notes": list(checked.notes),
        "classes": documents_in(checked.sound),
        "repaired": None if repaired is None else readable(repaired),
    }
