"""What closed heads gave when gates were fitted; nothing (zero), for all that were kept before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("gate_vectors") as gates:
        gates.add_column(sa.Column("ablation", sa.String(length=32), nullable=False, server_default="zero"))


def downgrade() -> None:
    with op.batch_alter_table("gate_vectors") as gates:
        gates.drop_column("ablation")
