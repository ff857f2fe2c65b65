"""Documents scored anew by a pruned model, as if they had never been counted."""

from pathlib import Path
from random import Random

from nbtext import Options, read_documents, train_on
from nbtext import train as api_train
from nbtext.document import Document
from nbtext.learning import train
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.held_out import held_out
from nbtext.scoring.model import load_model
from nbtext.store import ModelFile, open_model, read_contents
from nbtext.store.writing import replace_file
from nbtext.tokens import read, read_terms
from nbtext.upkeep.pruning import prune
from nbtext.upkeep.recalibrating import recalibrated
from tests.build import MAIL

COMMON = [f"common{n}" for n in range(30)]
OWN = {label: [f"{label}{n}" for n in range(30)] for label in ("ham", "spam")}


def documents(count: int) -> list[Document]:
    """Return so many messages of each class, of words that are rare and common."""
    random = Random(3)  # noqa: S311  nothing secret
    found = []
    for label in ("ham", "spam"):
        for number in range(count):
            words = [
                random.choice(random.choice([COMMON, OWN[label], OWN[label]]))
                for _ in range(12)
            ]
            body = f"Subject: {words[0]}\n\n{' '.join(words)} once{label}{number}\n"
            found.append(
                Document(f"{label}{number}", (body.encode(),), label, is_mail=True)
            )
    return found


def trained_on(items: list[Document], path: str) -> ModelFile:
    """Return the file of a model of some documents."""
    replace_file(path, train(lambda: iter(items), n_classes=2).contents.pack())
    return open_model(path)


def test_scores_are_those_of_a_pruned_model_that_never_saw_the_document(
    tmp_path: Path,
) -> None:
    items = documents(30)
    file = trained_on(items, str(tmp_path / "m.nbt"))

    pruned, n_scored = recalibrated(
        prune(read_contents(file), 2),
        file,
        items,
        min_documents=2,
        max_bytes=1000,
        on_problem=print,
    )

    assert n_scored == 60
    (calibration,) = pruned.contents.calibrations
    assert calibration.documents == {"ham": 30, "spam": 30}
    anew = sorted(bin_ for bin_, _ in calibration.counts)
    expected = []
    for place, one in enumerate(items):
        others = items[:place] + items[place + 1 :]
        fewer = read_contents(trained_on(others, str(tmp_path / f"{place}.nbt")))
        rest = prune(fewer, 2).contents
        views = read_terms(MAIL, [read(one, MAIL).views])
        model = batch_model_of(rest.counts, rest.scoring)
        (scores,) = scores_by(model, [rest.scoring], model.find(views))
        expected.append(float(scores[0]))
    # terms that one other document has are pruned there, and still in the sizes here
    counted = [bin_ for (bin_, _), n in calibration.counts.items() for _ in range(n)]
    assert all(
        abs((bin_ + 0.5) / 16 - score) < 0.3
        for bin_, score in zip(sorted(counted), sorted(expected), strict=True)
    )
    before = [bin_ for bin_, _ in held_out(load_model(file.path)).counts]
    assert anew != sorted(before)


def test_what_the_model_has_not_counted_is_passed_over(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on([(one.label or "", one.texts[0]) for one in documents(5)], path)
    file = open_model(path)
    pruned = prune(read_contents(file), 2)
    strange = [Document("new", (b"Subject: new\n\nnothing\n",), is_mail=True)]

    found = recalibrated(
        pruned, file, strange, min_documents=2, max_bytes=1000, on_problem=print
    )

    assert found == (pruned, 0)


def test_of_columns_of_categories_and_numbers_nothing_is_left_out(
    tmp_path: Path,
) -> None:
    """Pruning leaves them as they are, so documents are scored with all they have."""
    path, table = str(tmp_path / "m.nbt"), tmp_path / "t.csv"
    rows = [f"{'ab'[n % 2]},word{n % 3} of,only{n},{n}" for n in range(40)]
    table.write_text("\n".join(["label,text,kind,size", *rows]))
    options = Options(
        label_column="label",
        text_columns=("text",),
        categorical_columns=("kind",),
        numeric_columns=("size",),
    )
    api_train([table], path, options=options)
    file = open_model(path)
    contents = read_contents(file)
    scored = []
    for least in (1, 2):  # the text has no term that one document alone has
        items = read_documents([table], options=options)
        found, n_scored = recalibrated(
            prune(contents, least),
            file,
            items,
            min_documents=least,
            max_bytes=1000,
            on_problem=print,
        )
        scored.append(found.contents.calibrations)
        assert n_scored == 40

    assert scored[0] == scored[1]
