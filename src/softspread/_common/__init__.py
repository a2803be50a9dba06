"""Shared by all rooms: types, input checks, threads, files that appear whole."""
