"""How a model does on a task without gates: computed in the background, once, and kept in the store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from headscope.core.gating.verdict import Verdict, judge
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.errors import HeadscopeError
from headscope.jobs.device_queue import DeviceQueue
from headscope.jobs.problem import problem_of
from headscope.messages import TaskAccuracyOut
from headscope.store import evaluations
from headscope.store.session import Store
from headscope.tasks.task import Examples, Task
from headscope.worker.client import no_accuracy
from headscope.worker.model_cache import ModelCache

log = logging.getLogger(__name__)

MOST_EXAMPLES = 128
"""Held-out examples looked at: a share of 0.5 is then known to within 0.09 (two standard errors)."""


@dataclass
class Accuracies:
    """Computes evaluations one after the other, behind prompts and between a job's micro-batches."""

    store: Store
    models: ModelCache
    device_queue: DeviceQueue
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="accuracy")
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _computing: set[tuple[str, str, str, str]] = field(default_factory=set)
    _failed: dict[tuple[str, str, str, str], str] = field(default_factory=dict)

    def ask(self, model: ModelInfo, task: Task) -> TaskAccuracyOut:
        """The kept evaluation, or ``computing``; a failure is reported once, then retried."""
        key = (model.name, model.revision, task.name, task.content_hash)
        with self.store.session() as session:
            kept = evaluations.get(session, *key)
        if kept is not None:
            return TaskAccuracyOut.model_validate(kept)
        with self._lock:
            failed = self._failed.pop(key, None)
            if failed is not None:
                return no_accuracy(model.name, task.name, "unavailable", failed)
            if key not in self._computing:
                self._computing.add(key)
                self._pool.submit(self._compute, key, model, task)
        return no_accuracy(model.name, task.name, "computing", "A worker is computing it; try again soon.")

    def _compute(self, key: tuple[str, str, str, str], info: ModelInfo, task: Task) -> None:
        try:
            with self.models.model(info.name, dtype="float32", attention="sdpa") as model:
                examples = held_out(model, task)  # reads and tokenises: others may have the device meanwhile
                with self.device_queue.interactive():
                    found = evaluate_task(model, task, examples, self.device_queue.alternate)
            self.store.patiently(lambda session: evaluations.put(session, *key, found.model_dump()))
        except Exception as error:
            if not isinstance(error, HeadscopeError):
                log.exception("Evaluating %s on %s failed", task.name, info.name)
            problem = problem_of(error)
            with self._lock:
                self._failed[key] = f"{problem['detail']} {problem['remedy']}"
        finally:
            with self._lock:
                self._computing.discard(key)


def held_out(model: HeadModel, task: Task) -> Examples:
    """The examples that a task is judged by."""
    return task.examples(model.tokenizer, "test", limit=MOST_EXAMPLES, n_ctx=model.info.n_ctx)


def evaluate_task(
    model: HeadModel, task: Task, examples: Examples, checkpoint: Callable[[], None] = lambda: None
) -> TaskAccuracyOut:
    """Accuracy, log-probability (nats per target token) and a verdict on held-out examples."""
    from headscope.core.gating.evaluation import evaluate

    score = evaluate(model, examples, judged=task.judged, checkpoint=checkpoint)
    accuracy = float(score.accuracy[0])
    chance = examples.chance(task.judged)
    verdict = judge(accuracy, chance, len(examples))
    return TaskAccuracyOut(
        task=task.name,
        model=model.info.name,
        status="done",
        accuracy=accuracy,
        log_probability=float(score.log_probability[0]),
        chance=chance,
        n=len(examples),
        verdict=verdict,
        detail=_WORDS[verdict],
    )


_WORDS: dict[Verdict, str] = {
    "can": "The model can do this task.",
    "weak": "The model does better than guessing, but often fails: expect noisier roles.",
    "too-few": "Too few held-out examples to tell whether the model can do this task.",
    "cannot": "The model can't do this task: no better than guessing. Gates say little about it.",
}
