"""A log from before items had probabilities."""

from softspread.web.log.store import Store


def test_a_log_of_the_first_form_is_read_and_goes_on(database):
    """Its entries have no choice and no probability; nothing else changes."""
    store = Store(database)
    store.start()
    with store.writing() as connection:
        for name in ("chosen", "probability", "shown", "note"):
            connection.exec_driver_sql(f"alter table log drop column {name}")
        connection.exec_driver_sql("update alembic_version set version_num = '0001'")
        connection.exec_driver_sql(
            "insert into log values (1, 0, 'k', 'ann', 'item-000', 'ant', 1.0, null, 0.5, 'page')"
        )
    store.close()
    again = Store(database)
    again.start()
    (entry,) = again.entries()
    assert (entry.key, entry.label, entry.chosen, entry.probability) == ("k", "ant", None, None)
    again.close()
