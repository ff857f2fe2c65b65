"""The commands of docs/corpora.md, on a few documents in the form of each corpus."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/corpora.md"
BLOCKS = re.findall(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

TEXTS = [
    (
        k % 2,
        ("a dull plot, and bad jokes in %d", "a film of charm and wit %d")[k % 2] % k,
    )
    for k in range(12)
]
"""Texts of two kinds, by turns."""

SENTIMENTS = [("negative", "positive")[kind] for kind, _ in TEXTS]
SPAM = [("ham", "spam")[kind] for kind, _ in TEXTS]


def table(
    path: str, rows: Iterable[Iterable[object]], heading: str = "", sep: str = ","
) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("w", encoding="latin-1", newline="") as file:
        writer = csv.writer(file, delimiter=sep, lineterminator="\n")
        writer.writerows([heading.split(",")] if heading else [])
        writer.writerows(rows)


def lines(path: str, found: Iterable[str]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(f"{line}\n" for line in found), encoding="latin-1")


def make_tables() -> None:
    numbered = [*enumerate(TEXTS)]
    for part in ("train", "test"):
        rows = [
            (kind + 3, f"{part} {k}, a title", text) for k, (kind, text) in numbered
        ]
        table(f"ag_news/{part}.csv", rows)
    reviews = [(text, SENTIMENTS[k]) for k, (_, text) in numbered]
    table("imdb/train.csv", reviews, "review,sentiment")
    table("sms/spam.csv", [(SPAM[k], f"{text} \xa35", "", "", "")
                           for k, (_, text) in numbered], "v1,v2,,,")  # fmt: skip
    banking = [(text, f"card_{kind}") for kind, text in TEXTS]
    table("banking77/train.csv", banking, "text,category")
    mail = [(k, "A subject", text, SPAM[k], "1999-12-10") for k, (_, text) in numbered]
    table("enron/enron_spam_data.csv", mail, "Message ID,Subject,Message,Spam/Ham,Date")
    tweets = [(kind * 4, 1467810369 + k, "Mon Apr 06 22:19:45 PDT 2009", "NO_QUERY",
               "tom", text) for k, (kind, text) in numbered]  # fmt: skip
    table("sentiment140/train.csv", tweets)
    toxic = [(f"{k:x}", text, kind, 0) for k, (kind, text) in numbered]
    table("toxic/train.csv", toxic, "id,comment_text,toxic,threat")
    votes = [(k, 3, 3 * kind, kind, text) for k, (kind, text) in numbered]
    table("hate/labeled_data.csv", votes, ",count,hate_speech,class,tweet")


def make_lines() -> None:
    lines("emotion/train.txt", [f"{text};{SENTIMENTS[k]}"
                                for k, (_, text) in enumerate(TEXTS)])  # fmt: skip
    lines("phrasebank/Sentences_50Agree.txt",
          [f"{text}@{SENTIMENTS[k]}" for k, (_, text) in enumerate(TEXTS)])  # fmt: skip
    questions = [(("HUM:ind", "NUM:date")[kind], text) for kind, text in TEXTS]
    lines("trec/train_5500.label", [f"{label} Who: \xe9 {text} ?"
                                    for label, text in questions])  # fmt: skip


def make_json() -> None:
    news = [{"link": f"https://x/{k}", "headline": f"It is {k}", "category": f"C{kind}",
             "short_description": text, "date": f"2022-09-{k + 1:02}"}
            for k, (kind, text) in enumerate(TEXTS)]  # fmt: skip
    lines("news/News_Category_Dataset_v3.json", map(json.dumps, news))
    rows = [{"text": text, "label": kind, "label_text": SENTIMENTS[k]}
            for k, (kind, text) in enumerate(TEXTS)]  # fmt: skip
    lines("huggingface/train.jsonl", map(json.dumps, rows))
    lines("array.json", [json.dumps(rows)])
    pairs = [[text, f"intent_{kind}"] for kind, text in TEXTS]
    lines("clinc150.json", [json.dumps({"train": pairs, "test": pairs})])


def make_folders() -> None:
    index = []
    for k, (kind, text) in enumerate(TEXTS):
        for part in ("train", "test"):
            lines(f"20news/20news-bydate-{part}/{('alt', 'sci')[kind]}/{k}",
                  [f"Subject: {k}", "", part, text])  # fmt: skip
            lines(f"aclImdb/{part}/{('neg', 'pos')[kind]}/{k}_9.txt", [part, text])
        lines(f"enron1/{SPAM[k]}/{k}.txt", [f"Subject: {k}", text])
        lines(f"trec07p/data/inmail.{k + 1}", [f"Subject: {k}", "", text])
        index.append(f"{SPAM[k]} ../data/inmail.{k + 1}")
        name = (f"{k % 3 + 1}-{k}msg1.txt", f"spmsga{k}.txt")[kind]
        for form in ("bare", "lemm"):
            lines(f"lingspam/{form}/part{k % 4 + 1}/{name}",
                  [f"Subject: {k}", "", text])  # fmt: skip
    lines("aclImdb/README", ["of reviews"])
    lines("aclImdb/train/unsup/1_0.txt", ["a review"])
    lines("enron1/Summary.txt", ["of mail"])
    lines("trec07p/full/index", index)
    lines("trec07p/delay/index", index[:3])


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_commands_of_the_page_run(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (make_tables, make_lines, make_json, make_folders):
        make()
    program = tmp_path / "bin/nbtext"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m nbtext "$@"\n')
    program.chmod(0o755)
    if shutil.which("jq") is None:
        block = "".join(line + "\n" for line in block.splitlines() if "jq " not in line)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "skipped:" not in done.stderr
    n_documents = [int(n) for n in re.findall(r"read (\d+) documents", done.stderr)]
    n_models = len(set(re.findall(r"-m (\w+\.nbt)", block)))
    assert n_documents == [6 if "first.nbt" in block and k else 12
                           for k in range(n_models)]  # fmt: skip
    assert "WARNING" not in done.stderr
    for line in re.findall(r"^read .*", done.stderr, re.MULTILINE):
        assert re.search(r": [\w:]+ [36], [\w:]+ [36]$", line), line


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("trec07p", "trec07p/delay/index found, which has labels and files; name that: "
         "trec07p/full/index"),
        ("aclImdb", "name them alone: aclImdb/train/neg aclImdb/train/pos\n"),
        ("enron1", "name them alone: enron1/ham enron1/spam\n"),
        ("lingspam/bare", "`find lingspam/bare -name 'spmsg*' > spam.list; find "
         "lingspam/bare -type f ! -name 'spmsg*' > ham.list; nbtext train --files-from "
         "spam=spam.list --files-from ham=ham.list`; to have a part for a class"),
        ("lingspam", "in each of them parts of a corpus (part1, part2, part3, ...); "
         "name one: lingspam/bare\n"),
        ("20news", "`nbtext train 20news/20news-bydate-train`; `nbtext eval "
         "20news/20news-bydate-test` measures a model of it; to have a part for a "
         "class"),
        ("aclImdb/train", "aclImdb/train/unsup is read as the class unsup; if its "
         "documents have no label, name the others alone: aclImdb/train/neg "
         "aclImdb/train/pos\n"),
        ("trec/train_5500.label", "if each line is one, begin it with its label and a "
         "tab"),
        ("ag_news", "ag_news is read as one class; if the tables in it have labels, "
         "name one: ag_news/train.csv\n"),
        ("emotion/train.txt", "if each line is one, --format csv --delimiter ';' reads "
         "it\n"),
        ("phrasebank/Sentences_50Agree.txt", "--format csv --delimiter @ reads it\n"),
        ("clinc150.json", "arrays of them found (train, test); `jq -c '.train[] | "
         "{text: .[0], label: .[1]}'` makes lines of one\n"),
        ("sentiment140/train.csv", "name it, for instance: --label-column 1 "
         "--text-column 6\n"),
    ],
)  # fmt: skip
def test_the_folder_or_file_alone_is_answered_by_what_to_type(
    source: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (make_tables, make_lines, make_json, make_folders):
        make()

    done = subprocess.run(
        [sys.executable, "-m", "nbtext", "train", "-m", "m.nbt", source],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert said in done.stderr


def test_lines_may_end_with_their_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines("imdb_labelled.txt", [f"{text}\t{kind}" for kind, text in TEXTS])

    done = subprocess.run(
        [sys.executable, "-m", "nbtext", "train", "-m", "m.nbt", "imdb_labelled.txt"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    program = [sys.executable, "-m", "nbtext"]
    classified = subprocess.run(
        [*program, "classify", "-m", "m.nbt", "imdb_labelled.txt"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "every line ends with a word behind a tab; with --form" in classified.stderr
    assert ": 0: 6, 1: 6\n" in done.stderr
    assert "the second column was taken for the label" in done.stderr
