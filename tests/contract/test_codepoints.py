"""
The committed table of code points is what the script makes, but for newer Unicode.

A newer `regex` knows characters that were unassigned when the table was made, and now
and then corrects a property; so differences are allowed where Python 3.11 (Unicode
14) knows no character, or where they are listed here.
"""

import unicodedata
from collections.abc import Iterator

import pytest

from nbtext.tokens import codepoints
from scripts.make_codepoints import generate

CORRECTED: set[int] = set()
"""Code points whose property a later Unicode changed."""

UNICODE_14 = unicodedata.unidata_version.startswith("14.")


@pytest.fixture(scope="module")
def generated(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[codepoints.Blocks, codepoints.Blocks]]:
    path = tmp_path_factory.mktemp("table") / "table.bin"
    path.write_bytes(generate())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codepoints, "_TABLE", str(path))
        yield codepoints._load()


def rows(table: codepoints.Blocks) -> list[int]:
    return [table[code] for code in range(codepoints.N_CODE_POINTS)]


def is_newer(code: int) -> bool:
    return unicodedata.category(chr(code)) == "Cn" or code in CORRECTED


def test_classes_are_those_of_the_properties(
    generated: tuple[codepoints.Blocks, codepoints.Blocks],
) -> None:
    pairs = zip(rows(codepoints.classes()), rows(generated[0]), strict=True)

    different = [code for code, (old, new) in enumerate(pairs) if old != new]

    assert [hex(code) for code in different if not is_newer(code)] == []


@pytest.mark.skipif(not UNICODE_14, reason="folding was made by Python with Unicode 14")
def test_folding_is_that_of_unicode_14(
    generated: tuple[codepoints.Blocks, codepoints.Blocks],
) -> None:
    assert rows(codepoints.offsets()) == rows(generated[1])


def test_the_table_says_nothing_of_what_did_not_exist() -> None:
    unassigned = [
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) == "Cn" and code & 0xFFFE == 0xFFFE
    ]

    assert {codepoints.classes()[code] for code in unassigned} == {codepoints.SPACE}
