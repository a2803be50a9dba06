"""A log from before votes could be about several classes."""

from softspread.web.log.entry import LONGEST_LABEL, VOTE, Entry
from softspread.web.log.store import Store


def test_a_log_of_the_third_form_is_read_and_takes_long_answers(database):
    """What it holds stays as it was."""
    store = Store(database)
    store.start()
    with store.writing() as connection:
        store.append(connection, [Entry(VOTE, "k", "ann", "item-000", "cat", 1.0, id=1)])
        if not store.is_sqlite:
            connection.exec_driver_sql(f"alter table log alter column label type varchar({LONGEST_LABEL})")
        connection.exec_driver_sql("update alembic_version set version_num = '0003'")
    store.close()
    again, long = Store(database), "x" * (5 * LONGEST_LABEL)
    again.start()
    with again.writing() as connection:
        again.append(connection, [Entry(VOTE, "l", "ann", "item-001", long, 1.0, id=2)])
    assert [entry.label for entry in again.entries()] == ["cat", long]
    again.close()
