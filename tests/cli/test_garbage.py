"""The garbage collector: on again once modules are loaded, and left alone by others."""

import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE

SCRIPT = """
import gc, sys
first = gc.get_freeze_count()  # which is not 0 in Python 3.12
from nbtext.cli import main
try:
    main({})
except SystemExit:
    is_frozen, is_seldom = gc.get_freeze_count() > first, gc.get_threshold()[0] > 9_000
    print(gc.isenabled(), is_frozen, is_seldom, file=sys.stderr)
"""
"""What is told: whether the collector is on, whether it leaves alone what has been
loaded, and whether it looks at what is new seldom."""


def states(arguments: str, *command_line: str) -> str:
    command = [sys.executable, "-c", SCRIPT.format(arguments), *command_line]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.stderr


def test_the_program_collects_again_and_not_what_it_has_loaded() -> None:
    assert states("", "help", "train") == "True True False\n"


def test_what_goes_through_many_documents_collects_seldom(tmp_path: Path) -> None:
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1").write_text(label)
    model, *sources = (str(tmp_path / name) for name in ("m.nbt", "ham", "spam"))

    assert states("", "train", "-q", "-m", model, *sources) == "True True True\n"
    assert states("", "eval", "-q", "-m", model, *sources) == "True True True\n"


LOADING = """
import gc, sys
from nbtext.cli import main
def is_loading(phase, _):
    if "numpy" in sys.modules and "nbtext.learning.training" not in sys.modules:
        sys.stderr.write(phase)
gc.callbacks.append(is_loading)
main()
"""


def test_nothing_is_looked_through_while_training_is_loaded(tmp_path: Path) -> None:
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1").write_text(label)

    done = subprocess.run(
        [sys.executable, "-c", LOADING, "train", "-q", "-m", "m.nbt", "ham", "spam"],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        text=True,
        timeout=PATIENCE,
    )

    assert done.stderr == ""


def test_nothing_is_looked_through_where_a_program_ends(tmp_path: Path) -> None:
    """One message is classified before the collector would be turned on again."""
    model = str(tmp_path / "m.nbt")
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1").write_text(label)
    states(
        "", "train", "-q", "-m", model, *(str(tmp_path / s) for s in ("ham", "spam"))
    )

    assert states("", "classify", "-m", model) == "False True False\n"


def test_who_calls_the_command_line_keeps_a_collector_of_their_own() -> None:
    assert states('["help", "train"]') == "True False False\n"


OF_PROGRAM = """
import gc, sys
from nbtext.cli import main
gc.freeze()  # as a server does before it forks
if sys.argv[1] == "off":
    gc.disable()
gc.set_threshold(600)
for arguments in (["train", "missing"], ["help", "train"], ["eval", "missing"]):
    try:
        main(arguments)
    except SystemExit:
        print(gc.isenabled(), gc.get_threshold()[0], file=sys.stderr)
"""


def test_a_program_that_has_its_collector_off_or_frozen_has_it_so_afterwards() -> None:
    for how, is_on in (("on", True), ("off", False)):
        done = subprocess.run(
            [sys.executable, "-c", OF_PROGRAM, how],
            capture_output=True,
            check=True,
            text=True,
            timeout=PATIENCE,
        )

        told = [one for one in done.stderr.splitlines() if one.endswith(" 600")]
        assert told == [f"{is_on} 600"] * 3
