"""Which kind of mailbox a path is, and which mailbox a target names."""

import os
import stat
from itertools import chain
from typing import Final, TypeAlias

from nbtext import wording
from nbtext.errors import SettingsError, SourceError
from nbtext.files import open_file
from nbtext.files.mail_locks import quiet_moment
from nbtext.files.reading_at import read_at
from nbtext.filtering.mailboxes import _fields, _sequences
from nbtext.filtering.mailboxes._maildir import (
    FOLDER_FILE,
    SHOWN,
    STAGING,
    Maildir,
)
from nbtext.filtering.mailboxes._mbox import Mbox
from nbtext.filtering.mailboxes._message import Marks
from nbtext.filtering.mailboxes._mh import MH, is_number
from nbtext.sources import SEQUENCES, cannot_read, container_format, is_maildir
from nbtext.sources.mbox import LONGEST_SEPARATOR, is_mbox

Mailbox: TypeAlias = Maildir | MH | Mbox
Folder: TypeAlias = Maildir | MH
"""A mailbox with a file for each message."""

FIRST_LINE: Final = 5.0
"""Maximum seconds to wait for a program that writes the first line of an mbox."""

KINDS: Final = {"maildir": "a Maildir", "mh": "an MH folder", "mbox": "an mbox"}


def open_mailbox(path: str) -> Mailbox:
    """
    Return the mailbox at a path.

    Raises:
        MissingSourceError: there is nothing.
        SourceError: it cannot be read, or is no mailbox.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            return _open_file(path)
        if stat.S_ISDIR(mode):
            return _open_folder(path)
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    raise SourceError(
        f"{path}: a mailbox was expected, and a socket, pipe or device found; name a "
        "Maildir, an MH folder or an mbox"
    )


def target_of(source: Mailbox, name: str) -> Mailbox:
    """
    Return the mailbox to which a user wants to move messages.

    Args:
        source: the mailbox that they are in.
        name: a path; or `.Junk` for that folder of the Maildir that the source is, or
            is a folder of. A mailbox that does not exist is of the source's kind, and
            is made when there is something to move; one called `.mbox` is an mbox. A
            folder without anything, or with a part of a Maildir, becomes a whole one.

    Raises:
        SettingsError: it is no mailbox, or messages cannot be moved there.
    """
    path = os.path.expanduser(name)  # shells leave `spam=~/junk` as it is
    folder = name.rstrip("/")  # procmail's folders end in a slash
    is_folder = "/" not in folder and folder.startswith(".") and folder.strip(".")
    if is_folder and isinstance(source, Maildir):
        path = f"{_root_of(source)}/{folder}"
    _refuse_part(path)
    if isinstance(source, Maildir) and _is_begun(path):
        target: Mailbox = Maildir(path)
    elif os.path.lexists(path):
        try:
            target = open_mailbox(path)
        except SourceError as error:
            raise SettingsError(str(error)) from error
    else:
        parent = os.path.dirname(path.rstrip("/")) or "."
        if not os.path.isdir(parent):
            message = (
                f"{name}: there is no folder {parent} to make it in; make it first"
            )
            raise SettingsError(message)
        is_mbox_by_name = container_format(path) == "mbox"
        # .Junk of a Maildir; +junk and =junk of a mail program's folder for all others
        is_meant_elsewhere = isinstance(source, Maildir) or name[:1] in (".", "+", "=")
        if is_meant_elsewhere and "/" not in path and not is_mbox_by_name:
            raise _not_made(source, name)
        target = Mbox(path) if is_mbox_by_name else type(source)(path)
    if (source.kind == "mbox") != (target.kind == "mbox"):
        kinds = f"{KINDS[source.kind]} to {KINDS[target.kind]}"
        message = (
            f"{source.path}: no message can be moved from {kinds} ({target.path}): an "
            'mbox changes its bytes ("From " lines and their quoting); name another'
        )
        raise SettingsError(message)
    return target


def _is_begun(path: str) -> bool:
    """
    Return whether a folder has nothing that is not of a Maildir.

    A run that was killed, or had no room, may have made no more of it.
    """
    try:
        with os.scandir(path) as entries:
            return all(
                entry.is_dir()
                if entry.name in (*SHOWN, STAGING)
                else entry.name == FOLDER_FILE
                for entry in entries
            )
    except OSError:
        return False


def _refuse_part(path: str) -> None:
    """
    Refuse a folder of which a Maildir is made, where no program looks for another.

    Raises:
        SettingsError: it is one.
    """
    whole, part = os.path.split(os.path.abspath(path))
    parts = (*SHOWN, STAGING)
    if part not in parts or is_maildir(path):
        return
    if all(os.path.isdir(f"{whole}/{one}") for one in parts):
        message = (
            f"{path}: a mailbox was expected, and a part of the Maildir {whole} found; "
            "name that, or another"
        )
        raise SettingsError(message)


def _not_made(source: Mailbox, name: str) -> SettingsError:
    """Say why no mailbox is made in the working directory: nobody would look there."""
    write = "its path"
    if isinstance(source, Maildir):
        write = f".{name} for the folder of {source.path}"
    return SettingsError(
        f"{name}: there is no mailbox of that name in the working directory, where it "
        f"would be made; write {write}, or ./{name} to have it made"
    )


def is_same(first: Mailbox, second: Mailbox) -> bool:
    """Return whether two mailboxes are the same, by whatever names (links, mounts)."""
    try:
        return os.path.samestat(os.stat(first.place), os.stat(second.place))
    except OSError:  # one of them does not exist yet
        return first.place == second.place


def check_owner(mailbox: Mailbox) -> None:
    """
    Refuse root a mailbox that another user owns, or that lies in another's folder.

    That user could put links in its place, or in it, and have root write anywhere.

    Raises:
        SettingsError: it is one.
    """
    if os.geteuid():
        return
    from pathlib import Path  # here, because it takes 3 ms, and few are root

    ways = (Path(os.path.abspath(mailbox.path)), Path(mailbox.place))
    for path in chain.from_iterable((way, *way.parents) for way in ways):
        try:
            uid = os.lstat(path).st_uid
        except OSError:  # it does not exist yet
            continue
        if uid:
            owner = _name_of(uid)
            which = "it" if str(path) == mailbox.path else path
            filtering = wording.call("filtering.filter_mailbox")
            message = (
                f"{mailbox.path}: {which} belongs to {owner}, who could have root "
                f"write anywhere; run `runuser -u {owner} -- {filtering} ...`"
            )
            raise SettingsError(message)


def _name_of(uid: int) -> str:
    import pwd  # only root comes here

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def check_marks(mailbox: Mailbox, marks: Marks) -> None:
    """
    Refuse marks that a mailbox cannot store.

    Raises:
        SettingsError: there is one.
    """
    if isinstance(mailbox, Mbox):
        _fields.check_marks(marks)
    elif isinstance(mailbox, MH):
        _sequences.check_marks(marks)


def _open_file(path: str) -> Mbox:
    descriptor = open_file(path, follow=True)
    try:
        if not _begins_mbox(descriptor):
            # its first line may be half written
            quiet_moment(descriptor, path, FIRST_LINE)
        is_one = _begins_mbox(descriptor)
    finally:
        os.close(descriptor)
    if not is_one:
        raise SourceError(
            f'{path}: an mbox was expected, which begins with a "From " line, and '
            "something else found; name a mailbox"
        )
    return Mbox(path)


def _begins_mbox(descriptor: int) -> bool:
    head = read_at(descriptor, LONGEST_SEPARATOR, 0)
    return not head.strip() or is_mbox(head.lstrip(b"\r\n"))


def _open_folder(path: str) -> Folder:
    if is_maildir(path):
        return Maildir(path)
    names = os.listdir(path)
    are_hidden = all(name.startswith(".") for name in names)
    if are_hidden or SEQUENCES in names or any(map(is_number, names)):
        return MH(path)
    raise SourceError(
        f"{path}: a mailbox was expected, and a folder found that is neither a Maildir "
        "(cur/, new/) nor one of MH (numbered files); name a mailbox"
    )


def _root_of(maildir: Maildir) -> str:
    """
    Return the Maildir that one is a folder of, or itself.

    A leading dot in another Maildir makes a folder (Maildir++): procmail and mkdir(1)
    make them without the file that says so. The other must be the same user's, and
    where nobody else can have made it of a folder that is for all.
    """
    parent, name = os.path.split(maildir.place)
    is_folder = name.startswith(".") or os.path.exists(f"{maildir.path}/{FOLDER_FILE}")
    is_root = is_folder and is_maildir(parent) and _is_of_one(maildir.place, parent)
    return parent if is_root else maildir.path


def _is_of_one(folder: str, parent: str) -> bool:
    """Return whether a Maildir is the same user's as a folder of it, and no others'."""
    parts = (parent, f"{parent}/cur", f"{parent}/new")
    try:
        owner = os.stat(folder).st_uid
        found = [os.lstat(part) for part in parts]
    except OSError:
        return False
    return all(
        status.st_uid == owner and not status.st_mode & stat.S_IWOTH for status in found
    )
