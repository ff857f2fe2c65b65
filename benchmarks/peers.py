"""What nbtext is compared with, and how to install it where it is missing."""

import importlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.bench import Bench
from benchmarks.figures import Skipped
from benchmarks.harness import Job
from benchmarks.mail import Mail

BOGOFILTER_DONE: Final = frozenset({0, 1, 2})
"""bogofilter's exit status says what a mail is: spam, ham or unsure."""


def program(name: str) -> str:
    """
    Return a program, which Debian's package of the same name has.

    Raises:
        Skipped: it is not installed.
    """
    path = shutil.which(name)
    if path is None:
        raise Skipped(f"{name} is missing: apt-get install {name}")
    return path


def bogofilter_training(bench: Bench, mail: Mail) -> Job:
    """Return the registration of mail in a new database."""
    database = bench.folder / "bogofilter"
    command = (program("bogofilter"), "-d", str(database))
    return Job(
        steps=(
            (*command, "-n", "-B", *map(str, mail.ham)),
            (*command, "-s", "-B", *map(str, mail.spam)),
        ),
        fresh=database,
    )


def bogofilter_classification(bench: Bench, mail: Mail) -> Job:
    """Return the classification of mail by the database that training left."""
    database = str(bench.folder / "bogofilter")
    command = (program("bogofilter"), "-d", database, "-T", "-B", *mail.folders)
    return Job((command,), statuses=BOGOFILTER_DONE)


def bogofilter_version() -> str:
    """Return name and version."""
    said = subprocess.run(
        [program("bogofilter"), "-V"], capture_output=True, check=True
    )
    return said.stdout.decode().splitlines()[0].replace(" version", "")


def spamassassin_perl() -> str:
    """
    Return a perl that has the modules of SpamAssassin.

    Raises:
        Skipped: it is not installed.
    """
    perl = shutil.which("perl")
    command = (str(perl), "-MMail::SpamAssassin", "-e1")
    if (
        perl is None
        or subprocess.run(command, capture_output=True, check=False).returncode
    ):
        raise Skipped("SpamAssassin is missing: apt-get install spamassassin")
    return perl


def fasttext_module() -> Any:
    """
    Return the module.

    Raises:
        Skipped: it is not installed.
    """
    if importlib.util.find_spec("fasttext") is None:
        raise Skipped("fastText is missing: pip install fasttext-wheel")
    return importlib.import_module("fasttext")


def scikit_learn_python() -> str:
    """
    Return an interpreter that has scikit-learn: this one.

    Raises:
        Skipped: it has not.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise Skipped("scikit-learn is missing: pip install scikit-learn")
    return sys.executable


def scikit_learn_training(folder: Path, kept: Path | None = None) -> Job:
    """Return the training of a model of words on folders of text; it may be kept."""
    script = Path(__file__).with_name("train_scikit_learn.py")
    where = () if kept is None else (str(kept),)
    return Job(((scikit_learn_python(), str(script), str(folder), *where),))


def scikit_learn_classification(kept: Path, folder: Path) -> Job:
    """Return the classification of folders of text by a model that was kept."""
    script = Path(__file__).with_name("classify_scikit_learn.py")
    return Job(((scikit_learn_python(), str(script), str(kept), str(folder)),))


def linear_svc_training(source: str) -> Job:
    """Return the training of a linear SVM on words and pairs of labelled text."""
    script = Path(__file__).with_name("train_linear_svc.py")
    return Job(((scikit_learn_python(), str(script), source),))


def scikit_learn_start() -> Job:
    """Return what of that is only importing."""
    imports = "import sklearn.feature_extraction.text, sklearn.naive_bayes"
    return Job(((scikit_learn_python(), "-c", imports),))
