"""Answers about several classes are longer than one name."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the limit off the label; SQLite has none."""
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column("log", "label", type_=sa.Text)


def downgrade() -> None:
    """Put it on again."""
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column("log", "label", type_=sa.String(200))
