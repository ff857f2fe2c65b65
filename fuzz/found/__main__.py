"""Replace the inputs that were found: `python -m fuzz.found mail FOLDER`."""

import sys
from pathlib import Path

from fuzz.found import pack

if __name__ == "__main__":
    _, target, folder = sys.argv
    pack("model" if target == "model" else "mail", Path(folder))
