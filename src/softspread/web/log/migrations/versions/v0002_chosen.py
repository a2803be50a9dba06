"""How the item of an entry was chosen, and with what probability."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two columns that stay empty for entries from before."""
    op.add_column("log", sa.Column("chosen", sa.String(40)))
    op.add_column("log", sa.Column("probability", sa.Float))


def downgrade() -> None:
    """Drop both."""
    op.drop_column("log", "probability")
    op.drop_column("log", "chosen")
