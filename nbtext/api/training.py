"""Training: a model of labelled sources, or of documents in memory, into a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nbtext.arguments import AnyPath
    from nbtext.counts import ReadReport
    from nbtext.counts.read_report import Progress
    from nbtext.document import AnyDocument, Item
    from nbtext.learning import Trained
    from nbtext.learning.regimes import Regime
    from nbtext.policy import Policy
    from nbtext.sources import Options
    from nbtext.store.blocks import Buffer

from nbtext import wording
from nbtext.api._shared import AUTO, IMPORTS, checked_regime, labelled, n_classes_of
from nbtext.arguments import count_of, path_of, seconds_of, sources_of
from nbtext.counts.room import bounded
from nbtext.errors import SettingsError
from nbtext.keyring import make_secret
from nbtext.learning import SettingsOverrides
from nbtext.learning import train as train_counts
from nbtext.learning.inheriting import with_policy_of_old
from nbtext.learning.overrides import DEFAULTS, checked_overrides
from nbtext.learning.preparing import check_stays_keyed, reading_columns
from nbtext.learning.regimes import EVERYTHING
from nbtext.processes import processes
from nbtext.scoring.batch import keep_memory
from nbtext.sources import rereadable
from nbtext.store import check_replaceable, replace_model
from nbtext.store.lock import WAIT


def train(
    sources: Sequence[AnyPath],
    path: AnyPath,
    *,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    replace: bool = False,
    keyed: AnyPath | None = None,
    wait: float = WAIT,
    jobs: int = 1,
    memory: int | None = None,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    regime: Regime = EVERYTHING,
) -> Trained:
    """
    Make a model of labelled sources, and put it in a file's place.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        path: where the model goes; what is there is replaced once it is complete.
        options: what the sources are, if not what they look like.
        overrides: what differs from the default settings.
        replace: whether to replace a model that was taught since it was trained.
        keyed: file of a secret without which nobody can read documents with the model;
            it is made if it is not there.
        wait: how many seconds to wait for another writer of the model.
        jobs: how many processes, or of mail threads, read documents.
        memory: about how many bytes of memory the counts may take; what is more goes to
            the temporary folder. None for half of what there is.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.
        regime: which of the documents are learnt, in the order of their digests.

    Returns:
        The counts, and a report of what was read and what was skipped. The policy of
        the model that was replaced stays, if the new one can decide by it.

    Raises:
        TrainingError: fewer than two classes, not one token, or labels of a column
            that nobody has named, and of which nearly each document has another.
        SettingsError: the score does not go with the number of classes, or with the
            regime; a source is empty, the standard input is named twice, or several
            processes are asked for where documents wait for one another.
        SecretError: the file holds no secret, or others may read it; or the model
            there is keyed, and the new one would not be.
        TaughtError: the model there was taught, and would be lost.
        BusyError: another process has been writing the model all the time.
        ModelFileError: the file cannot be written.
        NoRoomError: the temporary folder has no room for what memory is too short for.
        TypeError: the sources are one string, or none, or options or overrides are
            none.
        ValueError: `jobs` or `memory` is below 1, `wait` below 0, or there is no such
            regime.
    """
    sources, path, wait = sources_of(sources), path_of(path), seconds_of("wait", wait)
    jobs, regime = count_of("jobs", jobs, least=1), checked_regime(regime)
    options, overrides = reading_columns(options, overrides)
    if memory is not None:
        memory = count_of("memory", memory, least=1)
    check_replaceable(path, replace=replace)
    overrides = _keyed(overrides, keyed)
    if not replace:
        check_stays_keyed(path, overrides)
    keep_memory()
    if jobs > 1 and regime.is_choosy:
        message = (
            f"{wording.given(regime=regime.name)} has each document wait for the one "
            f"before it; leave out {wording.named('jobs')}"
        )
        raise SettingsError(message)
    n_classes = n_classes_of(sources, options)
    with bounded(memory):
        trained = train_counts(
            rereadable(sources, options),
            n_classes=n_classes,
            overrides=overrides,
            max_bytes=options.max_bytes,
            workers=partial(processes, jobs, IMPORTS),
            jobs=jobs,
            progress=progress,
            on_read=on_read,
            regime=regime,
            are_labels_found=n_classes is None and options.label_column is None,
        )
        return _put(trained, path, replace=replace, wait=wait, jobs=jobs)


def train_on(
    pairs: Iterable[tuple[str, AnyDocument]],
    path: AnyPath,
    *,
    overrides: SettingsOverrides = DEFAULTS,
    replace: bool = False,
    keyed: AnyPath | None = None,
    wait: float = WAIT,
) -> Trained:
    """
    Make a model of labels and documents in memory, and put it in a file's place.

    Args:
        pairs: a label and a document each; text is read as its UTF-8 bytes.
        path: where the model goes; what is there is replaced once it is complete.
        overrides: what differs from the default settings.
        replace: whether to replace a model that was taught since it was trained.
        keyed: file of a secret, as for `train`.
        wait: how many seconds to wait for another writer of the model.

    Raises:
        As `train` does.
        TypeError: what is given are no pairs of a label and a document, or the
            overrides are none.
        ValueError: a label is empty.
    """
    path, wait = path_of(path), seconds_of("wait", wait)
    overrides = checked_overrides(overrides)
    check_replaceable(path, replace=replace)
    items: list[Item] = [*labelled(pairs)]
    overrides = _keyed(overrides, keyed)
    if not replace:
        check_stays_keyed(path, overrides)
    keep_memory()
    trained = train_counts(lambda: items, overrides=overrides)
    return _put(trained, path, replace=replace, wait=wait)


def _put(
    trained: Trained, path: str, *, replace: bool, wait: float, jobs: int = 1
) -> Trained:
    """Put a model in a file's place, with the policy of the one that was there."""

    def pack(policy: Policy | None) -> list[Buffer]:
        nonlocal trained
        trained = with_policy_of_old(trained, policy)
        return trained.contents.pack(jobs=jobs)

    replace_model(path, pack, replace=replace, wait=wait)
    return trained


def _keyed(overrides: SettingsOverrides, path: AnyPath | None) -> SettingsOverrides:
    """Return overrides with the fingerprint of the secret in a file, if one is."""
    if path is None:
        return overrides
    return overrides._replace(secret=make_secret(path_of(path)))
