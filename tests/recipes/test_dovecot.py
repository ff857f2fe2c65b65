"""docs/recipes/dovecot.md, with a Dovecot of our own on the loopback device."""

from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import DEMO, SURE_SPAM, TRAINED, after, field

if TYPE_CHECKING:
    from tests.recipes.conftest import Same
    from tests.recipes.servers import Dovecot

pytestmark = pytest.mark.recipes


def test_spam_is_filed_at_delivery_and_ham_is_not(
    dovecot: "Dovecot", spam: bytes, ham: bytes, same: "Same"
) -> None:
    dovecot.deliver(spam)
    dovecot.deliver(ham)

    (filed,), (kept,) = dovecot.fetch("Junk"), dovecot.fetch("INBOX")
    assert field(filed) == SURE_SPAM
    assert field(kept) == same.field_of(kept)
    assert filed.endswith(spam.partition(b"\n\n")[2])
    assert dovecot.home.counts() == TRAINED  # delivery teaches nothing


def test_a_forged_field_does_not_pull_spam_out_of_junk(
    dovecot: "Dovecot", spam: bytes
) -> None:
    dovecot.deliver(b"X-NBText: ham, probability=0.9999\n" + spam)

    (filed,) = dovecot.fetch("Junk")
    assert field(filed) == SURE_SPAM


@pytest.mark.parametrize("how", ["copy", "move"])
def test_what_is_moved_into_junk_and_back_is_learnt_and_moves(
    dovecot: "Dovecot", ham: bytes, how: str
) -> None:
    dovecot.append("INBOX", ham)
    assert dovecot.home.counts() == TRAINED

    dovecot.move("INBOX", "Junk", how)
    assert dovecot.home.counts() == after(spam=1)
    dovecot.move("Junk", "Archive", how)

    assert dovecot.home.counts() == after(ham=1)
    assert dovecot.fetch("Junk") == []
    assert dovecot.fetch("Archive") == [ham]


def test_a_message_is_learnt_once_however_often_it_is_moved(
    dovecot: "Dovecot", ham: bytes, spam: bytes
) -> None:
    for message in (ham, ham, spam):
        dovecot.append("INBOX", message)

    dovecot.move("INBOX", "Junk", "copy", keep=True)
    dovecot.move("INBOX", "Junk", "move")

    assert dovecot.home.counts() == after(spam=2)
    assert len(dovecot.fetch("Junk")) == 6


@pytest.mark.parametrize("how", ["copy", "move"])
def test_what_is_deleted_from_junk_is_not_learnt(
    dovecot: "Dovecot", spam: bytes, how: str
) -> None:
    dovecot.deliver(spam)

    dovecot.move("Junk", "Trash", how)

    assert len(dovecot.fetch("Trash")) == 1
    assert dovecot.home.counts() == TRAINED


def test_other_moves_are_not_learnt(dovecot: "Dovecot", ham: bytes) -> None:
    dovecot.append("INBOX", ham)

    dovecot.move("INBOX", "Archive", "move")
    dovecot.move("Archive", "Trash", "copy")

    assert dovecot.home.counts() == TRAINED


def test_what_is_appended_to_junk_is_learnt(dovecot: "Dovecot", ham: bytes) -> None:
    dovecot.append("Junk", ham)

    assert dovecot.home.counts() == after(spam=1)


def test_without_a_model_mail_arrives_and_moves(
    dovecot: "Dovecot", spam: bytes
) -> None:
    dovecot.home.model.unlink()

    dovecot.deliver(spam)
    (kept,) = dovecot.fetch("INBOX")
    dovecot.move("INBOX", "Junk", "move")

    assert field(kept) is None
    assert dovecot.fetch("Junk") == [kept]
    assert not dovecot.home.model.exists()
    assert "no model there" in dovecot.log()


@pytest.mark.parametrize("with_model", [True, False])
def test_the_users_own_script_is_run_afterwards(
    dovecot: "Dovecot", ham: bytes, with_model: bool
) -> None:
    own = 'require ["fileinto"];\nfileinto "Archive";\n'
    script = dovecot.home.write(".dovecot.sieve", own)
    if not with_model:
        dovecot.home.model.unlink()

    dovecot.deliver(ham)

    script.unlink()
    (kept,) = dovecot.fetch("Archive")
    assert (field(kept) is not None) == with_model


def test_lda_delivers_like_lmtp(
    dovecot: "Dovecot", spam: bytes, ham: bytes, same: "Same"
) -> None:
    for message in (spam, ham):
        dovecot.deliver_with_lda(message)

    (filed,), (kept,) = dovecot.fetch("Junk"), dovecot.fetch("INBOX")
    assert field(filed) == SURE_SPAM
    same.assert_same(spam, filed)
    same.assert_same(ham, kept)


@pytest.mark.parametrize(
    "path",
    [
        "check/ham/01-list-reply.eml",
        "check/spam/02-pharmacy-obfuscated-base64.eml",
        "ham/40-broken-raw-8bit-header.eml",
        "spam/22-broken-missing-blank-line.eml",
    ],
)
def test_a_message_is_the_same_when_it_is_filtered_and_where_it_is_kept(
    dovecot: "Dovecot", same: "Same", path: str
) -> None:
    message = (DEMO / path).read_bytes()

    seen = dovecot.seen_at_delivery(message)

    (after,) = dovecot.fetch("INBOX") + dovecot.fetch("Junk")
    same.assert_same(seen, after)


def test_the_scripts_compile_without_a_warning(dovecot: "Dovecot") -> None:
    for script in sorted((dovecot.home.path / "etc" / "sieve").glob("*.sieve")):
        done = dovecot.compile(script)

        assert (done.status, done.err) == (0, "")
