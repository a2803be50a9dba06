"""Who may do what: accounts, invitations, sessions, tokens, and a book of what was done.

Passwords are kept as argon2 hashes, all other secrets as SHA-256 of random words of 256 bits. Nothing here
knows HTTP.
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from softspread.errors import InputError, StoreError
from softspread.web.log import models
from softspread.web.log.store import Store

ADMIN, ANNOTATOR = "admin", "annotator"
ROLES = (ADMIN, ANNOTATOR)
SESSION_SECONDS = 14 * 86_400.0
INVITATION_SECONDS = 3 * 86_400.0
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 256
REMEMBERED_SECONDS = 30.0  # a session or token is looked up in the database once in so long
MOST_REMEMBERED = 10_000
TOKEN_MARK = "softspread_"  # lets scanners find a token that leaked into a repository
RESERVED = ("import", "softspread")  # names that the log uses itself
# OWASP's lowest setting for argon2id: about 30 ms and 19 MiB for one login
ARGON2_TIMES, ARGON2_KIBIBYTES, ARGON2_THREADS = 2, 19_456, 1


@dataclass(frozen=True, slots=True)
class User:
    """A user who has signed in."""

    id: int
    name: str
    role: str
    via: str  # "session", "token" or "local"
    csrf: str = ""

    @property
    def is_admin(self) -> bool:
        """Whether everything is allowed."""
        return self.role == ADMIN


def hash_secret(secret: str) -> str:
    """What the database keeps of a random word."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(first: str, second: str) -> bool:
    """Compare secrets in a time that tells nothing."""
    return hmac.compare_digest(first.encode(), second.encode())


def check_name(name: str) -> str:
    """A name as it will stand in the log."""
    name = name.strip()
    if not 1 <= len(name) <= models.LONGEST_NAME or not name.isprintable():
        raise InputError(f"a name must be 1 to {models.LONGEST_NAME} printable characters.")
    if name.lower() in RESERVED or ":" in name:
        raise InputError(f"the name {name!r} is taken; choose another, without a colon.")
    return name


def check_password(password: str) -> str:
    """A password that is worth its name."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InputError(f"a password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.")
    return password


class Accounts:
    """Accounts in the database, with a short memory for those seen just now."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        from argon2 import PasswordHasher

        self._store, self._clock = store, clock
        self._hasher = PasswordHasher(ARGON2_TIMES, ARGON2_KIBIBYTES, ARGON2_THREADS)
        self._nobody = self._hasher.hash(secrets.token_hex(16))  # checked where a name is unknown: same time
        self._remembered: dict[str, tuple[User, float]] = {}
        self._lock = threading.Lock()

    # ----------------------------------------------------------------------------------------------- accounts
    def has_admin(self) -> bool:
        """Whether someone can invite others."""
        wanted = sa.select(models.accounts.c.id).where(
            models.accounts.c.role == ADMIN, models.accounts.c.active == 1
        )
        with self._store.reading() as connection:
            return connection.execute(wanted.limit(1)).first() is not None

    def all_accounts(self) -> list[dict[str, Any]]:
        """All accounts without their secrets."""
        c = models.accounts.c
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(c.id, c.name, c.role, c.active, c.created_at).order_by(c.id))
            return [{**dict(row._mapping), "active": bool(row.active)} for row in rows]

    def create(self, name: str, password: str, role: str) -> User:
        """A new account."""
        if role not in ROLES:
            raise InputError(f"a role is one of {', '.join(ROLES)}, got {role!r}.")
        values = {
            "name": check_name(name),
            "password": self._hasher.hash(check_password(password)),
            "role": role,
            "active": 1,
            "created_at": self._clock(),
        }
        with self._store.writing() as connection:
            return self._insert(connection, values)

    def _insert(self, connection: sa.Connection, values: dict[str, Any]) -> User:
        taken = sa.select(models.accounts.c.id).where(
            sa.func.lower(models.accounts.c.name) == values["name"].lower()
        )
        if connection.execute(taken).first() is not None:
            raise InputError(f"the name {values['name']!r} is taken; choose another.")
        try:
            made = connection.execute(sa.insert(models.accounts).values(**values))
        except IntegrityError as error:
            raise InputError(f"the name {values['name']!r} is taken; choose another.") from error
        number = made.inserted_primary_key
        if number is None:  # pragma: no cover - both databases answer
            raise StoreError("the database did not number the account.")
        return User(int(number[0]), values["name"], values["role"], "session")

    def log_in(self, name: str, password: str) -> User | None:
        """The user with this name and password, or None; takes as long for an unknown name."""
        from argon2.exceptions import Argon2Error, InvalidHashError

        c = models.accounts.c
        with self._store.reading() as connection:
            row = connection.execute(
                sa.select(c.id, c.name, c.role, c.password).where(
                    sa.func.lower(c.name) == name.strip().lower(), c.active == 1
                )
            ).first()
        try:
            self._hasher.verify(self._nobody if row is None else row.password, password[:LONGEST_PASSWORD])
        except (Argon2Error, InvalidHashError):
            return None
        return None if row is None else User(row.id, row.name, row.role, "session")

    def set_active(self, account: int, active: bool) -> bool:
        """Close an account or open it again; closing ends its sessions and tokens."""
        with self._store.writing() as connection:
            done = connection.execute(
                sa.update(models.accounts).where(models.accounts.c.id == account).values(active=int(active))
            )
            if not active:
                for table in (models.sessions, models.tokens):
                    connection.execute(sa.delete(table).where(table.c.account == account))
        self.forget()
        return done.rowcount > 0

    # -------------------------------------------------------------------------------------------- invitations
    def invite(self, role: str, by: str, note: str = "", seconds: float = INVITATION_SECONDS) -> str:
        """A word that opens one account, once, for a while."""
        if role not in ROLES:
            raise InputError(f"a role is one of {', '.join(ROLES)}, got {role!r}.")
        word, now = secrets.token_urlsafe(32), self._clock()
        with self._store.writing() as connection:
            connection.execute(
                sa.insert(models.invitations).values(
                    id=hash_secret(word),
                    role=role,
                    note=note[:200],
                    created_by=by,
                    created_at=now,
                    expires_at=now + seconds,
                )
            )
        return word

    def invitation(self, word: str) -> dict[str, Any] | None:
        """An invitation that can still be used, or None."""
        c = models.invitations.c
        wanted = sa.select(models.invitations).where(
            c.id == hash_secret(word), c.used_by.is_(None), c.expires_at > self._clock()
        )
        with self._store.reading() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else dict(row._mapping)

    def accept(self, word: str, name: str, password: str) -> User:
        """Make an account from an invitation; of two who try at once, one succeeds."""
        open_one = self.invitation(word)
        if open_one is None:
            raise InputError("this invitation was used already or has run out; ask for a new one.")
        values = {
            "name": check_name(name),
            "password": self._hasher.hash(check_password(password)),
            "role": open_one["role"],
            "active": 1,
            "created_at": self._clock(),
        }
        c = models.invitations.c
        with self._store.writing() as connection:
            taken = connection.execute(
                sa.update(models.invitations)
                .where(c.id == hash_secret(word), c.used_by.is_(None))
                .values(used_by=values["name"])
            )
            if taken.rowcount != 1:
                raise InputError("this invitation was used already; ask for a new one.")
            return self._insert(connection, values)

    def invitations(self) -> list[dict[str, Any]]:
        """All invitations, newest first; the words themselves are not kept."""
        c = models.invitations.c
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(models.invitations).order_by(c.created_at.desc()).limit(200))
            return [dict(row._mapping) for row in rows]

    def withdraw(self, invitation: str) -> bool:
        """Make an unused invitation useless."""
        c = models.invitations.c
        with self._store.writing() as connection:
            gone = connection.execute(
                sa.delete(models.invitations).where(c.id == invitation, c.used_by.is_(None))
            )
        return gone.rowcount > 0

    def withdraw_unused(self, by: str) -> None:
        """Make all unused invitations of someone useless."""
        c = models.invitations.c
        with self._store.writing() as connection:
            connection.execute(sa.delete(models.invitations).where(c.created_by == by, c.used_by.is_(None)))

    # --------------------------------------------------------------------------------------- sessions, tokens
    def open_session(self, user: User) -> tuple[str, str]:
        """The word for the cookie, and the word that forms must repeat."""
        word, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        now = self._clock()
        with self._store.writing() as connection:
            connection.execute(sa.delete(models.sessions).where(models.sessions.c.expires_at <= now))
            connection.execute(
                sa.insert(models.sessions).values(
                    id=hash_secret(word), account=user.id, csrf=csrf, expires_at=now + SESSION_SECONDS
                )
            )
        return word, csrf

    def close_session(self, word: str) -> None:
        """Log out."""
        with self._store.writing() as connection:
            connection.execute(sa.delete(models.sessions).where(models.sessions.c.id == hash_secret(word)))
        self.forget()

    def make_token(self, user: User, name: str) -> str:
        """A word for programs, shown once."""
        word = TOKEN_MARK + secrets.token_urlsafe(32)
        with self._store.writing() as connection:
            connection.execute(
                sa.insert(models.tokens).values(
                    id=hash_secret(word), account=user.id, name=check_name(name), created_at=self._clock()
                )
            )
        return word

    def tokens_of(self, user: User) -> list[dict[str, Any]]:
        """Tokens without their words."""
        c = models.tokens.c
        wanted = sa.select(c.id, c.name, c.created_at).where(c.account == user.id).order_by(c.created_at)
        with self._store.reading() as connection:
            return [dict(row._mapping) for row in connection.execute(wanted)]

    def revoke_token(self, user: User, token: str) -> bool:
        """End one of one's own tokens."""
        c = models.tokens.c
        with self._store.writing() as connection:
            gone = connection.execute(sa.delete(models.tokens).where(c.id == token, c.account == user.id))
        self.forget()
        return gone.rowcount > 0

    def recently_seen(self, word: str, via: str) -> User | None:
        """Who holds this word, if they were seen just now."""
        found = self._remembered.get(f"{via} {hash_secret(word)}")
        return found[0] if found is not None and found[1] > self._clock() else None

    def authenticate(self, word: str, via: str) -> User | None:
        """Who holds this cookie ("session") or this token ("token")."""
        key, now = f"{via} {hash_secret(word)}", self._clock()
        a = models.accounts.c
        if via == "session":
            s = models.sessions.c
            wanted = sa.select(a.id, a.name, a.role, s.csrf).where(
                s.id == hash_secret(word), s.expires_at > now, a.id == s.account, a.active == 1
            )
        else:
            t = models.tokens.c
            wanted = sa.select(a.id, a.name, a.role, sa.literal("").label("csrf")).where(
                t.id == hash_secret(word), a.id == t.account, a.active == 1
            )
        with self._store.reading() as connection:
            row = connection.execute(wanted).first()
        if row is None:
            return None
        user = User(row.id, row.name, row.role, via, row.csrf)
        with self._lock:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = (user, now + REMEMBERED_SECONDS)
        return user

    def forget(self) -> None:
        """Look everyone up again."""
        with self._lock:
            self._remembered.clear()

    # -------------------------------------------------------------------------------------------------- audit
    def note(self, who: str, action: str, detail: str = "", address: str = "") -> None:
        """Write down what was done."""
        with self._store.writing() as connection:
            connection.execute(
                sa.insert(models.audit).values(
                    at=self._clock(), who=who, action=action, detail=detail[:1000], address=address[:64]
                )
            )

    def notes(self, limit: int = 100) -> list[dict[str, Any]]:
        """The last entries of the book, newest first."""
        c = models.audit.c
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(models.audit).order_by(c.id.desc()).limit(limit))
            return [dict(row._mapping) for row in rows]
