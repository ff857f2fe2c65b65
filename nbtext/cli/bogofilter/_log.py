"""
What `nbtext bogofilter -l` writes to the system's log.

It is written under the name of bogofilter, which is what is looked for there, and in
its form (bogofilter(1), "Log messages"), but without a number of words.
"""

from collections.abc import Mapping, Sequence

from nbtext.cli.bogofilter._bogosity import Bogosity, log_value


def log_verdicts(
    found: Sequence[Bogosity], learnt: Mapping[int, str], field: str
) -> None:
    """
    Enter verdicts, and what was learnt from them.

    Args:
        found: the verdicts.
        learnt: the place of a verdict to what was registered, if anything was.
        field: the name of the field.
    """
    for place, one in enumerate(found):
        entry = f"{field}: {log_value(one)}"
        log(f"{entry}, {registered(learnt[place], 1)}" if place in learnt else entry)


def registered(action: str, n_messages: int) -> str:
    """Say what was registered."""
    return f"register-{action}, {n_messages} messages"


def log(entry: str) -> None:
    """Enter a line; where there is no log, nothing happens."""
    import syslog

    syslog.openlog("bogofilter", syslog.LOG_PID, syslog.LOG_MAIL)
    syslog.syslog(syslog.LOG_INFO, entry)
