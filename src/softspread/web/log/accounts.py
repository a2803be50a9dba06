"""Who may do what: accounts, invitations, sessions, tokens, and the audit log.

Passwords are kept as argon2 hashes, all other secrets as SHA-256 of 256 random bits. Nothing here knows HTTP.
"""

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy.exc import IntegrityError

from softspread.errors import InputError
from softspread.web.log import models
from softspread.web.log.entry import IMPORTED, LONGEST_NAME
from softspread.web.log.store import Store

ADMIN, ANNOTATOR = "admin", "annotator"
ROLES = (ADMIN, ANNOTATOR)
RESET = "reset"  # instead of a role: the invitation to choose another password; its note is the name
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 256  # characters
TOKEN_MARK = "softspread_"  # lets scanners find a token that leaked into a repository
# Of a token that stands in an address; it opens nothing but Label Studio's routes
ADDRESS_MARK = "softspread_ls_"
RESERVED = ("import", "decision", "softspread")  # names that the log uses itself
DAY = 86_400.0  # seconds
MOST_CACHED = 10_000  # signed-in users
MOST_LISTED = 200  # invitations


@dataclass(frozen=True, slots=True)
class AccountRules:
    """How long secrets live and how hard passwords are to guess."""

    session_seconds: float = 14 * DAY
    invitation_seconds: float = 3 * DAY
    reset_seconds: float = DAY  # of a link to choose another password
    cache_seconds: float = 30.0  # how long a user is trusted before the database is asked again
    # OWASP's lowest setting for argon2id: about 30 ms and 19 MiB per login
    argon2_iterations: int = 2
    argon2_kibibytes: int = 19_456
    argon2_threads: int = 1


RULES = AccountRules()


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
    """The hash of a secret, for the database."""
    return hashlib.sha256(secret.encode()).hexdigest()


def secrets_equal(first: str, second: str) -> bool:
    """Compare in constant time."""
    return compare_digest(first.encode(), second.encode())


def check_name(name: str) -> str:
    """A name as it will stand in the log."""
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise InputError(f"a name must be 1 to {LONGEST_NAME} printable characters.")
    if name.lower() in RESERVED or ":" in name:
        raise InputError(f"the name {name!r} is taken; choose another, without a colon.")
    return name


class Accounts:
    """Accounts in the database, with a short-lived cache of signed-in users."""

    def __init__(self, store: Store, clock: Callable[[], float], rules: AccountRules = RULES) -> None:
        self._store, self._clock, self.rules = store, clock, rules
        self._hasher = PasswordHasher(rules.argon2_iterations, rules.argon2_kibibytes, rules.argon2_threads)
        self._decoy = self._hasher.hash(secrets.token_hex(16))  # checked for unknown names: same time
        self._cache: dict[str, tuple[User, float]] = {}
        self._lock = threading.Lock()

    # ----------------------------------------------------------------------------------------------- accounts
    def has_admin(self) -> bool:
        """Whether there is someone who can invite others."""
        c = models.accounts.c
        return bool(self._store.rows(sa.select(c.id).where(c.role == ADMIN, c.active == 1).limit(1)))

    def all_accounts(self) -> list[dict[str, Any]]:
        """All accounts without their secrets."""
        c = models.accounts.c
        found = self._store.rows(sa.select(c.id, c.name, c.role, c.active, c.created_at).order_by(c.id))
        return [{**row, "active": bool(row["active"])} for row in found]

    def create(self, name: str, password: str, role: str) -> User:
        """Make an account."""
        values = self._new_account(name, password, role)
        with self._store.writing() as connection:
            return self._insert(connection, values)

    def _new_account(self, name: str, password: str, role: str) -> dict[str, Any]:
        return {
            "name": check_name(name),
            "password": self._hashed(password),
            "role": _check_role(role),
            "active": 1,
            "created_at": self._clock(),
        }

    def _hashed(self, password: str) -> str:
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
            raise InputError(f"a password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.")
        return self._hasher.hash(password)

    @staticmethod
    def _insert(connection: sa.Connection, values: dict[str, Any]) -> User:
        c, name = models.accounts.c, values["name"]
        taken = f"the name {name!r} is taken; choose another."
        if connection.execute(sa.select(c.id).where(sa.func.lower(c.name) == name.lower())).first():
            raise InputError(taken)
        log = models.log.c  # whose votes came from a file may be anyone
        imported = (log.origin == IMPORTED) & (sa.func.lower(log.annotator) == name.lower())
        if connection.execute(sa.select(log.id).where(imported).limit(1)).first():
            raise InputError(f"votes in the name {name!r} were imported; choose another.")
        try:
            connection.execute(sa.insert(models.accounts).values(**values))
        except IntegrityError as error:
            raise InputError(taken) from error
        number = connection.execute(sa.select(c.id).where(c.name == name)).scalar_one()
        return User(number, name, values["role"], "session")

    def log_in(self, name: str, password: str) -> User | None:
        """The user with this name and password, or None; takes as long for an unknown name."""
        c = models.accounts.c
        found = self._store.rows(
            sa.select(c.id, c.name, c.role, c.password).where(
                sa.func.lower(c.name) == name.strip().lower(), c.active == 1
            )
        )
        try:
            self._hasher.verify(found[0]["password"] if found else self._decoy, password[:LONGEST_PASSWORD])
        except (Argon2Error, InvalidHashError):
            return None
        return User(found[0]["id"], found[0]["name"], found[0]["role"], "session") if found else None

    def set_active(self, account: int, active: bool) -> bool:
        """Close an account or open it again; closing ends its sessions and tokens."""
        update = sa.update(models.accounts).where(models.accounts.c.id == account)
        closed = () if active else (models.sessions, models.tokens)
        changed = self._store.execute(
            *(sa.delete(table).where(table.c.account == account) for table in closed),
            update.values(active=int(active)),
        )
        self.clear_cache()
        return changed > 0

    def set_role(self, account: int, role: str) -> bool:
        """Change what an account may do, from its next request on."""
        c = models.accounts.c
        update = sa.update(models.accounts).where(c.id == account)
        changed = self._store.execute(update.values(role=_check_role(role)))
        self.clear_cache()
        return changed > 0

    def name_of(self, account: int) -> str | None:
        """The name of an account, or None."""
        c = models.accounts.c
        found = self._store.rows(sa.select(c.name).where(c.id == account))
        return str(found[0]["name"]) if found else None

    # ---------------------------------------------------------------------------------------------- passwords
    def change_password(self, user: User, present: str, new: str) -> None:
        """Change a user's own password; all other sessions of the account end."""
        if self.log_in(user.name, present) is None:
            raise InputError("the present password is wrong.")
        password, s = self._hashed(new), models.sessions.c
        self._store.execute(
            sa.delete(models.sessions).where(s.account == user.id, s.csrf != user.csrf),
            sa.update(models.accounts).where(models.accounts.c.id == user.id).values(password=password),
        )
        self.clear_cache()

    def invite_to_reset(self, name: str, by: str) -> str:
        """A secret by which an account gets another password, once; earlier ones for it stop working."""
        c = models.accounts.c
        found = self._store.rows(sa.select(c.name).where(sa.func.lower(c.name) == name.strip().lower()))
        if not found:
            known = ", ".join(one["name"] for one in self.all_accounts()[:20]) or "none yet"
            raise InputError(f"there is no account {name!r}; the accounts are: {known}.")
        i, name = models.invitations.c, str(found[0]["name"])
        self._store.execute(
            sa.delete(models.invitations).where(i.role == RESET, i.note == name, i.used_by.is_(None))
        )
        return self._invite(RESET, by, name, self.rules.reset_seconds)

    def _reset(self, secret: str, name: str, password: str) -> User:
        """Give the account the new password, open it, and end its sessions and tokens."""
        hashed, c = self._hashed(password), models.accounts.c
        with self._store.writing() as connection:
            self._use(connection, secret, name)
            found = connection.execute(sa.select(c.id, c.role).where(c.name == name)).one()
            for table in (models.sessions, models.tokens):
                connection.execute(sa.delete(table).where(table.c.account == found.id))
            new = {"password": hashed, "active": 1}
            connection.execute(sa.update(models.accounts).where(c.id == found.id).values(**new))
        self.clear_cache()
        return User(found.id, name, found.role, "session")

    # -------------------------------------------------------------------------------------------- invitations
    def invite(self, role: str, by: str, note: str = "", seconds: float | None = None) -> str:
        """A secret that opens one account, once, for a while."""
        seconds = self.rules.invitation_seconds if seconds is None else seconds
        return self._invite(_check_role(role), by, note, seconds)

    def _invite(self, role: str, by: str, note: str, seconds: float) -> str:
        secret, now = secrets.token_urlsafe(32), self._clock()
        new = {"note": note[:200], "created_by": by, "created_at": now, "expires_at": now + seconds}
        self._store.execute(sa.insert(models.invitations).values(id=hash_secret(secret), role=role, **new))
        return secret

    def invitation(self, secret: str) -> dict[str, Any] | None:
        """An invitation that can still be used, or None."""
        c = models.invitations.c
        open_ones = self._store.rows(
            sa.select(models.invitations).where(
                c.id == hash_secret(secret), c.used_by.is_(None), c.expires_at > self._clock()
            )
        )
        return open_ones[0] if open_ones else None

    def accept(self, secret: str, name: str, password: str) -> User:
        """Make an account from an invitation, or give one another password; of two who try, one succeeds."""
        invitation = self.invitation(secret)
        if invitation is None:
            raise InputError("this invitation was used already or has expired; ask for a new one.")
        if invitation["role"] == RESET:
            return self._reset(secret, invitation["note"], password)
        values = self._new_account(name, password, invitation["role"])
        with self._store.writing() as connection:
            self._use(connection, secret, values["name"])
            return self._insert(connection, values)

    @staticmethod
    def _use(connection: sa.Connection, secret: str, name: str) -> None:
        """Mark an invitation as used, or refuse inside a transaction that changes nothing then."""
        c = models.invitations.c
        use = sa.update(models.invitations).where(c.id == hash_secret(secret), c.used_by.is_(None))
        if connection.execute(use.values(used_by=name)).rowcount != 1:
            raise InputError("this link was used already; ask for a new one.")

    def invitations(self) -> list[dict[str, Any]]:
        """The last invitations, newest first, without their secrets."""
        newest = models.invitations.c.created_at.desc()
        return self._store.rows(sa.select(models.invitations).order_by(newest).limit(MOST_LISTED))

    def withdraw(self, *, invitation: str | None = None, by: str | None = None) -> bool:
        """Make an unused invitation useless, or all unused ones of a user."""
        c = models.invitations.c
        chosen = c.id == invitation if by is None else c.created_by == by
        return self._store.execute(sa.delete(models.invitations).where(chosen, c.used_by.is_(None))) > 0

    # --------------------------------------------------------------------------------------- sessions, tokens
    def open_session(self, user: User) -> tuple[str, str]:
        """The secret of the cookie, and the CSRF token that forms must repeat."""
        secret, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        expires_at = now + self.rules.session_seconds
        new = {"id": hash_secret(secret), "account": user.id, "csrf": csrf, "expires_at": expires_at}
        self._store.execute(
            sa.delete(models.sessions).where(models.sessions.c.expires_at <= now),
            sa.insert(models.sessions).values(**new),
        )
        return secret, csrf

    def close_session(self, secret: str) -> None:
        """Log out."""
        self._store.execute(sa.delete(models.sessions).where(models.sessions.c.id == hash_secret(secret)))
        self.clear_cache()

    def make_token(self, user: User, name: str, mark: str = TOKEN_MARK) -> str:
        """A token for programs, shown once."""
        token = mark + secrets.token_urlsafe(32)
        new = {"account": user.id, "name": check_name(name), "created_at": self._clock()}
        self._store.execute(sa.insert(models.tokens).values(id=hash_secret(token), **new))
        return token

    def tokens_of(self, user: User) -> list[dict[str, Any]]:
        """A user's tokens without their secrets."""
        c = models.tokens.c
        wanted = sa.select(c.id, c.name, c.created_at).where(c.account == user.id).order_by(c.created_at)
        return self._store.rows(wanted)

    def revoke_token(self, user: User, token: str) -> bool:
        """End one of the user's own tokens."""
        c = models.tokens.c
        gone = self._store.execute(sa.delete(models.tokens).where(c.id == token, c.account == user.id))
        self.clear_cache()
        return gone > 0

    def cached_user(self, secret: str, via: str) -> User | None:
        """Who holds this secret, if the database was asked a moment ago."""
        found = self._cache.get(f"{via} {hash_secret(secret)}")
        return found[0] if found is not None and found[1] > self._clock() else None

    def authenticate(self, secret: str, via: str) -> User | None:
        """Who holds this cookie ("session") or this token ("token")."""
        key, now = hash_secret(secret), self._clock()
        a, s, t = models.accounts.c, models.sessions.c, models.tokens.c
        user = sa.select(a.id, a.name, a.role).where(a.active == 1)
        if via == "session":
            user = user.add_columns(s.csrf).where(s.id == key, s.expires_at > now, a.id == s.account)
        else:
            user = user.where(t.id == key, a.id == t.account)
        rows = self._store.rows(user)
        if not rows:
            return None
        found = User(via=via, **rows[0])
        with self._lock:
            if len(self._cache) >= MOST_CACHED:
                self._cache.clear()
            self._cache[f"{via} {key}"] = (found, now + self.rules.cache_seconds)
        return found

    def clear_cache(self) -> None:
        """Have the database asked about every user again."""
        with self._lock:
            self._cache.clear()

    # -------------------------------------------------------------------------------------------------- audit
    def note(self, who: str, action: str, detail: str = "", address: str = "") -> None:
        """Add a line to the audit log."""
        new = {"at": self._clock(), "who": who, "action": action}
        new |= {"detail": detail[:1000], "address": address[:64]}
        self._store.execute(sa.insert(models.audit).values(**new))

    def notes(self, limit: int = 100) -> list[dict[str, Any]]:
        """The last lines of the audit log, newest first."""
        return self._store.rows(sa.select(models.audit).order_by(models.audit.c.id.desc()).limit(limit))


def _check_role(role: str) -> str:
    if role not in ROLES:
        raise InputError(f"a role is one of {', '.join(ROLES)}, got {role!r}.")
    return role
