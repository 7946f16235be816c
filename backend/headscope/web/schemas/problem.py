"""An error as the API tells it."""

from __future__ import annotations

from headscope.messages.base import Schema, example


class Problem(Schema):
    """RFC 9457 problem details, with a remedy; also how a run records its error."""

    model_config = example(
        type="about:blank",
        title="Not Found",
        status=404,
        code="unknown-model",
        detail="There is no model 'gpt9'.",
        remedy="Known models: headscope-2l, smollm2-135m.",
    )

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    remedy: str
