"""The texts of terms in a model: who keeps them, and who shows them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

from nbtext.store import open_model, read_contents
from nbtext.store.blocks import BLOCK_SIZE
from nbtext.store.texts import read_texts

if TYPE_CHECKING:
    from tests.cli.conftest import Run

DEMO = Path(__file__).parents[2] / "corpora" / "demo"

ROWS = [
    *(f"spam,win cash {n}" for n in range(4)),
    *(f"ham,lunch today {n}" for n in range(4)),
    "ham,Grüße aus Köln",
]


@pytest.fixture
def rows(tmp_path: Path, run: "Run") -> Path:
    """Rows of two classes, and a model of them, by words and their pairs."""
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,text", *ROWS]))
    run("train", "-q", "--no-byte-ngrams", "-m", "rows.nbt", path)
    return path


def named(path: str) -> dict[str, list[str]]:
    """Return the texts of a model by view, a space between their parts."""
    file = open_model(path)
    found = read_texts(file) or ()
    views = zip(file.settings.views, found, strict=True)
    return {
        view.name: sorted(text.replace(b"\0", b" ").decode() for text in texts.each())
        for view, texts in views
    }


OF_ROWS = ["cash", "lunch", "lunch today", "today", "win", "win cash"]


def test_terms_of_three_documents_are_named(run: "Run", rows: Path) -> None:
    assert named("rows.nbt") == {"body": OF_ROWS}
    lines = run("top", "-m", "rows.nbt", "--top", 3).out.splitlines()
    assert {line.split("\t")[-1] for line in lines} == {*OF_ROWS}
    assert json.loads(run("info", "--json", "-m", "rows.nbt").out)["texts"] == 6
    assert "texts\tof 6 terms" in run("info", "-m", "rows.nbt").out
    assert rows.exists()


@pytest.mark.parametrize("jobs", [1, 2, 20])
def test_the_model_is_the_same_with_any_jobs_and_in_any_order(
    run: "Run", rows: Path, jobs: int
) -> None:
    lines = rows.read_text().splitlines()
    rows.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    run("train", "-q", "--no-byte-ngrams", "-j", jobs, "-m", "again.nbt", rows)

    one, other = (open_model(name).tables[0] for name in ("rows.nbt", "again.nbt"))

    assert one.header.texts == other.header.texts == (6,)
    for name, array in one.arrays.items():
        assert bytes(array) == bytes(other.arrays[name]), name


def test_without_texts_there_are_none(run: "Run", rows: Path) -> None:
    options = ("-q", "--no-byte-ngrams", "-m", "none.nbt")
    run("train", *options, "--no-texts", rows)

    assert open_model("none.nbt").tables[0].header.texts is None
    assert b"lunch" not in Path("none.nbt").read_bytes()
    assert b"lunch" in Path("rows.nbt").read_bytes()
    assert "texts\tof no term" in run("info", "-m", "none.nbt").out
    err = run("top", "-m", "none.nbt").err
    assert err.startswith("note: the model keeps no texts of terms, only keys")
    again = run("dump", "-m", "none.nbt").out
    assert '"text"' not in again.split("\n", 1)[1]
    assert json.loads(again.splitlines()[0])["texts"] is False


def test_a_keyed_model_has_none(run: "Run", rows: Path) -> None:
    run("train", "-q", "--keyed", "secret", "-m", "keyed.nbt", rows)

    assert open_model("keyed.nbt").tables[0].header.texts is None
    assert b"lunch" not in Path("keyed.nbt").read_bytes()
    keyed = ("top", "-m", "keyed.nbt", "--keyed", "secret", "--top", 9)
    assert "note: the model keeps no texts" in run(*keyed).err
    assert "lunch today" in run(*keyed, "ham", "--from", rows).out


def test_what_is_learnt_has_none_and_compacting_keeps_those_that_are_there(
    run: "Run", rows: Path
) -> None:
    for number in range(3):
        run("learn", "-q", "-m", "rows.nbt", "ham", stdin=f"garden tea {number}")
    assert named("rows.nbt") == {"body": OF_ROWS}
    assert run("check", "-m", "rows.nbt").status == 0

    run("compact", "-q", "-m", "rows.nbt")

    assert named("rows.nbt") == {"body": OF_ROWS}
    noted = run("top", "-m", "rows.nbt", "--top", 100, "ham")
    assert "note: the model has no text of" in noted.err
    assert "garden" not in noted.out
    found = run("top", "-m", "rows.nbt", "ham", "--top", 100, "--from", rows)
    assert "Grüße" in found.out


def test_terms_that_are_forgotten_are_not_named_any_more(
    run: "Run", rows: Path
) -> None:
    assert "cash" in named("rows.nbt")["body"]
    run("forget", "-q", "-m", "rows.nbt", rows)
    rows.write_text("\n".join(["label,text", *ROWS[4:], "spam,pills"]))
    run("learn", "-q", "-m", "rows.nbt", "--label-column", "label", rows)

    run("compact", "-q", "-m", "rows.nbt")

    assert "cash" not in named("rows.nbt")["body"]
    assert b"cash" not in Path("rows.nbt").read_bytes()
    assert run("check", "-m", "rows.nbt").status == 0


def test_a_merged_model_names_what_any_of_them_does(run: "Run", rows: Path) -> None:
    more = [f"spam,cheap win {n}" for n in range(4, 8)]
    more += [f"ham,patch {n}" for n in range(4, 8)]
    Path("more.csv").write_text("\n".join(["label,text", *more]))
    options = ("-q", "--no-byte-ngrams", "-m")
    run("train", *options, "more.nbt", "more.csv")
    run("train", *options, "none.nbt", "--no-texts", "more.csv")

    both = run("merge", "-q", "rows.nbt", "more.nbt", "-o", "both.nbt")
    one = run("merge", "-q", "none.nbt", "rows.nbt", "-o", "one.nbt")

    assert (both.status, one.status) == (0, 0)
    assert named("both.nbt")["body"] == sorted(
        {*OF_ROWS, *named("more.nbt")["body"], "cheap", "patch", "cheap win"}
    )
    assert named("one.nbt") == {"body": OF_ROWS}
    Path("cat.nbt").write_bytes(
        Path("rows.nbt").read_bytes() + Path("more.nbt").read_bytes()
    )
    assert named("cat.nbt") == named("both.nbt")
    facts = json.loads(run("info", "--json", "-m", "cat.nbt").out)
    assert facts["texts"] == len(named("both.nbt")["body"])
    for name in ("both.nbt", "one.nbt", "cat.nbt"):
        assert run("check", "-m", name).status == 0
    assert rows.exists()


@pytest.mark.usefixtures("rows")
def test_a_pruned_and_a_renamed_model_name_what_is_left(run: "Run") -> None:
    run("rename", "-q", "-m", "rows.nbt", "ham=good")
    assert named("rows.nbt") == {"body": OF_ROWS}

    run("prune", "-q", "-m", "rows.nbt", "--min-documents", 4)
    assert named("rows.nbt") == {"body": OF_ROWS}
    run("prune", "-q", "-m", "rows.nbt", "--min-documents", 5)

    assert named("rows.nbt") == {"body": []}
    assert run("check", "-m", "rows.nbt").status == 0


def test_the_text_form_has_them_and_gives_them_back(run: "Run", rows: Path) -> None:
    run("train", "-q", "-m", "rows.nbt", rows)  # with byte n-grams
    dumped = run("dump", "-m", "rows.nbt").out
    Path("dump.jsonl").write_text(dumped)

    run("load", "-q", "-m", "loaded.nbt", "dump.jsonl")

    assert run("dump", "-m", "loaded.nbt").out == dumped
    contents = read_contents(open_model("loaded.nbt"))
    assert contents.texts is not None
    assert [len(texts) for texts in contents.texts] == [
        *(open_model("rows.nbt").tables[0].header.texts or ())
    ]
    assert '"text":["win","cash"]' in dumped


FORGERIES = {
    "another term's": '"text":["win","cash"]|"text":["win","lunch"]',
    "no text": '"text":["win","cash"]|"text":7',
    "too many parts": '"text":["win","cash"]|"text":["win","cash","x"]',
    "none": '"text":["win","cash"]|"text":[]',
    "digits of UTF-8": '"text":["win"]|"text":"77696e"',
    "too long": '"text":["win"]|"text":["' + "w" * 300 + '"]',
    "half a surrogate": '"text":["win"]|"text":["\\ud800"]',
    "unannounced": '"texts":true|"texts":false',
    "no answer": '"texts":true|"texts":1',
}


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_text_that_is_none_is_refused(run: "Run", forgery: str) -> None:
    dumped = run("dump", "-m", "rows.nbt").out
    old, new = forgery.split("|")
    assert old in dumped
    Path("forged.jsonl").write_text(dumped.replace(old, new, 1))

    status, _, err = run("load", "-m", "forged.nbt", "forged.jsonl")

    assert status == 65
    assert "forged.jsonl: line" in err
    assert "text" in err
    assert not Path("forged.nbt").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"win\xff", b"won\xff"),
        (b"win\xff", b"win\0"),
        (b"win\xff", b"wi\xff\xff"),
        (b"cash\xff", b"cas\xfe\xff"),
        (b"win\xff", b"\0\0\0\xff"),
    ],
)
def test_forged_texts_are_damage(
    run: "Run", rows: Path, old: bytes, new: bytes
) -> None:
    contents = read_contents(open_model("rows.nbt"))
    assert contents.texts is not None
    whole = contents.texts[0].texts.tobytes()
    place = whole.index(b"\xff" + old) + 1
    if whole.startswith(old):
        place = 0
    forged = whole[:place] + new + whole[place + len(old) :]
    written = Path("rows.nbt").read_bytes()
    assert written.count(whole) == 1
    Path("forged.nbt").write_bytes(summed(written.replace(whole, forged)))

    checked = run("check", "-m", "forged.nbt")
    shown = run("top", "-m", "forged.nbt")

    assert checked.status == 65
    assert "texts of" in checked.out
    assert shown.status in (0, 65)
    assert "Traceback" not in shown.err
    # what decides has no need of them
    assert run("classify", "-m", "forged.nbt", stdin="win cash").out.startswith("spam")
    assert rows.exists()


def summed(data: bytes) -> bytes:
    """Return a model file of one table, its blocks summed anew."""
    Path("old.nbt").write_bytes(data)
    arrays = open_model("old.nbt").tables[0].arrays
    end = data.rindex(arrays.checksums)
    *contents, _ = arrays.contents()
    start = arrays.offset
    last = bytes(contents[-1])
    stop = data.rindex(last, start, end) + len(last)
    blocks = range(start, stop, BLOCK_SIZE)
    sums = [crc32(data[at : min(at + BLOCK_SIZE, stop)]) for at in blocks]
    packed = b"".join(one.to_bytes(4, "little") for one in sums)
    assert len(packed) == len(arrays.checksums)
    return data[:end] + packed + data[end + len(packed) :]


def test_weights_have_the_texts(run: "Run", rows: Path) -> None:
    run("train", "-q", "--score", "sum", "-m", "sum.nbt", rows)

    lines = run("weights", "-m", "sum.nbt").out.splitlines()[1:]

    terms: list[dict[str, Any]] = [json.loads(line) for line in lines]
    by_text = {one["term"]: one for one in terms if one["term"]}
    assert set(OF_ROWS) <= by_text.keys()
    assert by_text["cash"]["weights"]["spam"] > by_text["cash"]["weights"]["ham"]
    assert all(one["field"] is None for one in terms)
    assert len(terms) > len(by_text)  # terms of one document have none
    run("train", "-q", "--score", "sum", "--no-texts", "-m", "no.nbt", rows)
    others = run("weights", "-m", "no.nbt").out.splitlines()[1:]
    assert [json.loads(line) | {"term": None} for line in others] == [
        one | {"term": None} for one in terms
    ]


def test_header_terms_of_mail_have_their_field(run: "Run") -> None:
    run("train", "-q", "-m", "demo.nbt", DEMO / "spam", DEMO / "ham")

    out = run("top", "-m", "demo.nbt", "--json", "--top", 300).out

    found = [json.loads(line) for line in out.splitlines()]
    assert all(one["term"] for one in found if one["documents"] > 2)
    fields = {one["field"] for one in found if one["view"] == "headers" and one["term"]}
    assert {"subject", "has"} <= fields
    assert {one["field"] for one in found if one["view"] == "body"} == {None}


def test_values_of_a_column_are_named(run: "Run") -> None:
    lines = [f"{'ab'[n % 2]},x{n},{['Köln', 'Bonn'][n % 2]}" for n in range(12)]
    Path("r.csv").write_text("\n".join(["label,text,city", *lines]))
    run("train", "-q", "--categorical-column", "city", "-m", "r.nbt", "r.csv")

    assert named("r.nbt")["city"] == ["Bonn", "Köln"]
    assert "\tKöln" in run("top", "-m", "r.nbt").out


def test_a_regime_names_terms_too(run: "Run", rows: Path) -> None:
    options = ("-q", "--no-byte-ngrams", "-m", "some.nbt", "--regime", "near-errors")
    assert run("train", *options, "--margin", 100, rows).status == 0

    assert named("some.nbt") == {"body": OF_ROWS}


def test_only_printable_characters_reach_a_terminal(run: "Run") -> None:
    lines = [f"{'ab'[n % 2]},evil\x1b[31m\u202e {n}" for n in range(12)]
    Path("r.csv").write_text("\n".join(["label,text", *lines]))
    run("train", "-q", "--alphabet", "marks", "-m", "r.nbt", "r.csv")

    out = run("top", "-m", "r.nbt").out + run("top", "-m", "r.nbt", "--json").out

    assert "\x1b" not in out
    assert "\u202e" not in out
