"""The organizers' own scorer in task.yaml: how the program in the folder `scorer` is called, and its columns."""

from dataclasses import dataclass

from scoring import limits
from scoring.definition.keys import Values, declare, part
from scoring.definition.kinds import DECIMALS, FLAG, NUMBER, TEXT, limited, many, matching, whole
from scoring.definition.yaml_values import Value

FOLDER = "scorer"  # in the task's folder; nothing in it is ever published
NAME = "scorer"  # of the metrics that own scorers compute, as in `scorer:quality`

COLUMN_KEY = limited(
    matching(r"[^\s:@=](?:[^:@=\n]*[^\s:@=])?", "a name without the characters : @ =", "name of a score"), 50
)
FILE_NAME = limited(
    matching(r"[A-Za-z0-9][A-Za-z0-9._ -]*", "a file name of letters, digits, and . _ -", "file name"), 100
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerColumn:
    """A value that the scorer computes for each run."""

    key: str = declare(
        COLUMN_KEY, "Name of the value in the scorer's output. Tracks list it under `metrics`, as in `scorer:quality`."
    )
    title: str | None = declare(
        limited(TEXT, 60), "Column heading on the leaderboard. Defaults to the key.", default=None
    )
    higher_is_better: bool = declare(FLAG, "Whether higher values are better.", default=True)
    decimals: int | None = declare(
        DECIMALS, "Number of decimal places in displayed scores. Defaults to the track's `decimals`.", default=None
    )
    range: tuple[float, ...] = declare(
        many(NUMBER, most=2),
        "Lowest and highest possible value, as in `[0, 1]`. Values outside the range are errors of the scorer.",
        default=(),
    )

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        return (self.range[0], self.range[1]) if len(self.range) == 2 else (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerLimits:
    """What the scorer may use for one run."""

    seconds: int = declare(
        whole(limits.SCORER_SECONDS, 1),
        "CPU time for one run, in seconds, including the time to import packages.",
        default=10,
    )
    memory: int = declare(whole(limits.SCORER_MEMORY, 64), "Memory in MiB.", default=1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """The organizers' own scoring program."""

    command: str | None = declare(
        limited(TEXT, 500),
        "Python command in the layout of CodaLab and Codabench, as in `python3 $program/evaluate.py $input $output`. "
        "If neither `command` nor `function` is set, it is read from `scorer/metadata` or `scorer/metadata.yaml`.",
        default=None,
    )
    function: str | None = declare(
        limited(
            matching(r"[^:]+\.py:[A-Za-z_][A-Za-z0-9_]*", "a file and a function, as in score.py:score", "text"), 200
        ),
        "Python function instead of a command, as in `score.py:score`. It gets two paths, those "
        "to the folders with the gold file and with the run, and returns the scores: `{quality: 0.5}`.",
        default=None,
    )
    columns: tuple[ScorerColumn, ...] = declare(
        many(part(ScorerColumn), least=1, most=limits.SCORER_COLUMNS), "Values that the scorer computes for each run."
    )
    run_file: str | None = declare(
        FILE_NAME,
        "Name under which the scorer finds the run. Defaults to `run` with the file extension of the track's format.",
        default=None,
    )
    gold_file: str | None = declare(
        FILE_NAME, "Name under which the scorer finds the gold. Defaults to the name of the gold file.", default=None
    )
    limits: ScorerLimits = declare(part(ScorerLimits), "What the scorer may use for one run.", default=ScorerLimits())

    def column(self, key: str | None) -> ScorerColumn | None:
        return next((column for column in self.columns if column.key == key), None)


def _finish(value: Value, values: Values) -> None:
    """Report contradictions within the scorer's keys."""
    if values["command"] and values["function"]:
        value.at("function").error("definition-rule", found="command and function are both set; keep one of them")
    keys = [column.key for column in values["columns"]]
    for place, column in enumerate(values["columns"]):
        if column.key in keys[:place]:
            value.at("columns", place, "key").error("definition-rule", found=f"{column.key} appears more than once")
        if column.range and not (len(column.range) == 2 and column.range[0] < column.range[1]):
            value.at("columns", place, "range").error(
                "definition-rule", found="the range must have two numbers, the lower one first, as in [0, 1]"
            )


SCORER = part(Scorer, _finish)
