"""The Ladder: the scores that it shows, and the attack from its paper, which gains nothing."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.analysis.ladder import ladder

Feedback = Callable[[Sequence[float]], Iterable[float | None]]


def test_only_steps_are_shown_and_rounded() -> None:
    losses = [0.5, 0.496, 0.489, None, 0.48, 0.4801, 0.4799, 0.9, 0.123]
    assert list(ladder(losses, 0.01)) == [0.5, None, 0.49, None, None, None, 0.48, None, 0.12]


@pytest.mark.slow
@given(st.lists(st.floats(-2, 2) | st.none()), st.sampled_from([0.001, 0.01, 0.05, 0.3]))
def test_what_is_shown_only_gets_better_and_is_never_far_from_the_best(losses: list[float | None], step: float) -> None:
    shown = list(ladder(losses, step))
    steps = [loss for loss in shown if loss is not None]
    assert all(later < sooner for sooner, later in pairwise(steps))
    best = np.inf
    for place, loss in enumerate(losses):
        best = min(best, np.inf if loss is None else loss)
        last = next((one for one in reversed(shown[: place + 1]) if one is not None), np.inf)
        assert last == best or last - best <= step * (1 + 1e-9)
        assert last == best or best - last <= step / 2 * (1 + 1e-9)


def boosted(feedback: Feedback, items: int = 2000, runs: int = 600) -> float:
    """Return the accuracy on hidden labels after the boosting attack of Blum & Hardt (2015, section 4).

    The attack sees only the feedback. It submits random labels and keeps those that are shown to be better than chance.
    The last run is their majority vote.
    """
    random = np.random.default_rng(1)
    gold = random.integers(0, 2, items)
    sent = random.integers(0, 2, (runs, items))
    shown = feedback((sent != gold).mean(axis=1).tolist())
    kept = [run for run, loss in zip(sent, shown, strict=True) if loss is not None and loss < 0.5]
    majority = np.mean(kept, axis=0) > 0.5 if kept else sent[0]
    return float(np.mean(majority == gold))


@pytest.mark.parametrize("step", [0.03, 0.05, 0.1])
def test_the_boosting_attack_gains_on_a_plain_board_and_nothing_on_the_ladder(step: float) -> None:
    plain, stepped = boosted(lambda losses: losses), boosted(lambda losses: ladder(losses, step))
    assert plain - 0.5 > 0.1
    assert abs(stepped - 0.5) <= step
