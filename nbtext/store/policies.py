"""
The policy of a model file, which is that of its last table.

An open model file and a policy go in; the bytes of a file come out that differs in the
header of its last table and in nothing else. So its tables stand where they stood, and
the last change of the model can still be taken back.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from nbtext.store.blocks import Buffer
from nbtext.store.file import ModelFile
from nbtext.store.schema import TYPES
from nbtext.store.table import StoredTable
from nbtext.store.writing import pack

if TYPE_CHECKING:
    from nbtext.policy import Policy

KINDS: Final[dict[str, str]] = {code: kind for kind, code in TYPES.items()}
"""The type of an array in a file, by what `memoryview` calls it."""


def with_policy(
    file: ModelFile, tables: Sequence[StoredTable], policy: "Policy | None"
) -> Iterator[Buffer]:
    """
    Yield the bytes of a model file of some tables, the last of which has a policy.

    Args:
        file: the file.
        tables: the first ones of its tables, at least one.
        policy: the policy; None for none.

    Raises:
        DamagedError: the last of these tables is not as it was written.
        ModelWriteError: its header has no room for the policy.
    """
    last = tables[-1]
    if policy == last.header.policy:
        yield file.contents[: last.offset + last.length]
        return
    last.arrays.verify_all()  # its blocks get new checksums
    contents = last.arrays.contents()  # behind those that have names, the checksums
    arrays: dict[str, tuple[str, Buffer]] = {
        name: (KINDS[last.arrays.unverified(name).format], part)
        for name, part in zip(last.arrays, contents, strict=False)
    }
    yield file.contents[: last.offset]
    yield from pack(last.header._replace(policy=policy), arrays)
