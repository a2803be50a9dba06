"""Rate limits."""

from softspread.web.http.token_bucket import TokenBucket


def test_a_rate_limit_fills_up_again():
    """A burst up to the capacity, then a steady rate per second."""
    now = [0.0]
    limit = TokenBucket(1.0, 3.0, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]
    assert limit.allows("b")
    now[0] = 2.0
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
