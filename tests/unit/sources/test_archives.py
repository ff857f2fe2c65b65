"""Archives, which hold documents and are not taken apart."""

import bz2
import gzip
import tarfile
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest

from nbtext import train_on
from nbtext.document import Document, Item, Unreadable
from nbtext.sources import Options, documents
from nbtext.tokens.opening import open_documents


def read(source: Path, *, form: str = "auto", data: bytes = b"") -> list[Item]:
    stdin = BytesIO(data) if data else None
    name = "-" if data else str(source)
    found = documents([name], Options(format=form), labelled=False, stdin=stdin)
    problems: list[Item] = []
    return [*open_documents(found, 10**6, problems.append), *problems]


def write(folder: Path, kind: str) -> Path:
    """Write an archive of two texts; its name does not say what it is."""
    path = folder / "archive"
    member = folder.parent / "member.txt"
    member.write_text("a text\n")
    match kind:
        case "ZIP":
            at = 2026, 11, 29, 0, 0, 18  # a tab, among the bytes of a ZIP
            with ZipFile(path, "w") as archive:
                archive.writestr(ZipInfo("1", at), "a text\n")
                archive.writestr(ZipInfo("2", at), "a text\n")
        case "7z" | "RAR":
            magic = {"7z": b"7z\xbc\xaf\x27\x1c", "RAR": b"Rar!\x1a\x07"}
            path.write_bytes(magic[kind] + b"\0" * 100)
        case _:
            form = tarfile.PAX_FORMAT if kind == "w:bz2" else tarfile.GNU_FORMAT
            with tarfile.open(path, kind, format=form) as tar:  # type: ignore[call-overload]
                tar.add(member, "1")
                tar.add(member, "2")
    return path


@pytest.mark.parametrize("where", ["named", "in a folder", "from a pipe"])
@pytest.mark.parametrize("kind", ["ZIP", "7z", "RAR", "w", "w:gz", "w:bz2"])
def test_an_archive_is_refused(tmp_path: Path, kind: str, where: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    path = write(folder, kind)

    data = path.read_bytes() if where == "from a pipe" else b""
    items = read(folder if where == "in a folder" else path, data=data)

    name = "-" if where == "from a pipe" else str(path)
    shown = f"a {'tar' if kind.startswith('w') else kind} archive"
    [item] = items
    assert isinstance(item, Unreadable)
    assert str(item.error).startswith(
        f"{name}: {shown} found, which is not read; unpack it, and name what was in it"
    )


@pytest.mark.parametrize("name", ["rows.csv", "box.mbox", "rows.jsonl"])
def test_an_archive_is_no_table_whatever_it_is_called(
    tmp_path: Path, name: str
) -> None:
    path = write(tmp_path, "ZIP").rename(tmp_path / name)

    [item] = read(path)
    assert isinstance(item, Unreadable)
    assert "a ZIP archive found, which is not read" in str(item.error)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows"])
def test_parquet_is_no_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PAR1\x15\x04\x15\x10\x15\x14a textPAR1")

    [item] = read(path)

    assert isinstance(item, Unreadable)
    assert f"{name}: Parquet found, which is read with client" in str(item.error)
    path.write_bytes(b"PAR1 is how such files begin\n")
    assert name == "rows.csv" or isinstance(read(path)[0], Document)


@pytest.mark.parametrize("where", ["named", "in a folder", "from a pipe"])
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a picture (JPEG)"),
        (b"\x7fELF\2\1\1\0\0", "a program (ELF)"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "a document of Microsoft Office"),
    ],
)
def test_what_is_no_text_is_refused(
    tmp_path: Path, data: bytes, what: str, where: str
) -> None:
    path = tmp_path / "in" / "file"
    path.parent.mkdir()
    path.write_bytes(data)
    piped = data if where == "from a pipe" else b""

    [item] = read(path.parent if where == "in a folder" else path, data=piped)

    assert isinstance(item, Unreadable)
    assert str(item.error).startswith(
        f"{'-' if piped else path}: mail or text was expected, and {what} found; save "
    )
    [item] = read(path, form="text", data=piped)
    assert isinstance(item, Document)


@pytest.mark.parametrize("where", ["named", "in a folder", "from a pipe"])
def test_a_model_is_no_document(tmp_path: Path, where: str) -> None:
    path = tmp_path / "in" / "model"  # of another suffix than its own
    path.parent.mkdir()
    train_on([("sport", "a goal"), ("arts", "a stage")], tmp_path / "mail.nbt")
    data = (tmp_path / "mail.nbt").read_bytes()
    path.write_bytes(data)
    piped = data if where == "from a pipe" else b""

    [item] = read(path.parent if where == "in a folder" else path, data=piped)

    assert isinstance(item, Unreadable)
    assert "a model of nbtext found; give it with model, or" in str(item.error)
    path.write_bytes(data[:3] + b"other" + data[8:])
    [item] = read(path)
    assert isinstance(item, Document)


@pytest.mark.parametrize("where", ["named", "in a folder", "from a pipe"])
@pytest.mark.parametrize("name", ["mail", "mail.gz.gz", "rows.csv.gz", "box.mbox"])
def test_what_is_compressed_twice_is_refused(
    tmp_path: Path, name: str, where: str
) -> None:
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(gzip.compress(bz2.compress(b"label,text\nspam,win\n")))

    data = path.read_bytes() if where == "from a pipe" else b""
    items = read(path.parent if where == "in a folder" else path, data=data)

    [item] = items
    assert isinstance(item, Unreadable)
    assert str(item.error) == (
        f"{path if where != 'from a pipe' else '-'}: bzip2 data found in compressed "
        "data, and only one compression is undone; decompress it once before"
    )


def test_what_is_called_a_text_is_one(tmp_path: Path) -> None:
    [item] = read(write(tmp_path, "ZIP"), form="text")

    assert isinstance(item, Document)


def test_a_text_that_speaks_of_tar_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"x" * 257 + b"ustar is the name of a format")

    assert [type(item) for item in read(path)] == [Document]


@pytest.mark.parametrize("magic", [b"ustar  \0", b"ustar\x0000"])
@pytest.mark.parametrize("source", ["named", "from a pipe"])
def test_a_mail_that_imitates_a_tar_archive_is_none(
    tmp_path: Path, source: str, magic: bytes
) -> None:
    path = tmp_path / "mail"
    header = (b"Received: from a by b;" + b" x" * 200)[:257]
    mail = header + magic + b"\nSubject: offer\n\n" + b"text\n" * 99
    path.write_bytes(mail)

    items = read(path, data=mail if source == "from a pipe" else b"")

    assert [type(item) for item in items] == [Document]
