"""The log in memory."""

from web.conftest import running, three_clusters, vote


def test_entries_about_items_that_are_gone_are_left_out_and_counted(tmp_path):
    """A project that lost an item goes on with the others."""
    with running(tmp_path, auth=False) as service:
        vote(service, "ann", "item-000", "ant", "k0")
        vote(service, "ann", "item-059", "bee", "k1")
    X = three_clusters()[0][:59]
    with running(tmp_path, auth=False, X=X) as service:
        assert (service.history.unknown, len(service.history)) == (1, 1)
        vote(service, "ann", "item-001", "cat", "k2")
        assert service.history.last_id == 3
