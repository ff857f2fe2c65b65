"""The garbage collector: on again once modules are loaded, and left alone by others."""

import subprocess
import sys

SCRIPT = """
import gc, sys
first = gc.get_freeze_count()  # which is not 0 in Python 3.12
from nbtext.cli import main
sys.argv = ["nbtext", "help", "train"]
try:
    main({})
except SystemExit:
    print(gc.isenabled(), gc.get_freeze_count() > first, file=sys.stderr)
"""


def states(arguments: str) -> str:
    command = [sys.executable, "-c", SCRIPT.format(arguments)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert "nbtext train" in done.stdout
    return done.stderr


def test_the_program_collects_again_and_not_what_it_has_loaded() -> None:
    assert states("") == "True True\n"


def test_who_calls_the_command_line_keeps_a_collector_of_their_own() -> None:
    assert states('["help", "train"]') == "True False\n"
