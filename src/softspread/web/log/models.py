"""The tables. ``log`` is append-only; see `entry.Entry` for its columns."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from softspread.web.log.entry import (
    LONGEST_CHOSEN,
    LONGEST_ITEM,
    LONGEST_KEY,
    LONGEST_LABEL,
    LONGEST_NAME,
    LONGEST_NOTE,
)

metadata = MetaData()
Answer = Text().with_variant(String(LONGEST_LABEL), "sqlite")  # SQLite ignores lengths: no table is rewritten
BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows only in a column called INTEGER

log = Table(
    "log",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=False),  # counted by the one writer, in order
    Column("kind", Integer, nullable=False),
    Column("key", String(LONGEST_KEY), nullable=False),
    Column("annotator", String(LONGEST_NAME), nullable=False),
    Column("item", String(LONGEST_ITEM), nullable=False),
    Column("label", Answer),
    Column("weight", Float, nullable=False),
    Column("undoes", BigId),
    Column("created_at", Float, nullable=False),
    Column("origin", String(20), nullable=False),
    Column("chosen", String(LONGEST_CHOSEN)),
    Column("probability", Float),
    Column("shown", Text),
    Column("note", String(LONGEST_NOTE)),
    UniqueConstraint("annotator", "key", name="log_once"),
    UniqueConstraint("undoes", name="log_undone_once"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(LONGEST_NAME), nullable=False, unique=True),
    Column("password", Text, nullable=False),  # argon2
    Column("role", String(20), nullable=False),  # "admin" or "annotator"
    Column("active", Integer, nullable=False, default=1),
    Column("created_at", Float, nullable=False),
)

# Secrets (sessions, invitations, tokens) are stored as SHA-256 of a random 256-bit word: the table alone
# opens nothing.
sessions = Table(
    "sessions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account", Integer, nullable=False),
    Column("csrf", String(64), nullable=False),
    Column("expires_at", Float, nullable=False),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("note", String(200), nullable=False, default=""),
    Column("created_by", String(LONGEST_NAME), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("used_by", String(LONGEST_NAME)),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account", Integer, nullable=False),
    Column("name", String(LONGEST_NAME), nullable=False),
    Column("created_at", Float, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", String(LONGEST_NAME), nullable=False),
    Column("action", String(40), nullable=False),
    Column("detail", Text, nullable=False, default=""),
    Column("address", String(64), nullable=False, default=""),
)
Index("audit_at", audit.c.at)

facts = Table(  # what the project was started with: classes, so that a restart with others is noticed
    "facts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
