from hashlib import blake2b
from pathlib import Path

import pytest

from nbtext.constants import CODE_POINTS
from nbtext.tokens import codepoints
from nbtext.tokens.codepoints import BRACKET, PICTURE, PUNCTUATION, SINGLE, SPACE, WORD
from scripts.make_codepoints import generate


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        pytest.param(" \t\n\r\x00\x1f\x7f\x85\xa0\u2028\u3000", SPACE, id="space"),
        pytest.param("\ud800\udfff\ufffe\U0010ffff", SPACE, id="no characters"),
        pytest.param('<>,;()"[]{}', BRACKET, id="brackets"),
        pytest.param("!#$%&'*+-./:=?@\\^_`|~", PUNCTUATION, id="ASCII marks"),
        pytest.param(
            "€£«»…—©®№←★\U0001f3fd\u200d\u200b\ufeff", PUNCTUATION, id="marks"
        ),
        pytest.param("😀👍❤☀♥⚽✈🇩™‼", PICTURE, id="emoji"),
        pytest.param("azAZ09", WORD, id="ASCII words"),
        pytest.param("äßçøŁİẞЖωאعहि²½Ⅷ한", WORD, id="words"),
        pytest.param("\u0301\u094d\u20e3", WORD, id="combining marks"),
        pytest.param("中文々〇ひカ", SINGLE, id="Han and kana"),
        pytest.param("กำລກខမ", SINGLE, id="Thai, Lao, Khmer, Myanmar"),
        pytest.param("。「」、〜", PUNCTUATION, id="CJK marks"),
    ],
)
def test_each_character_has_its_class(characters: str, expected: int) -> None:
    found = {c: codepoints.classes()[ord(c)] for c in characters}

    assert found == dict.fromkeys(characters, expected)


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        *[
            ("A", "a"),
            ("Z", "z"),
            ("a", "a"),
            ("1", "1"),
            ("Ä", "ä"),
            ("\u03a3", "\u03c3"),
        ],
        *[("ẞ", "ß"), ("ß", "ß"), ("\u212a", "k"), ("\u212b", "å"), ("Ǆ", "ǆ")],
        *[
            ("İ", "i"),
            ("\u0131", "\u0131"),
            ("𐐀", "𐐨"),
            ("中", "中"),
            ("\ud800", "\ud800"),
        ],
    ],
)
def test_folding_is_one_to_one_code_point(upper: str, lower: str) -> None:
    assert ord(upper) + codepoints.offsets()[ord(upper)] == ord(lower)


def test_the_table_of_version_3_never_changes() -> None:
    table = Path(codepoints.__file__).with_name("codepoints-3.bin").read_bytes()

    assert (
        blake2b(table, digest_size=16).hexdigest() == "2e702c85435a7f9917c8a783863471d2"
    )
    assert CODE_POINTS == 3


def test_generating_gives_a_table_of_the_same_make() -> None:
    # newer properties may class newer characters; those of Latin-1 are settled
    table = generate()
    n_classes = int.from_bytes(table[:2], "little")
    n_offsets = int.from_bytes(table[2:4], "little")
    blocks = table[4 + codepoints.N_BLOCKS :]

    assert list(blocks[:256]) == [codepoints.classes()[code] for code in range(256)]
    assert len(table) == 4 + 2 * codepoints.N_BLOCKS + 256 * (n_classes + 4 * n_offsets)
