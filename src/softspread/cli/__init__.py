"""The command line: `app` lists the commands, `runner` does what they share, `commands` holds one each."""
