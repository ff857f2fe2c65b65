"""Threads of a program, such as a web service, share one opened model."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from nbtext import Decision, classify, load, train

DEMO = Path(__file__).parents[2] / "corpora/demo"
THREADS = 6


def test_threads_that_share_a_model_decide_as_one_alone(tmp_path: Path) -> None:
    train([f"{DEMO}/spam", f"{DEMO}/ham"], tmp_path / "mail.nbt")
    messages = [path.read_bytes() for path in sorted(DEMO.glob("check/*/*.eml"))]
    alone = load(tmp_path / "mail.nbt")
    expected = [classify(alone, message).posterior for message in messages]
    shared = load(tmp_path / "mail.nbt")
    together = Barrier(THREADS)

    def decided(thread: int) -> list[Decision]:
        together.wait()
        if thread % 2:
            shared.explain(messages[thread])
        return [classify(shared, message) for message in messages]

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(decided, range(THREADS)))

    for decisions in found:
        assert [decision.posterior for decision in decisions] == expected
