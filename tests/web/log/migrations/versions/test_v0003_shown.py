"""A log from before suggestions were kept."""

from softspread.web.log.entry import FLAG, Entry
from softspread.web.log.store import Store


def test_a_log_of_the_second_form_is_read_and_goes_on(database):
    """Its entries have neither; new ones do."""
    store = Store(database)
    store.start()
    with store.writing() as connection:
        store.append(connection, [Entry(FLAG, "k", "ann", "item-000", id=1)])
        for name in ("shown", "note"):
            connection.exec_driver_sql(f"alter table log drop column {name}")
        connection.exec_driver_sql("update alembic_version set version_num = '0002'")
    store.close()
    again = Store(database)
    again.start()
    with again.writing() as connection:
        again.append(connection, [Entry(FLAG, "l", "ann", "item-000", id=2, note="blurred")])
    assert [(entry.shown, entry.note) for entry in again.entries()] == [(None, None), (None, "blurred")]
    again.close()
