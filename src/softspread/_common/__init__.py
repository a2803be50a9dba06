"""What every room uses: types, input checks, threads, files that appear whole."""
