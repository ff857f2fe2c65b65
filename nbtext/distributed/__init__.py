"""
Many machines: sources are read and counted where a Dask cluster runs the work.

In: sources that the workers can read, and a connection to a scheduler that exists
already. Out: the model file, or the decisions, that one machine makes of them, byte for
byte but for dates. Scheduling, transport and what becomes of the work of a machine that
dies are Dask's; here is what is sent to it. It takes the extra `dask`.

    from nbtext.distributed import connected, train

    with connected("tcp://scheduler:8786") as client:
        train(["spam/", "ham/"], client, "mail.nbt")
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.distributed.connecting import connected
    from nbtext.distributed.training import train

__all__ = ["connected", "train"]

_HOMES: Final = {"connecting": ["connected"], "training": ["train"]}

__getattr__ = lazy_face(__name__, _HOMES)
