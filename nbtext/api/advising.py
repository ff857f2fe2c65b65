"""Before training: what is wrong with labelled sources, and which settings suit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nbtext.arguments import AnyPath
    from nbtext.counts import ReadReport
    from nbtext.counts.read_report import Progress
    from nbtext.doctor import Findings
    from nbtext.learning import SettingsOverrides
    from nbtext.policy import FalsePositives
    from nbtext.sources import Options
    from nbtext.tuning import Tuned

from nbtext.api._shared import AUTO, labelled_sources
from nbtext.arguments import count_of, sources_of
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.preparing import reading_columns
from nbtext.policy import Policy, checked_policy
from nbtext.scoring.batch import keep_memory


def examine(
    sources: Sequence[AnyPath],
    *,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    most: int = 20,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
) -> Findings:
    """
    Look for what is wrong with labelled sources: wrong labels, duplicates, leaks.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        options: what the sources are, if not what they look like.
        overrides: what differs from the default settings.
        most: how many findings of a kind are told.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.

    Raises:
        TrainingError: too few classes or tokens.
        SettingsError: as `train`.
        TypeError: the sources are one string, or none, or options or overrides are
            none.
        ValueError: `most` is below 0.
    """
    from nbtext.doctor import examine as examine_documents

    sources, most = sources_of(sources), count_of("most", most, least=0)
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    return examine_documents(
        labelled_sources(sources, options, progress, on_read),
        overrides=overrides,
        most=most,
    )


def tune(
    sources: Sequence[AnyPath],
    *,
    measure: str = "log-loss",
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    max_false_positives: FalsePositives | None = None,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    on_trial: Callable[[int, int], None] | None = None,
) -> Tuned:
    """
    Try event models and their settings on labelled sources; choose the simplest best.

    `Tuned.overrides` is for `train`, `Tuned.threshold.policy` for `set_policy`.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        measure: what is made least: "log-loss", "error", "balanced-error" (the mean of
            the classes' error rates), "brier", or, for two classes, "1-auc".
        options: what the sources are, if not what they look like.
        overrides: what is fixed, of how documents are read.
        max_false_positives: the class and the share for which a threshold is looked
            for, of two classes; 0.001 for `spam`, or else the rarer one, if None.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.
        on_trial: told how many trials are done, and about how many there are.

    Raises:
        TrainingError: too few classes, tokens or documents.
        SettingsError: there is no such measure, the share of false positives is none;
            or as `train`.
        TypeError: the sources are one string, or none, options or overrides are none,
            or `max_false_positives` is no class and share.
    """
    from nbtext.tuning import tune as tune_documents

    sources = sources_of(sources)
    limit = checked_policy(Policy(max_false_positives=max_false_positives))
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    return tune_documents(
        labelled_sources(sources, options, progress, on_read),
        measure=measure,
        overrides=overrides,
        max_false_positives=limit.max_false_positives,
        on_trial=on_trial,
    )
