"""Suggestions shown with a vote, and notes about items."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two columns that stay empty for entries from before."""
    op.add_column("log", sa.Column("shown", sa.Text))
    op.add_column("log", sa.Column("note", sa.String(1000)))


def downgrade() -> None:
    """Drop both."""
    op.drop_column("log", "note")
    op.drop_column("log", "shown")
