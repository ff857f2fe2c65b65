"""Which tokenizer is used, and that whoever asks is told."""

import sys
from collections.abc import Iterator

import pytest

from nbtext.settings.views import BODY
from nbtext.tokens import compiled
from nbtext.tokens.engine import COMPILED, PLAIN, best, document_keys, engine, keys, use
from nbtext.tokens.tokenizer import BASE, MIX, PAIR, SPREAD

needs_compiled = pytest.mark.skipif(
    best() != COMPILED, reason="nbtext was installed without a C compiler"
)


@pytest.fixture(autouse=True)
def decided_again() -> Iterator[None]:
    best.cache_clear()
    yield
    best.cache_clear()
    use(None)


@needs_compiled
@pytest.mark.parametrize("made_with", [None, (), (0, BASE, SPREAD, PAIR, MIX)])
def test_an_extension_of_another_nbtext_is_not_used(
    made_with: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext._compiled.CONSTANTS", made_with)

    assert not engine().is_compiled
    assert engine().description == (
        "plain Python: the compiled extension belongs to another version of nbtext"
    )


def test_without_an_extension_the_plain_tokenizer_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "nbtext._compiled", None)  # as if it were missing

    assert engine().description == "plain Python: no compiled extension"
    assert not engine().is_compiled


def test_an_extension_that_cannot_be_loaded_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: str) -> None:
        raise ImportError("no libc")

    monkeypatch.setattr(compiled, "import_module", fail)

    assert engine().description == (
        "plain Python: the compiled extension cannot be loaded: no libc"
    )


def test_the_tokenizer_can_be_chosen() -> None:
    use(PLAIN)
    assert engine() == PLAIN

    use(None)
    assert engine() == best()


@needs_compiled
def test_only_the_chosen_tokenizer_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "document_keys", None)  # which cannot be called
    fields = [("body", "two words")]
    use(PLAIN)

    assert len(list(keys(BODY, fields))) == 3
    assert len(document_keys(BODY, [fields])[0]) == 3

    use(COMPILED)
    with pytest.raises(TypeError):
        keys(BODY, fields)
    with pytest.raises(TypeError):
        document_keys(BODY, [fields])
