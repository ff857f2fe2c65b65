"""Options are read as bogofilter reads them, and none that is known is misread."""

import re
from pathlib import Path

import pytest

from nbtext.cli.bogofilter._bogosity import Cutoffs
from nbtext.cli.bogofilter._options import ALL, USED, parse
from nbtext.cli.bogofilter._request import request_of
from nbtext.errors import SettingsError


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NBTEXT_MODEL", "BOGOFILTER_DIR"):
        monkeypatch.delenv(name, raising=False)


def given(*arguments: str) -> dict[str, list[str]]:
    parsed = parse(arguments)
    assert parsed.complaints == []
    return parsed.given


@pytest.mark.parametrize(
    "arguments",
    [
        ("-pel",),
        ("-p", "-e", "-l"),
        ("-lep",),
        ("--passthrough", "--ham-true", "--use-syslog"),
        ("--pass", "--ham-t", "--use-s"),
    ],
)
def test_options_may_be_written_in_many_ways(arguments: tuple[str, ...]) -> None:
    assert given(*arguments) == {
        "passthrough": [""],
        "ham-true": [""],
        "use-syslog": [""],
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("-vo0.9,0.2",), ("-vo", "0.9,0.2"), ("--cutoffs=0.9,0.2", "-v"),
        ("-o", "0.9,0.2", "--", ), ("-o0.9", "-o,0.2"),
        ("--spam-cutoff", "0.9", "--ham-cutoff=0.2"),
    ],
)  # fmt: skip
def test_a_value_may_be_written_in_many_ways(arguments: tuple[str, ...]) -> None:
    assert request_of(parse(arguments)).cutoffs == Cutoffs(0.9, 0.2)


def test_objects_may_stand_among_options() -> None:
    request = request_of(parse(["a", "-vB", "b", "-e", "--", "-v"]))

    assert request.objects == ("a", "b", "-v")
    assert request.always_done


@pytest.mark.parametrize(
    ("options", "action"),
    [
        ("-s", "s"), ("-n", "n"), ("-S", "S"), ("-N", "N"), ("-Sn", "Sn"),
        ("-nS", "Sn"), ("-Ns", "Ns"), ("-sN", "Ns"), ("-bNsv", "Ns"), ("-p", ""),
        ("-sss", "s"),
    ],
)  # fmt: skip
def test_what_is_registered(options: str, action: str) -> None:
    assert request_of(parse([options])).action == action


@pytest.mark.parametrize(
    "arguments",
    [
        ("-sn",), ("-sS",), ("-nN",), ("-SN",), ("-snSN",), ("-us",), ("-uS",),
        ("-TTT",), ("-pB", "f"), ("-pb",), ("f",), ("-Z",), ("--bogus",), ("--",  "f"),
        ("-d",), ("-o",), ("-I",), ("--model",), ("-o", "abc"), ("-o", "2"),
        ("-o", "nan"), ("-o", "-1"), ("-o", "1,2,3"), ("--spam-cutoff", "x"),
        ("--thresh-update", "7"), ("--spam",), ("--verbosity=1",), ("-d", ""),
        ("--model=",), ("--spam-header-name", "a b"), ("--spam-subject-tag", "a\nb"),
        ("-R",), ("-Q",), ("--header-format=%h",), ("--stats-in-header=no",),
        ("--wordlist", "r,x,y,1"), ("-m", "mail.nbt"), ("-mmail.nbt",), ("--=",),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError):
        request_of(parse(arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m.1,.2,.3",), ("-m", ".1"), ("-E", "1,1"), ("-c", "x.cf"), ("-H",), ("-U",),
        ("-y", "0"), ("-x", "a"), ("-D",), ("--unicode=yes",), ("--min-dev", "0.3"),
        ("--user-config-file=x",), ("-L", "tag"),
    ],
)  # fmt: skip
def test_what_only_tunes_bogofilter_is_ignored_with_a_note(
    arguments: tuple[str, ...],
) -> None:
    parsed = parse(["-p", *arguments, "-e"])

    assert parsed.complaints == parsed.operands == []
    assert len(parsed.notes) == 1
    assert parsed.given.keys() - {"use-syslog"} == {"passthrough", "ham-true"}


def test_who_asks_for_the_evidence_is_told_of_the_command_that_has_it() -> None:
    (complaint,) = parse(["-R"]).complaints

    assert "see the evidence with `nbtext why`" in complaint


def test_the_page_tells_of_every_option() -> None:
    page = Path(__file__).parents[4].joinpath("docs/recipes/bogofilter.md").read_text()
    names = [f"-{one.short}" if one.short else f"--{one.long}" for one in USED]

    assert [name for name in names if not re.search(rf"`{name}\b", page)] == []


@pytest.mark.parametrize("arguments", [("-C",), ("-q",), ("-k", "4"), ("-k4",)])
def test_what_makes_no_difference_is_accepted(arguments: tuple[str, ...]) -> None:
    parsed = parse([*arguments, "-p"])

    assert parsed == ({"passthrough": [""]}, [], [], [])


def test_a_tag_for_the_log_implies_the_log() -> None:
    assert request_of(parse(["-L", "tag"])).logs


@pytest.mark.parametrize(
    "arguments", [("-Zp",), ("--bogus", "-p"), ("-p", "-d"), ("-o", "x", "--pass")]
)
def test_whatever_is_wrong_a_message_that_is_to_be_passed_on_is(
    arguments: tuple[str, ...],
) -> None:
    assert parse(arguments).count("passthrough")


@pytest.mark.parametrize(
    ("arguments", "env", "expected"),
    [
        (["-d", "dir"], {"BOGOFILTER_DIR": "x", "NBTEXT_MODEL": "y"}, "dir/nbtext.nbt"),
        (["-ddir/"], {}, "dir/nbtext.nbt"),
        (["-d", "dir", "--model", "m.nbt"], {}, "m.nbt"),
        ([], {"BOGOFILTER_DIR": "dir"}, "dir/nbtext.nbt"),
        ([], {"BOGOFILTER_DIR": "no", "NBTEXT_MODEL": "m.nbt"}, "m.nbt"),
        ([], {"XDG_DATA_HOME": "/data"}, "/data/nbtext/model.nbt"),
    ],
)  # fmt: skip
def test_where_the_model_is(
    arguments: list[str],
    env: dict[str, str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    assert request_of(parse(arguments)).model == expected


def test_no_option_is_there_twice() -> None:
    letters = [option.short for option in ALL if option.short]
    names = [option.long for option in ALL if option.long]

    assert len(set(letters)) == len(letters)
    assert len(set(names)) == len(names)
