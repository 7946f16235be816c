"""Prompts and gate vectors that someone keeps, and shares of a lab view."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "prompts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("characters", sa.BigInteger(), nullable=False),
        sa.Column("beginning", sa.Text(), nullable=False),
        sa.Column("texts_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["texts_id"], ["artifacts.id"], name="fk_prompts_texts_id_artifacts"),
        sa.PrimaryKeyConstraint("id", name="pk_prompts"),
    )
    op.create_index("ix_prompts_created_at", "prompts", ["created_at"])
    op.create_table(
        "gate_vectors",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("model", sa.String(length=256), nullable=False),
        sa.Column("revision", sa.String(length=64), nullable=False),
        sa.Column("n_layers", sa.Integer(), nullable=False),
        sa.Column("n_heads", sa.Integer(), nullable=False),
        sa.Column("gates", sa.LargeBinary(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_gate_vectors"),
    )
    op.create_index("ix_gate_vectors_model", "gate_vectors", ["model"])
    # In a batch: SQLite adds a foreign key by writing the table anew.
    with op.batch_alter_table("shares") as shares:
        shares.add_column(sa.Column("lab_id", sa.String(length=64), nullable=True))
        shares.create_foreign_key("fk_shares_lab_id_artifacts", "artifacts", ["lab_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("shares") as shares:
        shares.drop_constraint("fk_shares_lab_id_artifacts", type_="foreignkey")
        shares.drop_column("lab_id")
    op.drop_index("ix_gate_vectors_model", "gate_vectors")
    op.drop_table("gate_vectors")
    op.drop_index("ix_prompts_created_at", "prompts")
    op.drop_table("prompts")
