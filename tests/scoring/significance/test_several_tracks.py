"""Intervals and tie groups of mean scores over tracks, compared with samples drawn separately in numpy."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare
from scoring.significance import MeanScore, TrackRuns, interval, mean_tests, sampled_means
from scoring.significance.several_tracks import SampledMeans

ACCURACY = MetricSpec("accuracy")
F1 = MetricSpec("f1", "a")
ITEMS = 400
Bits = np.ndarray


def labels(ids: Sequence[str], given: Bits) -> Matrix:
    return Matrix(list(ids), ("a", "b"), np.column_stack([given, ~given]))


def track(
    gold: Bits, runs: Mapping[str, Bits], spec: MetricSpec = ACCURACY, ids: Sequence[str] | None = None
) -> TrackRuns:
    """Create a track. Its items are "0", "1" … unless `ids` says otherwise."""
    ids = ids or [str(item) for item in range(len(gold))]
    loaded = LoadedGold(labels(ids, gold))
    return TrackRuns({team: compare(loaded, labels(ids, given)) for team, given in runs.items()}, spec)


def reordered(gold: Bits, runs: Mapping[str, Bits], spec: MetricSpec, order: Bits) -> TrackRuns:
    """Create the same track with its items in another order."""
    return track(gold[order], {team: given[order] for team, given in runs.items()}, spec, list(map(str, order)))


def sampled(
    tracks: Sequence[TrackRuns | None], weights: Sequence[float], missing: str = "unranked", **more: int
) -> SampledMeans:
    teams = list(dict.fromkeys(team for one in tracks if one for team in one.runs))
    found = sampled_means(tracks, teams, MeanScore(weights, missing), seed=3, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


def f1(gold: Bits, given: Bits) -> float:
    return 2 * (gold & given).sum() / (gold.sum() + given.sum())


def hits(gold: Bits, given: Bits) -> float:
    return float((gold == given).mean())


def answers(seed: int, errors: float, gold: Bits, wrong: Bits | None = None) -> Bits:
    chosen = np.random.default_rng(seed).random(len(gold)) < errors
    return gold ^ (chosen if wrong is None else wrong)


@pytest.mark.slow
@pytest.mark.parametrize("same_errors", [True, False])
def test_tracks_with_the_same_items_are_sampled_together(same_errors: bool) -> None:
    """If a team is wrong on the same items in both tracks, its mean varies more than for independent tracks."""
    rng = np.random.default_rng(8)
    gold, other = rng.random(ITEMS) < 0.4, rng.random(ITEMS) < 0.5
    wrong = rng.random(ITEMS) < 0.3
    second = other ^ (wrong if same_errors else ~wrong & (rng.random(ITEMS) < 0.4))
    one, two = {"x": gold ^ wrong}, {"x": second}
    weights = (2.0, 1.0)
    ours = sampled([track(gold, one, F1), reordered(other, two, ACCURACY, rng.permutation(ITEMS))], weights)
    draws = np.random.default_rng(99)  # not the draws of the engine
    peer, apart = [], []
    for _ in range(10_000):
        rows, others = draws.integers(ITEMS, size=ITEMS), draws.integers(ITEMS, size=ITEMS)
        first = f1(gold[rows], one["x"][rows])
        peer.append((2 * first + hits(other[rows], second[rows])) / 3)
        apart.append((2 * first + hits(other[others], second[others])) / 3)
    (samples,) = ours.on_samples()
    assert samples.mean() == pytest.approx(np.mean(peer), abs=0.002)
    assert samples.std() == pytest.approx(np.std(peer), rel=0.05)
    # Independent samples would have a different spread.
    assert (np.std(apart) < 0.9 * np.std(peer)) == same_errors
    assert (np.std(apart) > 1.1 * np.std(peer)) != same_errors
    found = ours.intervals(0.95)["x"]
    assert found.value == pytest.approx((2 * f1(gold, one["x"]) + hits(other, second)) / 3)
    assert found.low < found.value < found.high
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.std(peer), rel=0.05)


@pytest.mark.slow
def test_tracks_with_different_items_are_sampled_independently() -> None:
    rng = np.random.default_rng(4)
    gold, wrong = rng.random(ITEMS) < 0.5, rng.random(ITEMS) < 0.3
    one = track(gold, {"x": gold ^ wrong})
    ids = [f"other {item}" for item in range(ITEMS)]
    two = track(gold, {"x": gold ^ wrong}, ids=ids)
    ours = sampled([one, two], (1, 1))
    draws = np.random.default_rng(98)
    rows = draws.integers(ITEMS, size=(2, 10_000, ITEMS))
    peer = (1 - wrong[rows].mean(axis=2)).mean(axis=0)
    (samples,) = ours.on_samples()
    assert samples.mean() == pytest.approx(peer.mean(), abs=0.002)
    assert samples.std() == pytest.approx(peer.std(), rel=0.05)
    found = ours.intervals(0.95)["x"]
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * peer.std(), rel=0.05)


def test_a_single_track_has_its_own_interval() -> None:
    rng = np.random.default_rng(4)
    gold = rng.random(60) < 0.5
    one = track(gold, {"x": answers(1, 0.1, gold), "perfect": gold})
    found = sampled([one], (3,)).intervals(0.95)
    for team in one.runs:
        own = interval(one.runs[team], ACCURACY, seed=1)
        assert own is not None
        assert (found[team].low, found[team].high) == pytest.approx((own.low, own.high), abs=1e-12)


def test_a_perfect_team_has_an_interval_within_the_range() -> None:
    gold = np.random.default_rng(4).random(60) < 0.5
    found = sampled([track(gold, {"x": gold}), track(gold, {"x": gold})], (1, 1)).intervals(0.95)["x"]
    alone = interval(track(gold, {"x": gold}).runs["x"], ACCURACY, seed=1)
    assert alone is not None
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(alone.low)  # the same items, so the second track adds no information


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "factor"), [("zero", 0.5), ("skip", 1.0), ("unranked", None)])
def test_a_missing_track_counts_as_declared(missing: str, factor: float | None) -> None:
    rng = np.random.default_rng(4)
    gold = rng.random(ITEMS) < 0.5
    given = answers(1, 0.3, gold)
    tracks = [track(gold, {"x": given, "both": gold}), track(gold, {"both": given})]
    ours = sampled(tracks, (1, 1), missing)
    found = ours.intervals(0.95)
    assert found["both"].value == pytest.approx((1 + hits(gold, given)) / 2)
    grouped = [one.name for one in mean_tests(ours, higher_is_better=True).grouped(0.05)]
    assert grouped == (["both"] if factor is None else ["both", "x"])
    if factor is None:
        assert "x" not in found
        return
    alone = interval(tracks[0].runs["x"], ACCURACY, seed=1)
    assert alone is not None
    assert (found["x"].value, found["x"].low, found["x"].high) == pytest.approx(
        (factor * alone.value, factor * alone.low, factor * alone.high)
    )
    peer = factor * (gold == given)[np.random.default_rng(97).integers(ITEMS, size=(10_000, ITEMS))].mean(axis=1)
    samples = ours.on_samples()[ours.teams.index("x")]
    assert samples.mean() == pytest.approx(peer.mean(), abs=0.002)
    assert samples.std() == pytest.approx(peer.std(), rel=0.05)


@pytest.mark.slow
def test_a_track_without_runs_is_missing_for_everyone() -> None:
    gold = np.random.default_rng(4).random(ITEMS) < 0.5
    one = track(gold, {"x": answers(1, 0.3, gold)})
    assert sampled([one, None], (1, 1), "skip").means().tolist() == sampled([one], (1,)).means().tolist()
    assert sampled([one, None], (1, 1), "unranked").intervals(0.95) == {}


def test_no_result_if_tracks_share_only_some_items_or_a_metric_has_no_contributions() -> None:
    gold = np.random.default_rng(4).random(ITEMS) < 0.5
    one, part = track(gold, {"x": gold}), track(gold[:300], {"x": gold[:300]})
    mean = MeanScore((1, 1), "zero")
    assert sampled_means([one, part], ["x"], mean, seed=1) is None
    ids = [str(item) for item in range(60)]
    truth = np.random.default_rng(1).random((60, 1))
    numbers = compare(LoadedGold(Matrix(ids, ("n",), truth)), Matrix(ids, ("n",), truth**2))
    ranks = TrackRuns({"x": numbers}, MetricSpec("spearman", "n"))
    assert sampled_means([ranks], ["x"], MeanScore((1,), "zero"), seed=1) is None


@pytest.mark.slow
def test_groups_see_that_errors_on_the_same_items_cancel() -> None:
    """One team is slightly worse on a few more items. Only samples of the same items for both teams find this."""
    rng = np.random.default_rng(5)
    gold = rng.random(ITEMS) < 0.5
    wrong = rng.random(ITEMS) < 0.4
    more = wrong | (np.arange(ITEMS) < 30)
    runs = {"better": gold ^ wrong, "worse": gold ^ more, "copy": gold ^ wrong}
    tracks = [track(gold, runs), reordered(gold, runs, ACCURACY, rng.permutation(ITEMS))]
    groups = {one.name: one.group for one in mean_tests(sampled(tracks, (1, 1)), higher_is_better=True).grouped(0.05)}
    assert groups == {"better": 1, "copy": 1, "worse": 2}
    first, *_others = mean_tests(sampled(tracks, (1, 1)), higher_is_better=False).grouped(0.05)
    assert first.name == "worse"
    few = [track(gold[:9], {team: given[:9] for team, given in runs.items()})]
    assert {one.group for one in mean_tests(sampled(few, (1,)), higher_is_better=True).grouped(0.05)} == {1}


@pytest.mark.slow
def test_equal_teams_are_rarely_in_different_groups_and_intervals_cover_the_truth() -> None:
    """Ten equally good teams on two tracks with the same items and one with other items, in 200 simulations."""
    rng = np.random.default_rng(12)
    apart = covered = 0
    for _ in range(200):
        hard = rng.random(200) < 0.5  # items on which teams make more errors, in both tracks
        chance = np.where(hard, 0.45, 0.15)
        gold = np.zeros(200, bool)
        teams = {f"team {number}" for number in range(10)}
        one, two, three = ({team: rng.random(200) < chance for team in sorted(teams)} for _track in range(3))
        tracks = [track(gold, one), track(gold, two), track(gold, three, ids=[f"t{item}" for item in range(200)])]
        # The p-values and the intervals of shares hold for any number of rounds.
        ours = sampled(tracks, (1, 1, 1), rounds=200)
        groups = mean_tests(ours, higher_is_better=True).grouped(0.05)
        apart += max(group.group or 0 for group in groups) > 1
        found = ours.intervals(0.95)["team 0"]
        covered += found.low <= 0.7 <= found.high
    assert apart <= 18  # at most 5% expected; 18 of 200 would be exceeded with a probability of 1%
    assert covered >= 180
