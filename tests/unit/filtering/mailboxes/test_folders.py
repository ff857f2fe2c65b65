"""Maildirs and MH folders: what is in them, how it moves and how it is marked."""

import errno
import mailbox
import os
from pathlib import Path
from typing import Any

import pytest

from nbtext import files as durable_files
from nbtext.errors import (
    BusyError,
    MailboxError,
    MissingSourceError,
    SettingsError,
    SourceError,
)
from nbtext.files import _renaming
from nbtext.filtering.mailboxes import (
    Marks,
    Message,
    Task,
    _sequences,
    _transfer,
    check_marks,
    marks_of,
    move_all,
    open_mailbox,
    read_message,
    target_of,
)
from nbtext.filtering.mailboxes._keywords import letters_for
from nbtext.filtering.mailboxes._maildir import Maildir
from nbtext.filtering.mailboxes._mh import MH
from nbtext.filtering.mailboxes._sequences import sequences_in
from tests import build

TEXT = b"Subject: one\n\none\n"
NOTHING = Marks()


def maildir(path: Path, *names: str) -> Maildir:
    """Make a Maildir with messages `new/...` and `cur/...`."""
    return Maildir(str(build.maildir(path, dict.fromkeys(names, TEXT))))


def mh(path: Path, *numbers: int, sequences: str = "") -> MH:
    path.mkdir(exist_ok=True)
    for number in numbers:
        (path / str(number)).write_bytes(TEXT)
    if sequences:
        (path / ".mh_sequences").write_text(sequences)
    return MH(str(path))


def files(folder: Path) -> list[str]:
    """Name the messages of a Maildir."""
    return sorted(
        f"{part}/{file.name}"
        for part in ("cur", "new", "tmp")
        for file in (folder / part).iterdir()
    )


def move(
    source: Maildir | MH, target: Maildir | MH | None, marks: Marks = NOTHING
) -> None:
    tasks = [Task(one, target, marks) for one in source.messages()]
    moved = move_all(source, tasks)
    assert moved.error is None
    assert len(moved.done) == len(tasks)


def test_a_maildir_is_read_without_drafts_trash_and_what_is_not_yet_there(
    tmp_path: Path,
) -> None:
    names = ["new/3.x", "cur/1.x:2,S", "cur/2.x:2,", "cur/4.x:2,T", "cur/5.x:2,DS"]
    box = maildir(tmp_path / "box", *names, "tmp/6.x", "cur/.hidden")

    found = [message.name.removeprefix(f"{box.path}/") for message in box.messages()]

    assert found == ["cur/1.x:2,S", "cur/2.x:2,", "new/3.x"]


def test_a_message_keeps_its_key_when_it_is_shown_and_flagged(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "new/1.x,S=18", "new/2.x")
    first, second = box.messages()
    (tmp_path / "box/new/1.x,S=18").rename(tmp_path / "box/cur/1.x,S=18,W=2,U=3:2,FS")

    (same, other) = box.messages()

    assert (same.key, other.key) == (first.key, second.key)
    assert first.key != second.key


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("new/1.x,S=18", "new/1.x,S=18"),
        ("cur/1.x:2,", "cur/1.x:2,"),
        ("cur/1.x:2,FS", "cur/1.x:2,FS"),
        ("cur/1.x", "cur/1.x:2,"),
        ("cur/1.x:2,SX", "cur/1.x:2,SX"),
        ("cur/1.x;2,S", "cur/1.x:2,S"),
        ("cur/1.x,U=7:2,S", "cur/1.x:2,S"),  # mbsync's number in this folder
        ("cur/1.x,S=18,U=7,FMD5=0a1b:2,", "cur/1.x,S=18:2,"),  # OfflineIMAP's
        ("cur/,U=7:2,S", "cur/,U=7:2,S"),
    ],
)
def test_a_message_keeps_its_name_and_flags_when_it_moves(
    tmp_path: Path, name: str, there: str
) -> None:
    move(maildir(tmp_path / "box", name), maildir(tmp_path / "junk"))

    assert files(tmp_path / "box") == []
    assert files(tmp_path / "junk") == [there]


def test_a_message_that_was_renamed_meanwhile_is_found(tmp_path: Path) -> None:
    box, junk = maildir(tmp_path / "box", "new/1.x"), maildir(tmp_path / "junk")
    (message,) = box.messages()
    (tmp_path / "box/new/1.x").rename(tmp_path / "box/cur/1.x:2,S")

    content = read_message(box, message, 100)
    moved = move_all(box, [Task(message, junk, NOTHING)])

    assert content is not None
    assert moved.done == {message.name}
    assert files(tmp_path / "junk") == ["cur/1.x:2,S"]


@pytest.mark.parametrize("target", [True, False])
def test_a_message_that_is_gone_is_no_error(tmp_path: Path, target: bool) -> None:
    box = maildir(tmp_path / "box", "new/1.x")
    junk = maildir(tmp_path / "junk") if target else None
    (message,) = box.messages()
    (tmp_path / "box/new/1.x").unlink()

    content = read_message(box, message, 100)
    moved = move_all(box, [Task(message, junk, Marks("S"))])

    assert content is None
    assert (moved.done, moved.error) == (frozenset(), None)


@pytest.mark.parametrize("code", [0, errno.ENOSYS])
def test_no_message_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    if code:  # a system without renameat2
        monkeypatch.setattr(_renaming, "rename_in_one_step", lambda *_: code)
    box, junk = maildir(tmp_path / "box", "cur/1.x:2,S"), maildir(tmp_path / "junk")
    (tmp_path / "junk/cur/1.x:2,S").write_bytes(b"another\n")

    move(box, junk)

    there = [
        (tmp_path / "junk" / name).read_bytes() for name in files(tmp_path / "junk")
    ]
    assert sorted(there) == [TEXT, b"another\n"]
    assert (tmp_path / "junk/cur/1.x:2,S").read_bytes() == b"another\n"
    assert files(tmp_path / "box") == []


@pytest.mark.parametrize("is_relative", [True, False])
def test_a_link_leads_to_its_message_wherever_it_moves(
    tmp_path: Path, is_relative: bool
) -> None:
    box, junk = maildir(tmp_path / "box"), maildir(tmp_path / "a/junk")
    (tmp_path / "real").write_bytes(TEXT)
    there = Path("../../real") if is_relative else tmp_path / "real"
    (tmp_path / "box/new/1.x").symlink_to(there)

    move(box, junk)

    assert files(tmp_path / "box") == []
    assert (tmp_path / "a/junk/new/1.x").read_bytes() == TEXT
    assert (tmp_path / "real").read_bytes() == TEXT


@pytest.mark.parametrize("name", ["new/1.x", "cur/1.x:2,S"])
def test_no_message_has_the_name_of_another_but_for_its_flags(
    tmp_path: Path, name: str
) -> None:
    box, junk = maildir(tmp_path / "box", name), maildir(tmp_path / "junk")
    os.link(tmp_path / "box" / name, tmp_path / "junk/cur/1.x:2,F")  # Dovecot's COPY

    move(box, junk)

    names = [one.base for one in junk.messages()]
    assert len(names) == len(set(names)) == 2


def test_a_copy_by_another_name_is_found_after_a_crash(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "cur/1.x:2,S")
    junk = maildir(tmp_path / "junk", "cur/1.x:2,F")
    (tmp_path / "junk/cur/1.x:2,F").write_bytes(b"another\n")
    (message,) = box.messages()
    move(box, junk)
    maildir(tmp_path / "box", "cur/1.x:2,S")  # as if it had not been taken away

    moved = move_all(box, [Task(message, junk, NOTHING, is_again=True)])

    assert moved.done == {message.name}
    assert files(tmp_path / "box") == []
    assert len(files(tmp_path / "junk")) == 2


def test_a_message_goes_to_another_file_system_with_its_time_and_mode(
    tmp_path: Path, quick_folder: Path
) -> None:
    if tmp_path.stat().st_dev == quick_folder.stat().st_dev:
        pytest.skip("there is one file system only")
    box, junk = maildir(tmp_path / "box", "cur/1.x:2,S"), maildir(quick_folder / "junk")
    os.utime(tmp_path / "box/cur/1.x:2,S", (1e9, 1e9))
    (tmp_path / "box/cur/1.x:2,S").chmod(0o640)

    move(box, junk)

    status = (quick_folder / "junk/cur/1.x:2,S").stat()
    assert files(tmp_path / "box") == files(quick_folder / "junk")[1:] == []
    assert (status.st_mtime, status.st_mode & 0o777) == (1e9, 0o640)


def test_keywords_have_the_letters_of_the_maildir_that_they_are_in(
    tmp_path: Path,
) -> None:
    box = maildir(tmp_path / "box", "cur/1.x:2,Sabz")
    junk = maildir(tmp_path / "junk")
    (tmp_path / "box/dovecot-keywords").write_text("0 Work\n1 Junk\n")
    (tmp_path / "junk/dovecot-keywords").write_text("0 Junk\n")

    move(box, junk)

    assert (tmp_path / "junk/dovecot-keywords").read_text() == "0 Junk\n1 Work\n"
    assert files(tmp_path / "junk") == ["cur/1.x:2,Sabz"]  # z has no name


def test_a_keyword_gets_a_letter_and_keeps_it(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "new/1.x", "cur/2.x:2,F")
    (tmp_path / "box/dovecot-keywords").write_text("1 Work\n")

    move(box, None, Marks("S", ("Junk",)))

    # not a: Dovecot, which does not look again for a gap, would give it a name itself
    assert files(tmp_path / "box") == ["cur/1.x:2,Sc", "cur/2.x:2,FSc"]
    assert (tmp_path / "box/dovecot-keywords").read_text() == "1 Work\n2 Junk\n"


def test_dovecot_sees_in_whole_seconds_that_keywords_have_changed(
    tmp_path: Path,
) -> None:
    box = maildir(tmp_path / "box")
    file = tmp_path / "box/dovecot-keywords"
    times = []
    for name in ("One", "Two", "Three"):
        letters_for(box.path, [name])
        times.append(int(file.stat().st_mtime))

    assert times == sorted(set(times))


def test_a_twenty_seventh_keyword_is_refused_and_no_move_fails_for_it(
    tmp_path: Path,
) -> None:
    box, full = maildir(tmp_path / "box", "cur/1.x:2,a"), maildir(tmp_path / "full")
    (tmp_path / "box/dovecot-keywords").write_text("0 Junk\n")
    letters_for(full.path, [f"k{number}" for number in range(26)])
    (message,) = box.messages()
    move(box, full)
    (there,) = full.messages()

    moved = move_all(full, [Task(there, None, Marks("", ("Junk",)))])

    assert message.marks == Marks("", ("Junk",))
    assert files(tmp_path / "full") == ["cur/1.x:2,"]
    assert not moved.done
    assert "all 26 keywords of this Maildir are in use" in str(moved.error)


def test_keywords_are_not_changed_while_dovecot_changes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = maildir(tmp_path / "box", "new/1.x")
    (tmp_path / "box/dovecot-uidlist.lock").write_text("")
    monkeypatch.setattr("nbtext.filtering.mailboxes._keywords.WAIT", 0.05)
    (message,) = box.messages()

    moved = move_all(box, [Task(message, None, Marks("", ("Junk",)))])

    assert isinstance(moved.error, BusyError)
    assert files(tmp_path / "box") == ["new/1.x"]


def test_a_folder_that_is_missing_is_made_as_maildir_plus_plus_has_it(
    tmp_path: Path,
) -> None:
    box = maildir(tmp_path / "box", "new/1.x")
    junk = target_of(box, ".Junk")
    assert isinstance(junk, Maildir)

    move(box, junk)

    folder = tmp_path / "box/.Junk"
    assert files(folder) == ["new/1.x"]
    assert (folder / "maildirfolder").exists()
    for made in (folder, folder / "cur", folder / "tmp"):
        assert made.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("name", "is_marked"), [(".Lists", False), (".Lists", True), ("lists", True)]
)
def test_a_folder_of_a_folder_is_one_of_the_same_maildir(
    tmp_path: Path, name: str, is_marked: bool
) -> None:
    """Courier and Dovecot mark folders by a file; procmail and mkdir(1) do not."""
    maildir(tmp_path / "box")
    folder = maildir(tmp_path / "box" / name, "new/1.x")
    if is_marked:
        (tmp_path / "box" / name / "maildirfolder").touch()

    assert target_of(folder, ".Junk").path == str(tmp_path / "box/.Junk")


@pytest.mark.parametrize("part", ["cur", "new", "tmp"])
def test_a_folder_with_a_file_called_as_a_part_of_a_maildir_is_none(
    tmp_path: Path, part: str
) -> None:
    box, other = maildir(tmp_path / "box", "new/1.x"), tmp_path / "notes"
    other.mkdir()
    (other / part).write_text("a note")

    with pytest.raises(SettingsError, match="a folder found that is neither a Maildir"):
        target_of(box, str(other))

    assert [file.name for file in other.iterdir()] == [part]


@pytest.mark.parametrize("part", ["cur", "new", "tmp", "new/"])
def test_no_mailbox_is_made_in_a_part_of_a_maildir(tmp_path: Path, part: str) -> None:
    box, folder = maildir(tmp_path / "box", "new/1.x"), mh(tmp_path / "mh", 1)
    junk = maildir(tmp_path / "box/.Junk")

    for source in (box, junk, folder):
        with pytest.raises(SettingsError, match=r"part of the Maildir .*/\.Junk f"):
            target_of(source, f"{junk.path}/{part}")
    assert not files(Path(junk.path))
    assert target_of(folder, str(tmp_path / "new")).path == str(tmp_path / "new")


@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.parametrize("part", [".", "cur", "new"])
def test_no_folder_of_others_is_the_maildir_that_one_is_a_folder_of(
    tmp_path: Path, part: str, is_marked: bool
) -> None:
    """Whoever may write to it may have made it one, and a folder for what is moved."""
    maildir(tmp_path / "srv")
    box = maildir(tmp_path / "srv/.bob", "new/1.x")
    if is_marked:
        (tmp_path / "srv/.bob/maildirfolder").touch()
    (tmp_path / "srv" / part).chmod(0o1777)

    assert target_of(box, ".Junk").path == str(tmp_path / "srv/.bob/.Junk")
    (tmp_path / "srv" / part).chmod(0o700)
    assert target_of(box, ".Junk").path == str(tmp_path / "srv/.Junk")
    if not os.geteuid():
        os.chown(tmp_path / "srv" / part, 1, 1)
        assert target_of(box, ".Junk").path == str(tmp_path / "srv/.bob/.Junk")


def test_a_maildir_beside_no_other_is_no_folder_whatever_its_name(
    tmp_path: Path,
) -> None:
    box = maildir(tmp_path / ".maildir", "new/1.x")

    assert target_of(box, ".Junk").path == str(tmp_path / ".maildir/.Junk")
    plain = maildir(tmp_path / ".maildir/within", "new/1.x")
    assert target_of(plain, ".Junk").path == str(tmp_path / ".maildir/within/.Junk")


def test_an_mh_folder_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    box = mh(tmp_path / "box", 10, 9)
    for name in (",8", "07", "x", "1.txt"):
        (tmp_path / "box" / name).write_bytes(TEXT)

    assert [Path(one.name).name for one in box.messages()] == ["9", "10"]


def test_a_message_gets_the_next_number_and_the_sequences_follow(
    tmp_path: Path,
) -> None:
    box = mh(tmp_path / "box", 1, 2, 3, 4, sequences="cur: 9\nunseen: 2-3\nmine: 1-9\n")
    junk = mh(tmp_path / "junk", 7, sequences="unseen: 7\nother: 7\n")
    chosen = [one for one in box.messages() if one.name[-1] in "13"]

    move_all(box, [Task(one, junk, NOTHING) for one in chosen])

    assert sequences_in(box.path, [2, 4]) == {"cur": {9}, "unseen": {2}, "mine": {2, 4}}
    there = {"unseen": {7, 9}, "other": {7}}
    assert sequences_in(junk.path, [7, 8, 9]) == there
    written = (tmp_path / "box/.mh_sequences").read_text()
    assert written == "cur: 9\nunseen: 2\nmine: 2 4\n"
    assert mailbox.MH(tmp_path / "junk").get_sequences() == {
        "unseen": [7, 9],
        "other": [7],
    }


def test_a_message_that_gets_the_number_of_another_has_not_its_flags(
    tmp_path: Path,
) -> None:
    box = mh(tmp_path / "box", 1, sequences="flagged: 1\nreplied: 1\n")
    move(box, mh(tmp_path / "junk"))
    (tmp_path / "box/1").write_bytes(TEXT)  # as inc(1) names new mail

    assert sequences_in(box.path, [1]) == {}
    assert [one.marks for one in box.messages()] == [NOTHING]


def test_a_sequence_may_go_on_in_further_lines(tmp_path: Path) -> None:
    """As a field of a header may; what is not read is lost when it is written."""
    text = "cur: 1\nmine: 1-2\n 4-5\n\t6\nunseen: 6\n"
    box = mh(tmp_path / "box", 1, 2, 3, 4, 5, 6, sequences=text)

    move(box, None, Marks("S"))

    mine = {1, 2, 4, 5, 6}
    assert sequences_in(box.path, range(1, 7)) == {"cur": {1}, "mine": mine}


def test_a_message_of_mh_is_marked_by_sequences(tmp_path: Path) -> None:
    box = mh(tmp_path / "box", 1, 2, sequences="unseen: 1-2\n")

    move(box, None, Marks("FS", ("junk",)))

    found = sequences_in(box.path, [1, 2])
    assert found == {"flagged": {1, 2}, "junk": {1, 2}}


def test_a_number_that_another_message_has_now_is_left_alone(tmp_path: Path) -> None:
    box, junk = mh(tmp_path / "box", 1, 2), mh(tmp_path / "junk")
    first, _ = box.messages()
    (tmp_path / "box/2").rename(tmp_path / "box/1")

    moved = move_all(box, [Task(first, junk, NOTHING)])

    assert not moved.done
    assert (tmp_path / "box/1").exists()


@pytest.mark.parametrize("kind", ["mh", "maildir", "elsewhere"])
@pytest.mark.parametrize("has_come_back", [False, True])
def test_a_message_that_gets_the_number_of_one_just_moved_stays(
    tmp_path: Path, quick_folder: Path, kind: str, has_come_back: bool
) -> None:
    box = mh(tmp_path / "box", 1, 2)
    where = quick_folder if kind == "elsewhere" else tmp_path
    junk = maildir(where / "junk") if kind == "maildir" else mh(where / "junk")
    stale = list(box.messages())[1]
    later = tmp_path / "box/later"
    later.write_bytes(b"Subject: later\n\nlater\n")
    # another filter moves 2 away when we have looked; what is delivered then is 2
    (tmp_path / "box/2").rename(tmp_path / "2")
    if has_come_back:
        later.rename(tmp_path / "box/2")

    with pytest.raises(FileNotFoundError):
        junk.take(stale.name, stale, NOTHING, is_again=False)

    assert list(junk.messages()) == []
    numbers = [Path(one.name).name for one in box.messages()]
    assert numbers == ["1", "2"][: 1 + has_come_back]
    assert (tmp_path / "box/1").read_bytes() == TEXT
    if has_come_back:
        assert (tmp_path / "box/2").read_bytes() != TEXT


@pytest.mark.parametrize("has_come_back", [False, True])
def test_a_copy_is_taken_back_if_its_message_has_gone_elsewhere(
    tmp_path: Path, quick_folder: Path, has_come_back: bool, monkeypatch: Any
) -> None:
    if tmp_path.stat().st_dev == quick_folder.stat().st_dev:
        pytest.skip("there is one file system only")
    box, junk = mh(tmp_path / "box", 1), mh(quick_folder / "junk")
    durable = durable_files.make_durable

    def another_filter_is_quicker(path: str) -> None:
        durable(path)
        (tmp_path / "box/1").rename(tmp_path / "moved")
        if has_come_back:
            (tmp_path / "box/1").write_bytes(b"Subject: later\n\nlater\n")

    monkeypatch.setattr(_transfer, "make_durable", another_filter_is_quicker)
    moved = move_all(box, [Task(one, junk, NOTHING) for one in box.messages()])

    assert moved == (frozenset(), {}, None)
    assert list(junk.messages()) == []
    assert (tmp_path / "moved").read_bytes() == TEXT
    there = [read_message(box, one, 100) for one in box.messages()]
    assert [one.text for one in there if one] == (
        [b"Subject: later\n\nlater\n"] if has_come_back else []
    )


def test_one_that_may_not_be_moved_does_not_keep_others_waiting(
    tmp_path: Path, monkeypatch: Any
) -> None:
    box = maildir(tmp_path / "box", "new/1.x", "new/2.x", "new/3.x")
    junk = maildir(tmp_path / "junk")
    rename = durable_files.rename_exclusively

    def as_another_user(source: str, target: str) -> None:
        if "2.x" in source:  # another's, in a folder with the sticky bit
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), source)
        rename(source, target)

    monkeypatch.setattr(_transfer, "rename_exclusively", as_another_user)
    tasks = [Task(one, junk, NOTHING) for one in box.messages()]

    moved = move_all(box, tasks)

    assert moved.error is None
    ((name, why),) = moved.refused.items()
    assert name == tasks[1].message.name
    assert "2.x: the message cannot be moved" in str(why)
    assert files(tmp_path / "box") == ["new/2.x"]
    assert len(files(tmp_path / "junk")) == 2


@pytest.mark.parametrize(
    "pair", [("cur/1.x:2,", "cur/1.x:2,S"), ("new/1.x", "cur/1.x:2,S")]
)
def test_of_two_messages_of_one_name_one_gets_another(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    box = maildir(tmp_path / "box", *pair, "new/2.x")

    moved = move_all(box, [Task(one, None, Marks("S")) for one in box.messages()])

    assert moved.error is None
    assert moved.done == {f"{box.path}/{name}" for name in (*pair, "new/2.x")}
    first, fresh, second = files(tmp_path / "box")
    assert (first, second) == ("cur/1.x:2,S", "cur/2.x:2,S")
    assert fresh.endswith(":2,S")


def test_a_message_that_has_both_names_is_refused(tmp_path: Path) -> None:
    """As a client has it that renames by links: it is no second message."""
    box = maildir(tmp_path / "box", "new/1.x")
    (tmp_path / "box/cur/1.x:2,S").hardlink_to(tmp_path / "box/new/1.x")
    there = files(tmp_path / "box")

    moved = move_all(box, [Task(one, None, Marks("S")) for one in box.messages()])

    ((name, refused),) = moved.refused.items()
    assert name == f"{box.path}/new/1.x"
    assert "give one of these two another name" in str(refused)
    assert files(tmp_path / "box") == there


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_copy_of_what_cannot_be_removed_goes(
    tmp_path: Path, monkeypatch: Any, number: int
) -> None:
    box = maildir(tmp_path / "box", "new/1.x")
    junk = maildir(tmp_path / "junk")

    def another_disk(source: str, target: str) -> None:
        if source.startswith(box.path):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source)
        Path(source).rename(target)

    def may_only_be_read(path: str, _: object) -> None:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(_transfer, "rename_exclusively", another_disk)
    monkeypatch.setattr(_transfer, "_remove", may_only_be_read)

    moved = move_all(box, [Task(one, junk, NOTHING) for one in box.messages()])

    error = moved.error or next(iter(moved.refused.values()))
    assert "it is still there" in str(error)
    assert files(tmp_path / "box") == ["new/1.x"]
    assert files(tmp_path / "junk") == []


def test_a_message_put_back_gets_the_next_free_number(
    tmp_path: Path, monkeypatch: Any
) -> None:
    box, junk = mh(tmp_path / "box", 1, 2), mh(tmp_path / "junk")
    stale = next(iter(box.messages()))
    (tmp_path / "box/1").rename(tmp_path / "moved")
    (tmp_path / "box/1").write_bytes(b"Subject: later\n\nlater\n")
    rename = durable_files.rename_exclusively

    def and_another_comes(source: str, target: str) -> None:
        rename(source, target)
        (tmp_path / "box/1").write_bytes(TEXT)
        monkeypatch.setattr(_transfer, "rename_exclusively", rename)

    monkeypatch.setattr(_transfer, "rename_exclusively", and_another_comes)
    with pytest.raises(FileNotFoundError):
        junk.take(stale.name, stale, NOTHING, is_again=False)

    assert list(junk.messages()) == []
    assert (tmp_path / "box/1").read_bytes() == TEXT
    assert (tmp_path / "box/3").read_bytes() == b"Subject: later\n\nlater\n"


def test_a_mark_is_not_given_to_who_has_the_number_now(tmp_path: Path) -> None:
    box = mh(tmp_path / "box", 1)
    (message,) = box.messages()
    box.mark(message, Marks("F"))
    (tmp_path / "box/1").rename(tmp_path / "moved")
    (tmp_path / "box/1").write_bytes(b"Subject: later\n\nlater\n")

    box.settle()

    assert sequences_in(box.path, [1]) == {}


def test_messages_change_between_maildir_and_mh(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "new/1.x", "cur/2.x:2,RS")
    folder = mh(tmp_path / "mh", 4)

    move(box, folder)
    back = maildir(tmp_path / "back")
    move(folder, back)

    flags = sorted(name.partition(":2,")[2] for name in files(tmp_path / "back"))
    assert flags == ["", "RS", "S"]
    assert len([name for name in files(tmp_path / "back") if name[:3] == "new"]) == 1


@pytest.mark.parametrize(
    ("names", "marks"),
    [
        (["seen"], Marks("S")),
        (["\\Flagged", "S"], Marks("FS")),
        (["Junk", "seen", "Junk"], Marks("S", ("Junk",))),
        (["$Junk"], Marks("", ("$Junk",))),
    ],
)
def test_flags_have_names_and_letters(names: list[str], marks: Marks) -> None:
    assert marks_of(names) == marks


@pytest.mark.parametrize("name", ["", "a b", "caf\xe9", "a\nb", "(x)", "k" * 65])
def test_what_can_be_no_keyword_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="a flag was expected"):
        marks_of([name])


@pytest.mark.parametrize(
    "marks", [Marks("T"), Marks("", ("$Junk",)), Marks("", ("cur",))]
)
def test_mh_has_no_place_for_some_flags(tmp_path: Path, marks: Marks) -> None:
    with pytest.raises(SettingsError, match="an MH folder cannot mark"):
        check_marks(mh(tmp_path / "box"), marks)


def test_what_is_no_mailbox_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/some.txt").write_text("text")
    os.mkfifo(tmp_path / "pipe")

    for name, error in (
        ("folder", "neither a Maildir"),
        ("pipe", "a mailbox was expected"),
        ("nothing", "no such file"),
        ("a\0b", "NUL"),
    ):
        with pytest.raises(SourceError, match=error):
            open_mailbox(str(tmp_path / name))


def test_an_empty_folder_is_an_empty_mailbox(tmp_path: Path) -> None:
    assert list(open_mailbox(str(tmp_path)).messages()) == []  # type: ignore[union-attr]  # no mbox


def test_nothing_moves_between_an_mbox_and_other_mailboxes(tmp_path: Path) -> None:
    (tmp_path / "box").write_bytes(b"")
    folder = maildir(tmp_path / "dir")

    with pytest.raises(SettingsError, match="from a Maildir to an mbox"):
        target_of(folder, str(tmp_path / "box"))
    with pytest.raises(SettingsError, match="from an mbox to a Maildir"):
        target_of(open_mailbox(str(tmp_path / "box")), str(tmp_path / "dir"))


def test_a_target_is_made_in_a_folder_that_there_is(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no folder"):
        target_of(maildir(tmp_path / "dir"), str(tmp_path / "no/where"))


@pytest.mark.parametrize("parts", [(), ("new",), ("cur", "tmp")])
def test_a_maildir_of_which_no_more_was_made_is_made_whole(
    tmp_path: Path, parts: tuple[str, ...]
) -> None:
    source = maildir(tmp_path / "box", "new/1.x")
    for path in (tmp_path / "box/.Junk", *(tmp_path / "box/.Junk" / p for p in parts)):
        path.mkdir()

    junk = target_of(source, ".Junk")
    assert isinstance(junk, Maildir)
    move(source, junk)

    assert files(tmp_path / "box/.Junk") == ["new/1.x"]
    (tmp_path / "empty").mkdir()
    assert target_of(mh(tmp_path / "mh"), str(tmp_path / "empty")).kind == "mh"


def test_a_folder_with_other_files_is_made_no_maildir(tmp_path: Path) -> None:
    source = maildir(tmp_path / "box")
    (tmp_path / "other/new").mkdir(parents=True)
    (tmp_path / "other/letter").touch()

    with pytest.raises(SettingsError, match="neither a Maildir"):
        target_of(source, str(tmp_path / "other"))
    assert target_of(source, str(mh(tmp_path / "mh", 1).path)).kind == "mh"


def test_a_home_that_the_shell_has_left_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    target = target_of(maildir(tmp_path / "dir"), "~/junk")

    assert target.path == str(tmp_path / "junk")


@pytest.mark.parametrize(
    "name", ["1700000000.M1.host:2,S", "odd:2,"], ids=["by name", "by file"]
)
def test_when_a_message_was_delivered(tmp_path: Path, name: str) -> None:
    box = maildir(tmp_path / "box", f"cur/{name}")
    os.utime(tmp_path / "box/cur" / name, (1_600_000_000, 1_600_000_000))
    (message,) = box.messages()

    moment = 1_700_000_000 if name[0] == "1" else 1_600_000_000
    assert message.delivery_time() == moment


def test_a_message_that_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box")
    os.mkfifo(tmp_path / "box/new/1.x")
    (message,) = box.messages()

    with pytest.raises(SourceError, match="a message was expected"):
        read_message(box, message, 100)


def test_what_a_crash_has_left_is_removed_after_a_day_and_a_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = maildir(tmp_path / "box")
    folder = mh(tmp_path / "mh", 1)
    left = [Path(box.path, "tmp", _transfer.fresh_name())]
    left.append(Path(folder.path, f".{_transfer.fresh_name()}"))
    left.append(Path(folder.path, f".mh_sequences.lock.nbtext-{'0a' * 6}"))
    left.append(Path(box.path, f"dovecot-uidlist.lock.nbtext-{'0a' * 6}"))
    left.append(Path(box.path, f".dovecot-keywords.{'0a' * 6}.tmp"))
    others = [Path(box.path, "tmp/1.another"), Path(folder.path, ".hidden")]
    others.append(Path(box.path, "dovecot-uidlist"))
    others.append(Path(folder.path, ".mh_sequences.lock.nbtext-mine"))
    for path in (*left, *others):
        path.write_bytes(TEXT[:5])
    for place, path in enumerate(left[:2]):  # what cannot be removed is in the way
        others.append(path.with_name(f"{path.name}.{place}"))
        others[-1].mkdir()

    def filter_again(keyword: str) -> None:
        letters_for(box.path, [keyword])
        box.ensure()
        folder.restore()

    filter_again("Junk")
    assert all(path.exists() for path in left)
    monkeypatch.setattr(_transfer, "ABANDONED", -1)
    filter_again("Other")

    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)


def test_a_message_that_may_not_be_looked_at_is_not_taken_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, target = mh(tmp_path / "mh", 1, 2), mh(tmp_path / "target")
    tasks = [Task(one, target, NOTHING) for one in folder.messages()]
    really = os.lstat

    def refused(path: Any, **more: Any) -> os.stat_result:
        if str(path).endswith("mh/2"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really(path, **more)

    monkeypatch.setattr(os, "lstat", refused)

    with pytest.raises(SourceError, match="mh/2: reading is not permitted"):
        list(folder.messages())
    moved = move_all(folder, tasks)
    assert moved.done == {tasks[0].message.name}
    assert isinstance(moved.error, SourceError)


def test_a_link_that_leads_nowhere_is_said_to_do_so(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box")
    (tmp_path / "box/new/1.x").symlink_to("nowhere")
    (message,) = box.messages()

    with pytest.raises(SourceError, match="the link leads nowhere"):
        read_message(box, message, 100)


def test_a_part_of_a_maildir_that_is_missing_is_an_error(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box")
    (tmp_path / "box/new").rmdir()

    with pytest.raises(MissingSourceError):
        list(box.messages())


def test_messages_are_named_tuples_that_say_where_they_are(tmp_path: Path) -> None:
    box = maildir(tmp_path / "box", "new/1.x")
    (message,) = box.messages()

    assert isinstance(message, Message)
    assert message.name == f"{tmp_path}/box/new/1.x"
    assert message.is_new


def test_sequences_that_are_too_long_to_be_read_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written anew, they would be cut."""
    box = mh(tmp_path / "box", 1, 2, 3, sequences="mine: 1-2\nother: 2-3\n")
    monkeypatch.setattr(_sequences, "LONGEST", 12)

    with pytest.raises(MailboxError, match="File too large; its messages are safe"):
        _sequences.change(str(tmp_path / "box"), lambda: [1, 2, 3], dict.clear)

    with pytest.raises(OSError, match=r"too large: .*/box/\.mh_sequences"):
        sequences_in(str(tmp_path / "box"), [1, 2, 3])
    assert (tmp_path / "box/.mh_sequences").read_text() == "mine: 1-2\nother: 2-3\n"
    assert len([*box.messages()]) == 3


def test_marks_that_an_mh_folder_cannot_keep_are_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, target = mh(tmp_path / "mh", 1, 2), mh(tmp_path / "target")
    first, second = folder.messages()
    tasks = [Task(first, None, marks_of(["junk"])), Task(second, target, NOTHING)]

    def full(path: str, _: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(_sequences, "replace_file", full)
    moved = move_all(folder, tasks)

    assert moved.done == {second.name}
    assert "mh_sequences: cannot be written: No space" in str(moved.error)


def test_a_name_without_a_dot_is_no_new_maildir_where_nobody_looks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    box = maildir(tmp_path / "box")

    with pytest.raises(SettingsError, match=r"write \.Junk for the folder of .*/box"):
        target_of(box, "Junk")

    assert target_of(box, "./Junk").path == "./Junk"
    maildir(tmp_path / "Junk")
    assert target_of(box, "Junk").path == "Junk"


@pytest.mark.parametrize("kind", ["an MH folder", "an mbox"])
def test_a_folder_of_a_maildir_is_no_new_mailbox_of_another_kind_in_a_hidden_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("box").touch()
    box = open_mailbox("box") if kind == "an mbox" else mh(Path("folder"), 1)

    for name in (".Junk", "+junk", "=junk"):
        with pytest.raises(SettingsError, match=rf"write its path, or \./\{name} to"):
            target_of(box, name)

    assert target_of(box, "./.Junk").path == "./.Junk"
    assert target_of(box, "junk").path == "junk"
