"""`nbtext pass`: whatever happens, the message comes out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_a_message_is_passed_with_one_field_more(
    run: "Run", model: Path, message: bytes
) -> None:
    status, out, err = run("pass", "-m", model, stdin=message)

    head, _, body = message.decode().partition("\n\n")
    assert (status, err) == (0, "")
    start, _, rest = out.partition("\nX-NBText: spam, probability=0.")
    assert (start, rest[4:]) == (head, f"\n\n{body}")


def test_the_verdict_is_that_of_classify(
    run: "Run", model: Path, message: bytes
) -> None:
    label, probability = run("classify", "-m", model, stdin=message).out.split()

    passed = run("pass", "-m", model, stdin=message).out

    assert f"\nX-NBText: {label}, probability={probability}\n" in passed
    assert run("classify", "-m", model, stdin=passed.encode()).out.split() == [
        label,
        probability,
    ]


def test_the_header_and_the_subject_are_the_users_choice(
    run: "Run", model: Path, message: bytes
) -> None:
    status, out, err = run(
        "pass", "-m", model, "--header", "X-Sorted", "--subject-tag", "spam=[junk]",
        "--subject-tag", "ham=[ok]", stdin=message,
    )  # fmt: skip

    assert (status, err) == (0, "")
    assert "\nX-Sorted: spam, probability=0." in out
    assert "\nSubject: [junk] " in out
    assert "X-NBText" not in out


def test_unsure_is_said_and_not_tagged(run: "Run", model: Path, message: bytes) -> None:
    out = run(
        "pass", "-m", model, "--unsure", "1", "--subject-tag", "spam=[junk]",
        stdin=message,
    ).out  # fmt: skip

    assert "\nX-NBText: unsure, probability=0." in out
    assert "[junk]" not in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-m", "none.nbt"], "none.nbt: no model there"),
        (["-m", "bad.nbt"], "bad.nbt: not an nbtext model"),
        (["-m", "mail.nbt", "--header", "a b"], "the field name 'a b'"),
        (["-m", "mail.nbt", "--bogus"], "No such option"),
        (["-m", "mail.nbt", "--subject-tag", "spam"], "is not CLASS=TEXT"),
        (["-m", "mail.nbt", "--unsure", "2"], "is not a probability"),
    ],
    ids=["no model", "no nbtext model", "field", "option", "tag", "threshold"],
)
@pytest.mark.usefixtures("model")
def test_whatever_fails_the_message_is_as_it_came(
    process: "Run", message: bytes, arguments: list[str], complaint: str
) -> None:
    Path("bad.nbt").write_bytes(b"junk" * 99)

    status, out, err = process("pass", *arguments, stdin=message)

    assert (status, out) == (75, message.decode())
    assert complaint in err


def test_a_model_of_one_class_fails_softly(run: "Run", message: bytes) -> None:
    created = run("learn", "-q", "-m", "one.nbt", "--create", "spam", stdin=message)
    assert created.status == 0

    status, out, err = run("pass", "-m", "one.nbt", stdin=message)

    assert (status, out) == (75, message.decode())
    assert "only the class 'spam'" in err


def test_bytes_of_no_charset_come_out_as_they_are(model: Path, run: "Run") -> None:
    data = bytes(range(256)) * 40

    status, out, err = run("pass", "-m", model, stdin=b"Subject: x\n\n" + data)

    assert (status, err) == (0, "")
    assert out.startswith("Subject: x\nX-NBText: ")


@pytest.mark.usefixtures("model")
def test_a_large_message_is_passed_whole(
    process: "Run", message: bytes, tmp_path: Path
) -> None:
    whole = message + b"0123456789abcde\n" * (1 << 16)
    (tmp_path / "in").write_bytes(whole)

    status, _, err = process(
        "pass", "-m", "mail.nbt", "--max-bytes", "2k", wrap='"$@" < in > out'
    )

    passed = (tmp_path / "out").read_bytes()
    assert (status, err) == (0, "")
    assert len(passed) == len(whole) + len(b"X-NBText: spam, probability=0.9999\n")
    assert passed.endswith(whole[len(message) - 20 :])


def test_a_terminal_is_no_message(run: "Run", model: Path) -> None:
    assert run("pass", "--help").status == 0
    assert "nbtext pass < email.txt" in run("pass", "--help").out
    assert model.exists()


@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full"])
@pytest.mark.usefixtures("model")
def test_a_wrong_option_costs_no_message_where_nobody_can_be_told(
    process: "Run", message: bytes, stream: str
) -> None:
    status, out, _ = process("pass", "--no-such", stdin=message, wrap=f'"$@" {stream}')

    assert (status, out) == (75, message.decode())


@pytest.mark.parametrize(
    "arguments",
    [
        ("pass", "-m", "mail.nbt"),
        ("pass", "-m", "mail.nbt", "--unsure", "0.9"),
        ("pass", "-m", "none.nbt"),
        ("pass", "--no-such"),
    ],
)
@pytest.mark.parametrize("stream", [">/dev/full", ">&-"])
@pytest.mark.usefixtures("model")
def test_75_says_that_the_message_was_printed_and_74_that_it_was_not(
    process: "Run", message: bytes, arguments: tuple[str, ...], stream: str
) -> None:
    status, out, err = process(*arguments, stdin=message, wrap=f'"$@" {stream}')

    assert (status, out) == (74, "")
    assert "Error: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("options", [(), ("--unsure", "0.9")])
def test_without_standard_input_it_has_failed(
    process: "Run", model: Path, options: tuple[str, ...]
) -> None:
    status, out, err = process("pass", "-m", model, *options, wrap='"$@" <&-')

    assert (status, out) == (75, "")
    assert err
    assert "Traceback" not in err


@pytest.mark.usefixtures("model")
def test_the_field_tells_reasons_when_asked(run: "Run") -> None:
    message = b"Subject: money \xe2\x80\xae\n\nfree money, a prize\n"

    status, out, err = run("pass", "-m", "mail.nbt", "--why", 2, stdin=message)

    assert (status, err) == (0, "")
    head, _, body = out.partition("\n\n")
    lines = head.split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith("X-NBText: "))
    assert lines[start].startswith("X-NBText: spam, probability=0.")
    assert lines[start].endswith(",")
    explained = json.loads(
        run("why", "-m", "mail.nbt", "--json", "--top", 2, stdin=message).out
    )
    for line, term in zip(lines[start + 1 :], explained["terms"], strict=True):
        assert line.startswith(f' {term["contribution"]:+.2f} {term["field"]} "')
    assert body == "free money, a prize\n"
    plain = run("pass", "-m", "mail.nbt", stdin=message).out
    assert plain == out.replace(",\n" + ",\n".join(
        line.removesuffix(",") for line in lines[start + 1 :]
    ), "")  # fmt: skip
