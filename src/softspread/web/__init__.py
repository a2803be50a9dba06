"""The voting page: people vote, soft labels move.

browser -> routes -> service -> writer (append-only log, group commit) -> live state (diffusion) -> dashboard

The log in the database is the truth. Everything else here (mass, queue, leases, snapshots) can be rebuilt
from it.
"""
