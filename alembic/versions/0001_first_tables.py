"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    op.create_table(
        "evaluations",
        sa.Column("model", sa.String(length=256), nullable=False),
        sa.Column("revision", sa.String(length=64), nullable=False),
        sa.Column("task", sa.String(length=256), nullable=False),
        sa.Column("task_hash", sa.String(length=64), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("model", "revision", "task", "task_hash", name="pk_evaluations"),
    )
    op.create_table(
        "marks",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_marks"),
    )
    op.create_table(
        "shares",
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("run_ids", sa.JSON(), nullable=False),
        sa.Column("view", sa.JSON(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("token", name="pk_shares"),
    )
    op.create_table(
        "tasks",
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_tasks"),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("host", sa.String(length=256), nullable=False),
        sa.Column("device", sa.String(length=64), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("queue", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=256), nullable=True),
        sa.Column("secret", sa.String(length=64), nullable=True),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("heartbeat", sa.Double(), nullable=False),
        sa.Column("patience", sa.Double(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("analysis", sa.String(length=64), nullable=False),
        sa.Column("analysis_version", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("model", sa.String(length=256), nullable=False),
        sa.Column("model_info", sa.JSON(), nullable=False),
        sa.Column("attention", sa.String(length=32), nullable=False),
        sa.Column("task", sa.String(length=256), nullable=True),
        sa.Column("task_title", sa.Text(), nullable=True),
        sa.Column("task_hash", sa.String(length=64), nullable=True),
        sa.Column("preset", sa.String(length=64), nullable=True),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("seeds", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("headline", sa.JSON(), nullable=True),
        sa.Column("result_id", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["result_id"], ["artifacts.id"], name="fk_runs_result_id_artifacts"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_created_at", "runs", ["created_at"])
    op.create_index("ix_runs_model_task", "runs", ["model", "task"])
    op.create_index("ix_runs_status", "runs", ["status"])

    op.create_table(
        "attempts",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("queue", sa.String(length=64), nullable=True),
        sa.Column("owner", sa.String(length=128), nullable=True),
        sa.Column("progress", sa.JSON(), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("wall_seconds", sa.Double(), nullable=True),
        sa.Column("code_version", sa.String(length=64), nullable=False),
        sa.Column("machine", sa.Text(), nullable=True),
        sa.Column("drift", sa.Double(), nullable=True),
        sa.Column("result_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["result_id"], ["artifacts.id"], name="fk_attempts_result_id_artifacts"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_attempts_run_id_runs", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_attempts"),
    )
    op.create_index("ix_attempts_status", "attempts", ["status"])

    op.create_table(
        "pieces",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=256), nullable=False),
        sa.Column("artifact_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["artifact_id"], ["artifacts.id"], name="fk_pieces_artifact_id_artifacts"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_pieces_run_id_runs", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "attempt", "key", name="pk_pieces"),
    )


def downgrade() -> None:
    op.drop_table("pieces")
    op.drop_index("ix_attempts_status", "attempts")

    op.drop_table("attempts")
    op.drop_index("ix_runs_status", "runs")
    op.drop_index("ix_runs_model_task", "runs")
    op.drop_index("ix_runs_created_at", "runs")

    op.drop_table("runs")
    op.drop_table("workers")
    op.drop_table("tasks")
    op.drop_table("shares")
    op.drop_table("marks")
    op.drop_table("evaluations")
    op.drop_table("artifacts")
