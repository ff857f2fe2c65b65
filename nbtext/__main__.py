"""`python -m nbtext` is `nbtext`."""

from nbtext.cli import main

if __name__ == "__main__":
    main()
