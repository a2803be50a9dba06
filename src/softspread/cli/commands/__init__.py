"""One module per command; each holds a function that `softspread.cli.app` registers."""
