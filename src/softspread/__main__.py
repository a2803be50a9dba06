"""``python -m softspread`` is the command ``softspread``."""

from softspread.cli.app import main

if __name__ == "__main__":
    main()
