"""
Inputs that the native fuzzers have found, all of them grown from seeds of nbtext's own.

They are the smallest that together reach all edges of the compiled readers that were
reached: `python -m fuzz.native mail --minimise --seeds FOLDER --kept FEW`, and
`python -m fuzz.found mail FEW` to put them here. Models among them have checksums that
do not fit: `fuzz.mutation` makes them fit, `fuzz.native` does not look at them.
"""

from pathlib import Path
from typing import Final, Literal
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

Target = Literal["mail", "model"]

OWN: Final = Path(__file__).parent


def inputs(target: Target) -> list[bytes]:
    """Return the inputs of a target, in the order of their names."""
    with ZipFile(OWN / f"{target}.zip") as found:
        return [found.read(name) for name in sorted(found.namelist())]


def pack(target: Target, folder: Path) -> None:
    """Replace the inputs of a target by the files of a folder."""
    with ZipFile(OWN / f"{target}.zip", "w", ZIP_DEFLATED, compresslevel=9) as found:
        for path in sorted(folder.glob("[0-9a-f]*")):
            # without the time, so that the same inputs are the same file
            found.writestr(ZipInfo(path.name), path.read_bytes(), ZIP_DEFLATED)
