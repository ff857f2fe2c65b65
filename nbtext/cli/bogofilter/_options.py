"""
The options of bogofilter, as its users have them in their recipes.

They are bogofilter 1.2.5's (bogofilter(1), `bogofilter --help`), read as getopt_long(3)
reads them: `-pel`, `-o0.9`, `--spam-cutoff=0.9`, beginnings of long names. click is not
imported here. Nothing stops the reading: whoever passes a message on has to know that,
whatever else is wrong.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple


class Option(NamedTuple):
    """
    An option that means something here.

    Attributes:
        short: its letter, if it has one.
        long: its long name.
        metavar: what its value is called, empty if it has none.
        help: what it does.
    """

    short: str
    long: str
    metavar: str
    help: str


USED: Final = (
    Option("p", "passthrough", "", "Print the message with the field in its header."),
    Option("e", "ham-true", "", "Exit with 0 for any verdict."),
    Option("u", "update-as-scored", "", "Learn what was decided, unless unsure."),
    Option("M", "classify-mbox", "", "Read an mbox, and decide about each message."),
    Option("b", "classify-stdin", "", "Read the files named on standard input."),
    Option("B", "classify-files", "", "Read the files and folders named as arguments."),
    Option("s", "register-spam", "", "Learn as spam."),
    Option("n", "register-ham", "", "Learn as ham."),
    Option("S", "unregister-spam", "", "Forget if it was spam; -Sn moves it to ham."),
    Option(
        "N", "unregister-nonspam", "", "Forget if it was ham; -Ns moves it to spam."
    ),
    Option("t", "terse", "", "Print a letter and the spamicity."),
    Option(
        "T", "fixed-terse-format", "", "The same for scripts; -TT prints the number."
    ),
    Option("v", "verbosity", "", "Print the field, or what was learnt."),
    Option("l", "use-syslog", "", "Write to the system's log."),
    Option("I", "input-file", "FILE", "Read this instead of standard input."),
    Option("O", "output-file", "FILE", "With -p, write the message there."),
    Option("d", "bogofilter-dir", "DIR", "The model is DIR/nbtext.nbt."),
    Option("", "model", "FILE", "The model file."),
    Option("", "keyed", "FILE", "The secret of a keyed model."),
    Option("o", "cutoffs", "SPAM[,HAM]", "Spam from here on, ham up to there."),
    Option("", "spam-cutoff", "SPAM", "The first of these."),
    Option("", "ham-cutoff", "HAM", "The second."),
    Option("", "thresh-update", "P", "With -u, leave what is that near to 0 or 1."),
    Option("", "spam-header-name", "NAME", "The name of the field."),
    Option("", "spam-subject-tag", "TEXT", "With -p, put before a spam's subject."),
    Option("", "unsure-subject-tag", "TEXT", "Likewise, where unsure."),
    Option("V", "version", "", "Print the version."),
    Option("h", "help", "", "Print this."),
)

ACCEPTED: Final = (
    Option("C", "no-config-file", "", ""),
    Option("q", "quiet", "", ""),
    Option("k", "db-cachesize", "SIZE", ""),
)
"""What makes no difference, there being no such file, statistics or cache."""

IGNORED: Final = (
    Option("c", "config-file", "FILE", "its file is not read; give cut-offs with -o"),
    Option("L", "syslog-tag", "TAG", "the log says no tag"),
    *(
        Option(short, long, metavar, "it tunes bogofilter alone")
        for short, long, metavar in (
            ("H", "no-header-tags", ""),
            ("U", "report-unsure", ""),
            ("D", "debug-to-stdout", ""),
            ("m", "", "NUMBERS"),
            ("E", "", "NUMBERS"),
            ("y", "timestamp-date", "DATE"),
            ("x", "debug-flags", "LIST"),
        )
    ),
    *(
        Option("", long, "VALUE", "it tunes bogofilter alone")
        for long in (
            "block-on-subnets", "charset-default", "db-log-autoremove",
            "db-transaction", "log-header-format", "log-update-format",
            "max-multi-token-len", "max-token-len", "min-dev", "min-token-len",
            "multi-token-count", "ns-esf", "replace-nonascii-characters", "robs",
            "robx", "sp-esf", "timestamp", "token-count", "token-count-max",
            "token-count-min", "unicode", "user-config-file",
        )
    ),
)  # fmt: skip
"""What nobody misses, with the note that says so."""

REFUSED: Final = (
    Option("R", "dataframe", "", "see the evidence with `nbtext why`"),
    Option("Q", "query", "", "see what the model knows with `nbtext info`"),
    Option("", "wordlist", "VALUE", "name the model with --model"),
    *(
        Option("", long, "VALUE", "the forms are fixed; see -t, -T and -v")
        for long in (
            "header-format", "spamicity-formats", "spamicity-tags", "stats-in-header",
            "terse-format",
        )
    ),
)  # fmt: skip
"""What would mislead if it were ignored, and what to do in its place."""

ALL: Final = (*USED, *ACCEPTED, *IGNORED, *REFUSED)
SHORT: Final = {option.short: option for option in ALL if option.short}
LONG: Final = {option.long: option for option in ALL if option.long}


class Parsed(NamedTuple):
    """
    A command line taken apart.

    Attributes:
        given: the long names of options that mean something here to their values, one
            each time, empty for those that take none.
        operands: what is no option, in order.
        notes: what its user should know.
        complaints: what is wrong with it.
    """

    given: dict[str, list[str]]
    operands: list[str]
    notes: list[str]
    complaints: list[str]

    def count(self, name: str) -> int:
        """Return how often an option is given."""
        return len(self.given.get(name, ()))

    def last(self, name: str) -> str | None:
        """Return the value given last, None if there is none."""
        values = self.given.get(name)
        return values[-1] if values else None


def parse(arguments: Sequence[str]) -> Parsed:
    """Take a command line apart; what cannot be read is a complaint."""
    parsed = Parsed({}, [], [], [])
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            parsed.operands.extend(rest)
        elif argument.startswith("--"):
            _long(argument[2:], rest, parsed)
        elif argument.startswith("-") and argument != "-":
            _cluster(argument[1:], rest, parsed)
        else:
            parsed.operands.append(argument)
    return parsed


def _long(written: str, rest: Iterator[str], parsed: Parsed) -> None:
    name, equals, value = written.partition("=")
    found = [LONG[name]] if name in LONG else _beginning_with(name)
    if len(found) != 1:
        what = "could be several" if found else "is not known"
        parsed.complaints.append(f"the option --{name} {what}; see --help")
    elif found[0].metavar:
        _enter(found[0], value if equals else next(rest, None), f"--{name}", parsed)
    elif equals:
        parsed.complaints.append(f"the option --{name} takes no value")
    else:
        _enter(found[0], "", f"--{name}", parsed)


def _beginning_with(name: str) -> list[Option]:
    return [option for long, option in LONG.items() if name and long.startswith(name)]


def _cluster(letters: str, rest: Iterator[str], parsed: Parsed) -> None:
    """Enter options that are written together; the value of one ends them."""
    for place, letter in enumerate(letters):
        option = SHORT.get(letter)
        if option is None:
            parsed.complaints.append(f"the option -{letter} is not known; see --help")
        elif option.metavar:
            value = letters[place + 1 :] or next(rest, None)
            _enter(option, value, f"-{letter}", parsed)
            return
        else:
            _enter(option, "", f"-{letter}", parsed)


def _enter(option: Option, value: str | None, written: str, parsed: Parsed) -> None:
    if value is None:
        parsed.complaints.append(f"the option {written} needs a value")
        return
    if option.short == "m" and value.strip("0123456789.,eE+-"):
        parsed.complaints.append(
            f"-m {value}: numbers were expected, as bogofilter has them; name a model "
            "with --model"
        )
    elif option in IGNORED:
        parsed.notes.append(f"{written} is ignored: {option.help}")
        if option.short == "L":  # which implies the log
            parsed.given.setdefault("use-syslog", []).append("")
    elif option in REFUSED:
        parsed.complaints.append(f"{written} cannot be had here: {option.help}")
    elif option in USED:
        parsed.given.setdefault(option.long, []).append(value)
