"""How fast and how exact, measured side by side on this machine; `python -m benchmarks`."""
