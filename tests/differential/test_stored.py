"""One mail is decided about by the compiled engine as by all that it stands for."""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO, TextIOWrapper
from math import inf, nan
from pathlib import Path
from struct import pack
from typing import Any

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz import mails, stored
from fuzz.models import learn
from nbtext import SettingsOverrides, cli, load, set_policy, train_on
from nbtext.cli import _plain, _quick, main
from nbtext.cli.bogofilter import _options
from nbtext.cli.bogofilter._options import parse
from nbtext.document import Document
from nbtext.errors import DamagedError
from nbtext.filtering.header_field import AddedField, with_added
from nbtext.filtering.plain_header import with_field
from nbtext.plain_mail import Begun, read_mail
from nbtext.policy import Cost, FalsePositives, Policy
from nbtext.scoring import Classifier, load_model, scorer
from nbtext.scoring.stored import (
    AFTER,
    BEFORE,
    StoredClassifier,
    open_stored,
    plain_rule_of,
)
from nbtext.store.compacting import compact
from nbtext.tokens.engine import engine
from tests.build import FROM_LINE, HAM, SPAM, mail
from tests.locking import dotlocked, fcntl_locked

ROOT = Path(__file__).parents[2]
CORPUS = Path(ROOT.parent, "shared", "corpora", "spamassassin")
MAIL = mail(99, SPAM)
PAIRS = [
    (label, mail(n, words))
    for n in range(30)
    for label, words in (("ham", HAM), ("spam", SPAM))
]

pytestmark = pytest.mark.skipif(
    not engine().is_compiled, reason="there is no extension"
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "mail.nbt"
    train_on(PAIRS, str(path))
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.nbt"
    path.write_bytes(trained.read_bytes())
    return path


def decisions(path: Path) -> int:
    """Compare both engines; return how many mails the compiled one decides about."""
    return stored.check(path).decisions


def test_a_model_as_it_is_trained(model: Path) -> None:
    assert decisions(model) == len(stored.MESSAGES)


def test_what_is_learnt_and_forgotten_since(model: Path) -> None:
    learn(model, "spam", [MAIL, *stored.MESSAGES[:2]])
    learn(model, "ham", [MAIL])
    learn(model, None, [MAIL, PAIRS[0][1]])
    assert decisions(model) == len(stored.MESSAGES)

    compact(str(model))

    assert decisions(model) == len(stored.MESSAGES)


def test_no_bit_of_a_file_can_be_other_without_being_noticed(model: Path) -> None:
    whole = model.read_bytes()
    messages = [MAIL, *stored.MESSAGES]
    judge = open_stored(str(model))
    assert judge is not None
    expected = [judge.classify(one) for one in messages]
    printed = [one and one.printed for one in expected]

    n_refused = 0
    for place in range(0, len(whole), 23):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        model.write_bytes(changed)
        found = open_stored(str(model))
        if found is None:
            n_refused += 1
            continue
        for message, right in zip(messages, printed, strict=True):
            decided = found.classify(message)
            assert decided is None or decided.printed == right
    assert n_refused > 30  # all of its header


def test_a_file_that_is_cut_off_is_refused(model: Path) -> None:
    whole = model.read_bytes()

    for length in [*range(0, len(whole), 307), *range(len(whole) - 80, len(whole))]:
        model.write_bytes(whole[:length])
        assert open_stored(str(model)) is None


OTHERS = {
    "score": SettingsOverrides(score="complement"),
    "textbook": SettingsOverrides(score="sum"),
    "counting": SettingsOverrides(counting="once"),
    "smoothing": SettingsOverrides(score="weighted"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_models_are_left_to_python(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "other.nbt"
    train_on(PAIRS, str(path), overrides=OTHERS[kind])

    assert open_stored(str(path)) is None


def test_so_are_texts_and_three_classes(tmp_path: Path) -> None:
    train_on([("spam", "money"), ("ham", "lunch")], str(tmp_path / "text.nbt"))
    train_on([*PAIRS, ("work", MAIL)], str(tmp_path / "three.nbt"))

    assert open_stored(str(tmp_path / "text.nbt")) is None
    assert open_stored(str(tmp_path / "three.nbt")) is None


@pytest.mark.parametrize(
    "policy",
    [
        Policy(threshold=0.9, prior=(("spam", 0.2),)),
        Policy(costs=(Cost("ham", "spam", 10.0),), prior=(("spam", 0.2),)),
        Policy(max_false_positives=FalsePositives("spam", 0.01)),
    ],
)
def test_so_are_policies_of_more_than_these(model: Path, policy: Policy) -> None:
    set_policy(str(model), policy)

    assert open_stored(str(model)) is None


@pytest.mark.parametrize(
    "policy",
    [
        *(Policy(threshold=one) for one in (0.0, 0.3, 0.6, 0.9, 0.999999, 1.0)),
        Policy(costs=(Cost("ham", "spam", 10.0),)),
        Policy(costs=(Cost("spam", "ham", 1e6), Cost("ham", "spam", 1e-6))),
        Policy(costs=(Cost("ham", "ham", 3.0),)),
        Policy(costs=(Cost("ham", None, 0.01), Cost("spam", None, 0.2))),
        Policy(costs=(Cost("spam", None, 0.0), Cost("spam", "ham", 0.5))),
    ],
)
def test_policies_are_kept_to_as_python_does(model: Path, policy: Policy) -> None:
    learn(model, "spam", [MAIL])
    set_policy(str(model), policy)
    learn(model, "ham", [b"Subject: x\n\nlunch then\n"])

    stored_model = open_stored(str(model))
    classifier = Classifier(load_model(str(model)))
    assert stored_model is not None
    for text in stored.MESSAGES:
        found = stored_model.classify(text)
        (expected,) = classifier.classify([Document("", (text,), is_mail=True)])
        if found is not None:
            assert (found.label, found.known) == (expected.label, expected.known)
            assert found.probability == pytest.approx(expected.probability, rel=1e-12)


def test_a_policy_that_was_cleared_is_none(model: Path) -> None:
    set_policy(str(model), Policy(prior=(("spam", 0.2),)))
    set_policy(str(model), Policy())

    assert open_stored(str(model)) is not None


@pytest.mark.parametrize("threshold", [2.0, -1.0, nan])
def test_a_forged_threshold_is_left_to_python(threshold: float) -> None:
    packed = msgpack.packb(Policy(threshold=0.5).as_dict())
    forged = packed.replace(pack(">d", 0.5), pack(">d", threshold))

    assert plain_rule_of(packed, ["ham", "spam"]) == 0.5
    assert plain_rule_of(forged, ["ham", "spam"]) is None
    assert plain_rule_of(packed[:-1], ["ham", "spam"]) is None


def test_costs_of_other_classes_are_left_to_python() -> None:
    packed = msgpack.packb(Policy(costs=(Cost("ham", None, 0.1),)).as_dict())

    assert plain_rule_of(packed, ["ham", "spam"]) is not None
    assert plain_rule_of(packed, ["spam", "work"]) is None
    assert plain_rule_of(packed, ["ham", "unsure"]) is None


@given(st.binary(max_size=64) | st.binary().map(lambda one: BEFORE + one + AFTER))
def test_no_bytes_are_taken_for_a_policy(packed: bytes) -> None:
    rule = plain_rule_of(packed, ["ham", "spam"])

    assert rule is None or (isinstance(rule, float) and 0 <= rule <= 1)


def test_so_is_what_is_no_model(tmp_path: Path) -> None:
    assert open_stored(str(tmp_path)) is None
    assert open_stored(str(tmp_path / "none")) is None
    assert open_stored("a\0b") is None
    (tmp_path / "empty").touch()
    assert open_stored(str(tmp_path / "empty")) is None


def test_a_classifier_uses_it_and_decides_as_without(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(model, "spam", [MAIL])
    documents = [Document(f"{n}", (one,)) for n, one in enumerate(stored.MESSAGES)]
    prior = Policy(threshold=0.6, prior=(("spam", 0.2),))
    for policy in (None, Policy(threshold=0.9), prior):
        found = Classifier(load_model(str(model)), policy=policy).classify(documents)
        with monkeypatch.context() as patch:
            patch.setattr(scorer, "_stored_of", lambda _: None)
            plain = Classifier(load_model(str(model)), policy=policy)
            expected = plain.classify(documents)
        for one, other in zip(found, expected, strict=True):
            assert (one.label, one.known) == (other.label, other.known)
            assert one.tokens == other.tokens
            assert one.log_posterior == pytest.approx(other.log_posterior, rel=1e-12)
            assert one.printed == pytest.approx(other.printed, rel=1e-12)


def test_a_classifier_with_a_policy_of_its_model_uses_it_too(model: Path) -> None:
    set_policy(str(model), Policy(threshold=0.9))

    assert Classifier(load_model(str(model))).scorer.is_quick


def test_many_are_scored_as_each_is_without_it(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sums of a view are of other terms first, so to the last digits but some."""
    learn(model, "spam", [MAIL])
    path = str(model)
    documents = [Document(f"{n}", (one,)) for n, one in enumerate(stored.MESSAGES)]
    documents += [Document("empty", (b"",)), Document("odd", (b"Subject: \xff\n\n@",))]
    documents += [Document("long", (mail(5, SPAM) * 70,))]
    documents += [Document("much", (b"Subject: x\n\n" + b"money " * 70_000,))]
    with monkeypatch.context() as patch:
        patch.setattr(scorer, "_stored_of", lambda _: None)
        plain = Classifier(load_model(path))
    expected = {one.name: plain.classify([one])[0] for one in documents}
    for whole in (documents, documents[::-1], documents[:13]):
        many = Classifier(load_model(path))
        found = many.classify(whole)
        assert many.scorer._batch is None  # no arrays were made
        for one in found:
            alone = expected[one.name]
            assert (one.label, one.known, one.tokens) == (
                alone.label, alone.known, alone.tokens
            )  # fmt: skip
            assert one.printed == pytest.approx(alone.printed, rel=1e-12)
            assert one.log_posterior == pytest.approx(alone.log_posterior, rel=1e-12)


@pytest.mark.parametrize("is_corrected", [False, True])
def test_an_explanation_is_to_the_bit_what_it_is_without_it(
    model: Path, monkeypatch: pytest.MonkeyPatch, is_corrected: bool
) -> None:
    if is_corrected:
        learn(model, "spam", [MAIL])
        learn(model, "ham", [mail(7, HAM + SPAM)])
    documents = [Document(f"{n}", (one,)) for n, one in enumerate(stored.MESSAGES)]
    documents += [Document("empty", (b"",)), Document("odd", (b"Subject: \xff\n\n@",))]
    documents += [Document("much", (b"Subject: x\n\n" + b"money " * 70_000,))]
    quick = Classifier(load_model(str(model)))
    with monkeypatch.context() as patch:
        patch.setattr(scorer, "_stored_of", lambda _: None)
        plain = Classifier(load_model(str(model)))
    assert quick.scorer.log_odds(0, [1]) == {}
    assert plain.scorer.log_odds(0, [1]) is None
    n_reasons = 0
    for document in documents:
        for top in (None, 3):
            found = quick.explain(document, top=top)
            assert found == plain.explain(document, top=top)
            n_reasons += len(found.reasons)
    assert n_reasons > len(documents)


def test_an_explanation_says_what_is_damaged(model: Path) -> None:
    classifier = Classifier(load_model(str(model)))
    with model.open("r+b") as file:
        file.write(bytes(model.stat().st_size))

    with pytest.raises(DamagedError, match="not as they were written"):
        classifier.explain(MAIL)


class Recorded:
    """A stored model, and how often it was asked to put its counts into memory."""

    def __init__(self, model: Any, n_busy: int = 0) -> None:
        self.n_gathered = 0
        self._model = model
        self._n_busy = n_busy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def gather(self, before: Any) -> None:
        if self._n_busy:
            self._n_busy -= 1
            raise RuntimeError
        self.n_gathered += 1
        self._model.gather(before)


@pytest.mark.parametrize("n_busy", [0, 3])
def test_who_classifies_one_after_the_other_has_the_counts_in_memory(
    model: Path, monkeypatch: pytest.MonkeyPatch, n_busy: int
) -> None:
    due, patient = 25, load(model)
    monkeypatch.setattr(scorer, "A_DOCUMENT", model.stat().st_size / due)
    many = load(model)
    recorded = Recorded(many.scorer._stored, n_busy)
    monkeypatch.setattr(many.scorer, "_stored", recorded)
    monkeypatch.setattr(patient.scorer, "_until_gathered", inf)
    for number in range(1, due + 20):
        document = Document("-", (mail(number, SPAM + HAM),))
        (found,), (expected,) = (one.classify([document]) for one in (many, patient))
        assert found.printed == expected.printed
        assert found.log_posterior == expected.log_posterior
        assert recorded.n_gathered == (number >= due + n_busy)


def test_a_classifier_says_what_is_damaged(model: Path) -> None:
    classifier = Classifier(load_model(str(model)))
    whole = bytearray(model.read_bytes())
    start = whole.index(b"\xc6", len(whole) // 8)
    whole[start:-4000] = bytes(len(whole) - 4000 - start)
    with model.open("r+b") as file:
        file.write(whole)

    with pytest.raises(DamagedError, match="not as they were written"):
        classifier.classify([Document("-", (MAIL,))])


# --- the command ------------------------------------------------------------

PIECES = [
    b"From joe\n", b">From x\n", b"A: b\n", b"X-NBText: ham\n", b"x-nbtext\t: c\n",
    b"\n", b"\r\n", b"\r", b" d\n", b"\te\n", b"no field\n", b"A b: c\n", b":\n",
    b"\xe4: f\n", b"g",
]  # fmt: skip

Run = Callable[..., tuple[int, bytes, str]]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Run:
    """The command in this process, its input a file or a pipe."""

    def run(
        arguments: list[str], data: bytes, *, is_pipe: bool
    ) -> tuple[int, bytes, str]:
        if is_pipe:
            descriptor, into = os.pipe()
            assert len(data) <= 65536  # what a pipe holds
            os.write(into, data)
            os.close(into)
        else:
            path = tmp_path / "input"
            path.write_bytes(data)
            os.utime(path, (0, 0))  # nobody writes to it
            descriptor = os.open(path, os.O_RDONLY)
        written = BytesIO()
        out = TextIOWrapper(written, write_through=True)
        with (
            open(descriptor, encoding="utf-8") as file,  # noqa: PTH123  it is open
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdin", file)
            patch.setattr(sys, "stdout", out)
            with pytest.raises(SystemExit) as ended:
                main(arguments)
            assert isinstance(ended.value.code, int)
            return ended.value.code, written.getvalue(), capsys.readouterr().err

    return run


INPUTS = {
    "mail": MAIL,
    "mbox of one": FROM_LINE + MAIL,
    "mbox of one and a blank line": FROM_LINE + MAIL + b"\n",
    "mbox of two": FROM_LINE + MAIL + b"\n" + FROM_LINE + mail(5, HAM),
    "mbox with a quoted line": FROM_LINE + MAIL + b"\n>From here on\n",
    "no mbox": b"From here on\nSubject: x\n\nmoney\n",
    "envelope and a blank line": FROM_LINE + b"\nmoney winner\n",
    "two envelopes": FROM_LINE + FROM_LINE + MAIL,
    "half an envelope": b"From joe",
    "nothing": b"",
    "a text": b"money winner lottery\n",
    "blanks before": b"\n\n" + MAIL,
    "table": b"spam\tmoney winner\nham\tlunch\n",
    "JSON lines": b'{"text": "money"}\n{"text": "lunch"}\n',
    "like bzip2": b"BZh91AY&SY" + bytes(50),
    "with a mark": b"\xef\xbb\xbf" + MAIL,
    "UTF-16": "Subject: money".encode("utf-16"),
    "NUL": MAIL + bytes(10),
    **{f"seed {n}": data for n, data in enumerate(mails.seeds())},
}


@pytest.mark.parametrize("is_pipe", [True, False], ids=["pipe", "file"])
@pytest.mark.parametrize(
    "options",
    [[], ["--is", "spam"], ["--is", "ham", "-q"], ["--unsure", "0.97"]],
    ids=" ".join,
)
def test_the_command_says_the_same_with_and_without_it(
    run: Run,
    trained: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    is_pipe: bool,
) -> None:
    arguments = ["classify", "-m", str(trained), *options]
    found, n_answered = answers(run, monkeypatch, arguments, INPUTS, is_pipe=is_pipe)
    monkeypatch.setattr(_plain, "open_stored", lambda *_: None)
    expected, _ = answers(run, monkeypatch, arguments, INPUTS, is_pipe=is_pipe)

    assert found == expected
    assert 5 < n_answered < len(INPUTS)


def answers(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    inputs: dict[str, bytes],
    *,
    is_pipe: bool,
) -> tuple[dict[str, tuple[int, bytes, str]], int]:
    """Run a command with each input; return what it said, and how often plainly."""
    n_slow = 0

    def output(flags: dict[str, bool]) -> object:
        nonlocal n_slow
        n_slow += 1
        return made(flags)

    made = _quick._output
    with monkeypatch.context() as patch:
        patch.setattr(_quick, "_output", output)
        patch.setattr(_options, "parse", lambda given: output({}) and parse(given))
        found = {
            name: run(arguments, data, is_pipe=is_pipe) for name, data in inputs.items()
        }
    return found, len(inputs) - n_slow


HEADERS = {
    "forged": MAIL.replace(b"\nTo:", b"\nx-nbtext : spam\nX-BOGOSITY: Ham\nTo:"),
    "CR LF": MAIL.replace(b"\n", b"\r\n"),
    "a bare CR": MAIL.replace(b"To:", b"\rTo:"),
    "no field": MAIL.replace(b"To:", b"To\n"),
    "blank in a name": MAIL.replace(b"To:", b"To you:"),
    "space before the colon": MAIL.replace(b"To:", b"To \t:"),
    "continued": MAIL.replace(b"To:", b"To:\n\t"),
    "continued first": b" " + MAIL,
    "no end": MAIL.partition(b"\n\n")[0],
    "no body": MAIL.partition(b"\n\n")[0] + b"\n\n",
    "CR LF at the end": MAIL.replace(b"\n\n", b"\n\r\n"),
    "quoted envelope": b">" + FROM_LINE + MAIL,
}
PASSED = [
    ["pass", "-m"],
    ["pass", "--unsure", "0.97", "-m"],
    ["bogofilter", "-p", "--model"],
    ["bogofilter", "-pe", "--model"],
    ["bogofilter", "-ep", "-v", "--model"],
    ["bogofilter", "-v", "--model"],
    ["bogofilter", "-e", "-v", "--model"],
    ["bogofilter", "--model"],
]


SHARES = {
    "0.9": True, ".5": True, "1": True, "0": True, "1.0": True, "0.": True, "00": True,
    "0.9999999999999": True, "0.99999999999999999": False, "90%": False, "1.1": False,
    "2": False, "nan": False, "1e-1": False, " 0.9": False, "0_1": False,
    "\u0660": False,
    ".": False, "0.5.5": False, "x": False, "+0.5": False,
}  # fmt: skip
"""How a probability may be written, and whether click is not asked what it means."""


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    "command",
    [["classify"], ["classify", "-q", "--is", "spam"], ["pass"]],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "policy",
    [
        None,
        Policy(threshold=0.99),
        Policy(costs=(Cost("ham", "spam", 100),)),
        Policy(prior=(("spam", 0.3),)),
        Policy(max_false_positives=FalsePositives("spam", 0.1)),
    ],
    ids=str,
)
def test_a_probability_is_what_click_takes_it_for(
    run: Run,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    share: str,
    command: list[str],
    policy: Policy | None,
) -> None:
    if policy is not None:
        set_policy(str(model), policy)
    arguments = [*command, "--unsure", share, "-m", str(model)]
    assert (_quick.quick_run(arguments) is not None) == SHARES[share]
    messages = [
        MAIL,
        mail(3, SPAM[:1] + HAM),
        mail(4, HAM[:1] + SPAM[:1]),
        b"Subject:\n",
    ]
    found = [run(arguments, message, is_pipe=True) for message in messages]
    monkeypatch.setattr(cli, "quick_run", lambda _: None)

    assert found == [run(arguments, message, is_pipe=True) for message in messages]


@pytest.mark.parametrize("is_pipe", [True, False], ids=["pipe", "file"])
@pytest.mark.parametrize("options", PASSED, ids=" ".join)
def test_what_passes_mail_on_says_the_same_with_and_without_it(
    run: Run,
    trained: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    is_pipe: bool,
) -> None:
    inputs = INPUTS | HEADERS
    arguments = [*options, str(trained)]
    found, n_answered = answers(run, monkeypatch, arguments, inputs, is_pipe=is_pipe)
    monkeypatch.setattr(_plain, "open_stored", lambda *_: None)
    expected, _ = answers(run, monkeypatch, arguments, inputs, is_pipe=is_pipe)

    assert found == expected
    assert 5 < n_answered < len(inputs)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
@example(b"A: b\n\nc")
def test_a_field_goes_where_it_would_go(message: bytes) -> None:
    found = with_field(message, "X-NBText", "spam")

    if found is not None:
        assert found == with_added(message, AddedField("X-NBText", "spam"))


def test_a_message_goes_on_whatever_happens(
    run: Run, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(StoredClassifier, "classify", fail)

    code, out, _ = run(["pass", "-m", str(trained)], MAIL, is_pipe=True)

    assert (code, len(out)) == (
        0,
        len(MAIL) + len(b"X-NBText: spam, probability=0.9687\n"),
    )


@pytest.mark.parametrize("locked", [fcntl_locked, dotlocked])
def test_a_fresh_mbox_in_a_file_is_left_to_who_waits_for_locks(
    locked: Callable[[Path], AbstractContextManager[None]], tmp_path: Path
) -> None:
    path = tmp_path / "fresh"
    path.write_bytes(FROM_LINE + MAIL)

    with locked(path), path.open("rb") as file:
        read = read_mail(file.fileno(), is_one=False)

        assert isinstance(read, Begun)
        assert (read.head, file.read()) == (b"", FROM_LINE + MAIL)

    with path.open("rb") as file:
        assert read_mail(file.fileno(), is_one=False) == MAIL


def test_a_fresh_mbox_without_a_name_is_left(tmp_path: Path) -> None:
    path = tmp_path / "fresh"
    path.write_bytes(FROM_LINE + MAIL)

    with path.open("rb") as file:
        path.unlink()
        assert isinstance(read_mail(file.fileno(), is_one=False), Begun)
        path.write_bytes(FROM_LINE + MAIL)
        assert isinstance(read_mail(file.fileno(), is_one=False), Begun)


def test_what_does_not_come_to_its_end_at_once_is_waited_for(
    run: Run, trained: Path
) -> None:
    large = MAIL + b"money winner\n" * 4_000
    code, out, _ = run(["classify", "-m", str(trained)], large, is_pipe=True)

    assert (code, out[:5]) == (0, b"spam\t")


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.exists(), reason="the corpora are not here")
def test_real_mail(tmp_path: Path) -> None:
    from nbtext import train

    path = tmp_path / "model.nbt"
    train([f"{CORPUS}/easy_ham", f"{CORPUS}/spam"], str(path))
    judge, classifier = open_stored(str(path)), Classifier(load_model(str(path)))
    assert judge is not None
    n_decided = 0
    for file in sorted(Path(CORPUS, "spam_2").iterdir())[:500]:
        data = file.read_bytes()
        found = judge.classify(data)
        if found is not None:
            stored.check_same(found, classifier, data)
            n_decided += 1
    assert n_decided > 450
