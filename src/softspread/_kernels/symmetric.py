"""Loops that add a sparse matrix to its transpose; both are given by rows: starts, columns and entries."""

import numpy as np

from softspread._kernels.system import compiled_as_written


@compiled_as_written
def transpose_rows(rows, turned):
    """The transpose of ``rows`` in ``turned``, whose columns ascend: a counting sort."""
    starts, columns, entries = rows
    turned_starts, turned_columns, turned_entries = turned
    turned_starts[:] = 0
    for column in columns:
        turned_starts[np.int64(column) + 1] += 1
    for row in range(1, len(turned_starts)):
        turned_starts[row] += turned_starts[row - 1]
    places = turned_starts.copy()
    for row in range(len(starts) - 1):
        for edge in range(starts[row], starts[row + 1]):
            place = places[columns[edge]]
            turned_columns[place] = row
            turned_entries[place] = entries[edge]
            places[columns[edge]] = place + 1


@compiled_as_written
def add_rows(one, other, first, last, counts, total):
    """Sums of rows ``first`` to ``last`` of two matrices whose columns ascend; a column may come twice.

    Where ``total`` has no room they are only counted, else they begin at its starts. Which row holds the next
    column is a matter of chance: it is chosen without a jump, which the processor would guess wrong.
    """
    starts, columns, entries = one
    other_starts, other_columns, other_entries = other
    total_starts, total_columns, total_entries = total
    fill, after_all = len(total_columns) > 0, np.int64(len(starts))
    end_of_all, other_end_of_all = len(columns) - 1, len(other_columns) - 1
    for row in range(first, last):
        i, end = starts[row], starts[row + 1]
        j, other_end = other_starts[row], other_starts[row + 1]
        here, before = np.int64(total_starts[row]) - 1, np.int64(-1)
        begun = here
        while i < end or j < other_end:
            i_in, j_in = min(i, end_of_all), min(j, other_end_of_all)
            left, right = np.int64(columns[i_in]), np.int64(other_columns[j_in])
            left = left if i < end else after_all
            right = right if j < other_end else after_all
            column = min(left, right)
            here += column != before
            if fill:
                entry, other_entry = entries[i_in], other_entries[j_in]
                entry = entry if left == column else 0.0
                other_entry = other_entry if right == column else 0.0
                if column == before:
                    total_entries[here] += entry + other_entry
                else:
                    total_columns[here] = column
                    total_entries[here] = entry + other_entry
            i += left == column
            j += right == column
            before = column
        counts[row] = here - begun
