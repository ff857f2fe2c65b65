"""What other programs call commands and options, and what they are called here."""

from typing import Final

import click

COMMANDS: Final = {
    "fit": "train",
    "build": "train",
    "supervised": "train SOURCE...",
    "retrain": "train --replace",
    "clear": "train --replace",
    "reset": "train --replace",
    "predict": "classify",
    "predict-prob": "classify",
    "check-spam": "classify",
    "infer": "classify",
    "label": "classify",
    "score": "classify",
    "test": "eval",
    "test-label": "eval",
    "report": "eval",
    "classification-report": "eval",
    "confusion-matrix": "eval",
    "evaluate": "eval",
    "validate": "eval",
    "benchmark": "eval",
    "cv": "eval --folds 10",
    "cross-validate": "eval --folds 10",
    "crossval": "eval --folds 10",
    "cross-val-score": "eval --folds 10",
    "cross-val-predict": "eval --folds 10",
    "explain": "why",
    "features": "top",
    "words": "top",
    "tokenize": "tokens",
    "update": "learn",
    "add": "learn",
    "partial-fit": "learn",
    "sa-learn": "learn CLASS SOURCE...",
    "spam": "learn spam",
    "ham": "learn ham",
    "unlearn": "forget",
    "remove": "forget",
    "delete": "forget",
    "revert": "undo",
    "stats": "info",
    "status": "info",
    "show": "info",
    "list": "info",
    "export": "dump",
    "backup": "dump",
    "import": "load",
    "restore": "load",
    "quantize": "prune",
    "expire": "prune",
    "sync": "compact",
    "threshold": "policy",
    "spamassassin": "pass",
    "spamc": "pass",
    "daemon": "serve",
    "spamd": "serve",
    "bogoutil": "dump",
    "bogolexer": "tokens",
    "bogotune": "tune",
    "man": "help",
    "usage": "help",
    "clean": "doctor",
    "grid-search": "tune",
    "autotune": "tune",
    "version": "--version",
}
"""Of scikit-learn, fastText, bogofilter, SpamBayes and others."""

OPTIONS: Final = {
    "-o": "--model",
    "--out": "--model",
    "--output": "--model",
    "--model-path": "--model",
    "--save": "--model",
    "--label": "--label-column",
    "--labels": "--label-column",
    "--label-col": "--label-column",
    "--target": "--label-column",
    "--class": "--label-column",
    "--text": "--text-column",
    "--texts": "--text-column",
    "--text-col": "--text-column",
    "--column": "--text-column",
    "--columns": "--text-column",
    "--id": "--id-column",
    "--sep": "--delimiter",
    "--separator": "--delimiter",
    "--alpha": "--smoothing",
    "--laplace": "--smoothing",
    "--ngram": "--ngrams",
    "--word-ngrams": "--ngrams",
    "--wordngrams": "--ngrams",
    "--ngram-range": "--ngrams",
    "--minn": "--byte-ngrams",
    "--algorithm": "--score",
    "--classifier": "--score",
    "--method": "--score",
    "--cv": "--folds",
    "-k": "--folds",
    "--k": "--folds",
    "--fold": "--folds",
    "--kfold": "--folds",
    "--k-fold": "--folds",
    "--cross-validate": "--folds",
    "--threshold": "--unsure",
    "--cutoff": "--unsure",
    "--workers": "--jobs",
    "--threads": "--jobs",
    "--thread": "--jobs",
    "--n-jobs": "--jobs",
    "--force": "--replace",
    "--overwrite": "--replace",
    "--type": "--format",
    "--output-format": "--json",
    "--metric": "--measure",
    "--metrics": "--measure",
    "--scoring": "--measure",
    "-n": "--top",
}
"""Likewise; one is meant only where a command has the option."""

LINES: Final = {
    "": {
        **{f"-{letter}": f"bogofilter -{letter}" for letter in "bBcdDeMnNpsSTu"},
        "-v": "--version",
        "--spam": "learn spam",
        "--ham": "learn ham",
        "--forget": "forget",
        "--dump": "info",
        "--backup": "dump",
        "--restore": "load",
        "--clear": "train --replace",
    },
    "train": {
        **dict.fromkeys(
            ("--spam", "--ham", "-s", "-n"), "train spam=SOURCE ham=SOURCE"
        ),
        "--test-size": "eval --folds 10 SOURCE...",
    },
    "classify": {
        "--proba": "classify --json",
        "--text": "classify < FILE",
    },
    "learn": {
        "--spam": "learn spam",
        "-s": "learn spam",
        "--ham": "learn ham",
        "-n": "learn ham",
        "--forget": "forget",
    },
    "dump": {"--magic": "info"},
}
"""By command ("" is none), options of other programs that are commands here."""

ARGUMENTS: Final = {"-i", "--input", "--file", "--data", "--train", "--test", "--dir"}
"""Options of other programs whose values are sources here."""


def option_meant(error: click.NoSuchOption) -> click.UsageError:
    """Return the error that says which option is meant by another program's name."""
    if error.ctx is None:
        return error
    command = error.ctx.command
    names = {name for param in command.params for name in param.opts}
    known = OPTIONS.get(error.option_name)
    line = LINES.get(_command(error.ctx), {}).get(error.option_name)
    if line is not None:
        message = f"{error.message} Did you mean 'nbtext {line}'?"
        return click.UsageError(message, error.ctx)
    if known in names:
        message = f"{error.message} Did you mean '{known}'?"
        return click.UsageError(message, error.ctx)
    if error.option_name in ARGUMENTS and "sources" in names:
        usage = f"{error.ctx.command_path} SOURCE..."
        message = f"{error.message} What is to be read stands without one: {usage}"
        return click.UsageError(message, error.ctx)
    return error


def _command(context: click.Context) -> str:
    """Return the name of the command that is read, or "" before there is one."""
    return (context.info_name or "") if context.parent else ""
