"""What a run needs is said and checked before it starts."""

import pytest

from softspread.blocks.plan import check_disk, parse_size, plan
from softspread.errors import InputError, StoreError


@pytest.mark.parametrize("text", ["", "GB", "-3GB", "8XB", "1.2.3GB", "eight"])
def test_a_limit_that_is_no_size_is_refused(text):
    """With an example of one that is."""
    with pytest.raises(InputError, match="like 8GB or 512MB"):
        parse_size(text)


def test_less_memory_means_smaller_blocks_down_to_a_least():
    """Below it the error says how much is needed."""
    sizes = [plan(10**7, 20, 20, 10, limit).block_items for limit in (10**9, 2 * 10**9, 8 * 10**9)]
    assert sizes[0] < sizes[1] <= sizes[2] <= 100_000
    with pytest.raises(InputError, match=r"at least 0\.6GB, got 0\.1GB"):
        plan(10**7, 20, 20, 10, 10**8)


def test_what_is_read_at_once_fits_too():
    """Wide vectors come in smaller chunks and groups, within half of what libraries leave."""
    for n_dimensions, limit in ((20, 12 * 10**9), (768, 8 * 10**9), (768, 2 * 10**9)):
        need = plan(10**8, n_dimensions, 20, 10, limit)
        for n_rows in (need.chunk_items, need.group_cells * need.block_items):
            assert n_rows * 4 * n_dimensions < limit / 2
        assert need.chunk_items >= 1000
        assert need.group_cells >= 1


def test_memory_counts_the_rows_that_a_solve_keeps():
    """As far as there is room for them; beyond, they stay on disk."""
    small, large = (plan(n, 20, 15, 10, 12 * 10**9).memory_bytes for n in (10**6, 10**7))
    assert small < large < 12 * 10**9
    assert plan(10**9, 20, 15, 10, 12 * 10**9).memory_bytes <= 12 * 10**9


def test_a_disk_with_too_little_room_is_refused(tmp_path):
    """Before any work, with both numbers; what is there already counts."""
    check_disk(str(tmp_path / "not" / "there"), 1)
    with pytest.raises(StoreError, match=r"need about 1000000000\.0 GB .* free"):
        check_disk(str(tmp_path), 10**18)
    check_disk(str(tmp_path), 10**18, used=10**18)
