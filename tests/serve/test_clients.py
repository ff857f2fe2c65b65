"""Clients that no one here wrote complete all verbs: two of SpamAssassin, aiospamc."""

import asyncio
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.serve.conftest import Mails, Server, Start

SPAMC = shutil.which("spamc")
PERL = shutil.which("perl")

CLIENT = r"""
use strict; use warnings;
use Mail::SpamAssassin::Client;
my ($path, $verb, $argument) = @ARGV;
my $message = do { local $/; <STDIN> };
my $client = Mail::SpamAssassin::Client->new({socketpath => $path, username => 'me'});
my $found = defined $argument ? $client->$verb($message, $argument)
    : $verb eq 'ping' ? $client->ping() : $client->$verb($message);
if (ref $found) { print join('|', map { $found->{$_} // '' }
    qw(isspam score threshold content_length message)); }
else { print $found ? 'yes' : 'no'; }
"""


def has_perl_client() -> bool:
    if PERL is None:
        return False
    asked = subprocess.run(
        [PERL, "-MMail::SpamAssassin::Client", "-e", "1"],
        capture_output=True,
        check=False,
    )
    return asked.returncode == 0


with_spamc = pytest.mark.skipif(SPAMC is None, reason="spamc is not installed")
with_perl = pytest.mark.skipif(
    not has_perl_client(), reason="Mail::SpamAssassin::Client is not installed"
)


def spamc(server: "Server", message: bytes, *options: str) -> tuple[int, bytes]:
    """Run spamc; return its exit status and what it prints."""
    done = subprocess.run(
        ["spamc", "-l", "-U", server.path, *options],
        input=message,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stderr == b""
    return done.returncode, done.stdout


@pytest.mark.recipes
@with_spamc
def test_spamc_checks(server: "Server", mails: "Mails") -> None:
    status, said = spamc(server, mails.spam, "-c")
    points, _, required = said.partition(b"/")
    assert (status, required) == (1, b"5.0\n")
    assert float(points) >= 5

    status, said = spamc(server, mails.ham, "-c")
    assert status == 0
    assert float(said.partition(b"/")[0]) < 5


@pytest.mark.recipes
@with_spamc
def test_spamc_passes_messages_through(server: "Server", mails: "Mails") -> None:
    for message, is_spam in ((mails.spam, True), (mails.ham, False)):
        status, passed = spamc(server, message)
        exit_status, again = spamc(server, message, "-E")
        with_headers = spamc(server, message, "--headers")

        start, _, rest = passed.partition(b"X-NBText: ")
        assert (status, exit_status) == (0, is_spam)
        assert again == passed
        assert with_headers == (0, passed)
        assert message.startswith(start)
        assert rest.endswith(message[len(start) :])
        assert (b"\nX-Spam-Flag: YES\n" in passed) == is_spam


@pytest.mark.recipes
@with_spamc
def test_spamc_prints_tests_and_reports(server: "Server", mails: "Mails") -> None:
    assert spamc(server, mails.spam, "-y")[1].startswith(b"NBTEXT_SPAM,NBTEXT_")
    status, report = spamc(server, mails.spam, "-R")
    assert (status, spamc(server, mails.spam, "-r")[1]) == (0, report)
    first, _, rest = report.partition(b"\n")
    assert first == spamc(server, mails.spam, "-c")[1].strip()
    assert b"points, 5.0 required" in rest
    assert b"not spam" in spamc(server, mails.ham, "-R")[1]
    assert b"points" not in spamc(server, mails.ham, "-r")[1]


@pytest.mark.recipes
@with_spamc
def test_spamc_pings(server: "Server", mails: "Mails") -> None:
    assert spamc(server, mails.ham, "-K") == (0, b"SPAMD/1.5 0\n")


@pytest.mark.recipes
@with_spamc
def test_spamc_comes_over_tcp(server: "Server", mails: "Mails") -> None:
    options = ["-d", "127.0.0.1", "-p", str(server.port), "-c"]
    done = subprocess.run(
        ["spamc", "-l", *options], input=mails.spam, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.recipes
@with_spamc
def test_spamc_teaches(start: "Start", mails: "Mails") -> None:
    server = start()
    done, known = (
        b"Message successfully un/learned\n",
        b"Message was already un/learned\n",
    )

    said = [
        spamc(server, mails.ham, "-L", kind)
        for kind in ("spam", "spam", "ham", "forget", "forget")
    ]

    assert said == [(0, done), (0, known), (0, done), (0, done), (0, known)]


@pytest.mark.recipes
@with_spamc
def test_spamc_does_not_take_a_failure_for_done(start: "Start", mails: "Mails") -> None:
    server = start()
    server.path.parent.chmod(0o755)
    server.model.unlink()

    status, said = spamc(server, mails.ham, "-L", "spam")

    assert status not in (0, 1)
    assert b"learned" not in said


@pytest.mark.recipes
@with_spamc
@pytest.mark.parametrize(
    ("message", "has_end"),
    [
        pytest.param(b"a: b\r\n\r\n" + bytes(range(1, 256)) * 9, True, id="all bytes"),
        pytest.param(b"a: b\n\r\nx\n\ny", True, id="odd ends of lines"),
        pytest.param(b"no header, and no line", False, id="text"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_spamc_loses_no_byte(server: "Server", message: bytes, has_end: bool) -> None:
    whole = spamc(server, message)[1]

    start = whole.partition(b"X-NBText: ")[0]
    assert message.startswith(start)
    assert whole.endswith(message[len(start) :])
    if has_end:  # spamc takes no other with --headers
        assert spamc(server, message, "--headers")[1] == whole


@pytest.mark.recipes
@with_spamc
def test_spamc_passes_what_is_too_large_as_it_is(
    start: "Start", mails: "Mails"
) -> None:
    server = start("--max-size", "10k")
    large = mails.spam + b"word\n" * 9999

    assert spamc(server, large) == (0, large)
    assert spamc(server, large, "-x")[0] == 74
    assert spamc(server, mails.spam, "-c")[0] == 1


def perl(server: "Server", message: bytes, *arguments: str) -> str:
    done = subprocess.run(
        ["perl", "-e", CLIENT, server.path, *arguments],
        input=message,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stderr == b""
    return done.stdout.decode("latin-1")


@pytest.mark.recipes
@with_perl
def test_the_client_of_spamassassin_completes_all_verbs(
    start: "Start", mails: "Mails"
) -> None:
    server = start()

    assert perl(server, b"", "ping") == "yes"
    for verb in ("check", "process", "headers", "spam_report", "spam_report_ifspam"):
        for message, is_spam in ((mails.spam, "True"), (mails.ham, "False")):
            found, points, required, *_ = perl(server, message, verb).split("|")
            assert (found, float(required)) == (is_spam, 5.0), verb
            assert (float(points) >= 5) == (is_spam == "True")
    assert "X-Spam-Flag: YES" in perl(server, mails.spam, "process")
    # 0 is spam, 1 ham, 2 forget
    taught = [perl(server, mails.ham, "learn", kind) for kind in "00122"]
    assert taught == ["yes", "no", "yes", "yes", "no"]
    assert perl(server, mails.ham, "report") == "no"  # to nobody; it is learnt here
    assert perl(server, mails.ham, "revoke") == "no"


def test_aiospamc_completes_all_verbs(start: "Start", mails: "Mails") -> None:
    aiospamc = pytest.importorskip("aiospamc", reason="pip install aiospamc")
    server = start()

    async def ask() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for verb in ("check", "headers", "process", "report", "report_if_spam",
                     "symbols"):  # fmt: skip
            for compress in (False, True):
                answer = await getattr(aiospamc, verb)(
                    mails.spam, socket_path=server.path, compress=compress
                )
                found[f"{verb} {compress}"] = answer
        found["ping"] = await aiospamc.ping(host="127.0.0.1", port=server.port)
        for action in ("set_action", "remove_action"):
            found[action] = await aiospamc.tell(
                mails.ham, "spam", socket_path=server.path, **{action: "local"}
            )
        return found

    found = asyncio.run(ask())

    assert found["ping"].message == "PONG"
    for name, answer in found.items():
        assert answer.status_code == 0, name
        if name.endswith(("True", "False")):
            assert answer.headers.spam.value is True, name
            assert answer.headers.spam.score >= answer.headers.spam.threshold == 5
    assert b"X-Spam-Flag: YES" in found["process True"].body
    assert found["process True"].body == found["process False"].body
    assert found["set_action"].headers.did_set.local
    assert found["remove_action"].headers.did_remove.local
