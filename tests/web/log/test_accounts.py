"""Accounts, invitations, sessions and tokens, on both databases."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from softspread.errors import InputError
from softspread.web.log import models
from softspread.web.log.accounts import Accounts
from softspread.web.log.entry import IMPORTED, VOTE, Entry
from softspread.web.log.store import Store
from web.conftest import PASSWORD, QUICK


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(database, clock):
    store = Store(database)
    store.start()
    yield Accounts(store, clock, QUICK)
    store.close()


def test_a_person_signs_in_with_the_right_password_only(accounts):
    """Names do not depend on case, passwords do."""
    made = accounts.create("Ada", PASSWORD, "admin")
    assert accounts.log_in("ada ", PASSWORD) == made
    assert accounts.log_in("Ada", PASSWORD.upper()) is None
    assert accounts.log_in("Bob", PASSWORD) is None


def test_secrets_are_not_in_the_database(accounts):
    """Neither passwords nor cookies, tokens or invitations can be read from the tables."""
    ada = accounts.create("ada", PASSWORD, "admin")
    secrets = [
        PASSWORD,
        accounts.open_session(ada)[0],
        accounts.make_token(ada, "t"),
        accounts.invite("admin", "ada"),
    ]
    with accounts._store.reading() as connection:
        tables = (models.accounts, models.sessions, models.tokens, models.invitations)
        text = str([connection.execute(sa.select(table)).all() for table in tables])
    assert not [secret for secret in secrets if secret in text]
    assert "$argon2id$" in text


def test_an_invitation_works_once(accounts):
    """The second to use it is told so, and no account is made."""
    word = accounts.invite("annotator", "ada")
    assert accounts.accept(word, "ben", PASSWORD).role == "annotator"
    with pytest.raises(InputError, match="used already"):
        accounts.accept(word, "eva", PASSWORD)
    assert [one["name"] for one in accounts.all_accounts()] == ["ben"]


def test_an_invitation_runs_out(accounts, clock):
    """After its time it opens nothing."""
    word = accounts.invite("annotator", "ada", seconds=60)
    clock.now += 61
    assert accounts.invitation(word) is None
    with pytest.raises(InputError, match="expired"):
        accounts.accept(word, "ben", PASSWORD)


def test_a_refused_name_leaves_the_invitation_open(accounts):
    """A taken or reserved name or a short password can be corrected."""
    accounts.create("ben", PASSWORD, "annotator")
    word = accounts.invite("annotator", "ada")
    for name, password in (
        ("Ben", PASSWORD),
        ("import", PASSWORD),
        ("a:b", PASSWORD),
        ("x\ny", PASSWORD),
        ("eva", "short"),
    ):
        with pytest.raises(InputError):
            accounts.accept(word, name, password)
    assert accounts.accept(word, "eva", PASSWORD).name == "eva"


def test_sessions_end_by_logging_out_and_by_time(accounts, clock):
    """Afterwards the cookie means nothing."""
    ada = accounts.create("ada", PASSWORD, "admin")
    first, second = accounts.open_session(ada)[0], accounts.open_session(ada)[0]
    assert accounts.authenticate(first, "session").name == "ada"
    accounts.close_session(first)
    assert accounts.authenticate(first, "session") is None
    clock.now += QUICK.session_seconds + 1
    assert accounts.cached_user(second, "session") is None
    assert accounts.authenticate(second, "session") is None


def test_a_token_is_no_session_and_can_be_revoked(accounts):
    """Secrets of one kind do not serve as the other; only the owner revokes."""
    ada, ben = accounts.create("ada", PASSWORD, "admin"), accounts.create("ben", PASSWORD, "annotator")
    word = accounts.make_token(ada, "script")
    assert accounts.authenticate(word, "token").name == "ada"
    assert accounts.authenticate(word, "session") is None
    number = accounts.tokens_of(ada)[0]["id"]
    assert not accounts.revoke_token(ben, number)
    assert accounts.revoke_token(ada, number)
    assert accounts.authenticate(word, "token") is None


def test_a_closed_account_is_out_at_once(accounts):
    """Its sessions and tokens end, even those seen just now."""
    ben = accounts.create("ben", PASSWORD, "annotator")
    session, token = accounts.open_session(ben)[0], accounts.make_token(ben, "t")
    assert accounts.authenticate(session, "session")
    assert accounts.authenticate(token, "token")
    accounts.set_active(ben.id, False)
    assert accounts.authenticate(session, "session") is None
    assert accounts.cached_user(token, "token") is None
    assert accounts.authenticate(token, "token") is None
    assert accounts.log_in("ben", PASSWORD) is None


def test_what_was_done_is_written_down(accounts):
    """Newest first."""
    accounts.note("ada", "invite", "annotator", "10.0.0.1")
    accounts.note("ben", "login")
    assert [(note["who"], note["action"]) for note in accounts.notes()] == [
        ("ben", "login"),
        ("ada", "invite"),
    ]


def test_a_changed_password_is_the_only_one_and_ends_other_sessions(accounts):
    """The session that changed it stays."""
    ann = accounts.create("ann", PASSWORD, "annotator")
    here, _ = accounts.open_session(ann)
    there, _ = accounts.open_session(ann)
    me = accounts.authenticate(here, "session")
    with pytest.raises(InputError, match="present password is wrong"):
        accounts.change_password(me, "guess", "another password")
    with pytest.raises(InputError, match="10 to 256"):
        accounts.change_password(me, PASSWORD, "short")
    accounts.change_password(me, PASSWORD, "another password")
    assert accounts.log_in("ann", PASSWORD) is None
    assert accounts.log_in("ann", "another password") is not None
    assert accounts.authenticate(here, "session") is not None
    assert accounts.authenticate(there, "session") is None


def test_a_reset_link_works_once_and_shuts_out_whoever_had_the_account(accounts):
    """Sessions and tokens end; a newer link replaces an older one; a closed account opens."""
    ann = accounts.create("Ann", PASSWORD, "admin")
    cookie, token = accounts.open_session(ann)[0], accounts.make_token(ann, "script")
    older, newer = accounts.invite_to_reset("ann", "ada"), accounts.invite_to_reset("ann", "ada")
    accounts.set_active(ann.id, False)
    with pytest.raises(InputError, match="used already or has expired"):
        accounts.accept(older, "whatever", "another password")
    found = accounts.accept(newer, "whatever", "another password")
    assert (found.name, found.role) == ("Ann", "admin")
    with pytest.raises(InputError, match="used already"):
        accounts.accept(newer, "whatever", "a third password")
    assert accounts.authenticate(cookie, "session") is accounts.authenticate(token, "token") is None
    assert accounts.log_in("ann", "another password").role == "admin"
    with pytest.raises(InputError, match="no account 'bob'; the accounts are: Ann"):
        accounts.invite_to_reset("bob", "ada")


def test_another_role_holds_from_the_next_request_on(accounts):
    """Also where the account was seen a moment ago."""
    ann = accounts.create("ann", PASSWORD, "annotator")
    cookie, _ = accounts.open_session(ann)
    assert not accounts.authenticate(cookie, "session").is_admin
    accounts.set_role(ann.id, "admin")
    assert accounts.cached_user(cookie, "session") is None
    assert accounts.authenticate(cookie, "session").is_admin


def test_nobody_takes_the_name_of_imported_votes(accounts):
    """Those votes would look like theirs; names of votes cast here belong to accounts anyway."""
    entry = Entry(VOTE, "k", "Mia", "item-000", "ant", 1.0, origin=IMPORTED, id=1, created_at=0.5)
    with accounts._store.writing() as connection:
        accounts._store.append(connection, [entry, replace(entry, id=2, annotator="Leo", origin="page")])
    with pytest.raises(InputError, match="votes in the name 'mia' were imported"):
        accounts.create("mia", PASSWORD, "annotator")
    assert accounts.create("Leo", PASSWORD, "annotator").name == "Leo"
