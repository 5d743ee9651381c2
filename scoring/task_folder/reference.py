"""Generate docs/task-yaml.md: `python -m scoring.task_folder.reference > docs/task-yaml.md`."""

from collections.abc import Container, Iterable, Iterator, Mapping

from scoring import limits
from scoring.definition.keys import REQUIRED, Key, keys_of
from scoring.definition.spec import Definition
from scoring.formats import FORMATS

INTRODUCTION = """# task.yaml: every key

A shared task is a folder with a `task.yaml`. [For organizers](for-organizers.md) shows a complete example and explains
how the parts work together. This page lists every key. It is generated from the code that reads `task.yaml`.

- Values are read as text and then converted, so `YES`, `NO` and `1_0` keep their spelling.
- Paths are relative to the folder and must not leave it.
- A slug consists of lowercase letters, digits and single hyphens, such as `task1-hard`. It has at most 50 characters.
- A time consists of a date from 2000 to 2199, a time of day and a time zone: `"2027-05-01 00:00 AoE"`,
  `"2027-05-01 14:30 UTC"` or `"2027-05-01 14:30 Europe/Madrid"`. Times as in ISO 8601 are allowed, too:
  `"2027-05-01T14:30Z"` or `"2027-05-01T14:30+02:00"`. Abbreviations such as EST cause a warning on dates on which
  clocks show summer time.
- A list or mapping can have up to {entries} entries unless its row below gives another maximum. The whole file can have
  up to {values} keys and values of up to {characters} characters each, and all tracks together up to {metrics} metrics.
  A task can have up to {boards} leaderboards, one for each phase and track.
- Agon reports all problems in the file together, each with its line number.
"""

# A heading, an introduction and an example for each key whose value is a mapping or a list of mappings.
SECTIONS = {
    "contact": (
        "Contact",
        "How participants can reach you. The contact details are shown in the footer of each of the task's pages.",
        """contact:
  address: colors@uni.example
  mailing_list: https://groups.example.org/colors2027
  link: https://forum.example.org/colors2027
""",
    ),
    "organizers": (
        "Organizers",
        "Who organizes the task, in the order of its publications. The overview page lists them. They are the authors "
        "in the task's BibTeX entry and in the files for papers. Accounts with organizers' rights are a separate list.",
        """organizers:
  - {name: Oana Organizer, affiliation: University of Example, link: https://uni.example/oana}
  - {name: Otto Organizer, affiliation: University of Example, address: otto@uni.example}
""",
    ),
    "team": (
        "Teams",
        "Who can take part, and which questions a captain answers when creating a team.",
        """team:
  name: "[A-Za-z0-9_-]{2,30}"
  approval: {domains: [uni.example]}
  closes_with: evaluation
  questions:
    - {key: size, label: "How many people are in your team?", required: true}
    - {key: systems, label: "What will you use?", choices: [rules, statistics, neural]}
""",
    ),
    "agreement": (
        "Agreement",
        "The terms that participants accept before they use the data.",
        """agreement: {version: "1", file: pages/terms.md}
""",
    ),
    "tracks": (
        "Tracks",
        "Each track is a separate ranking with its own items, run format and metrics.",
        """tracks:
  - slug: main-hard
    title: "Main task, hard labels"
    format: {kind: json-labels, classes: [red, yellow, blue, green]}
    hierarchy: colors
    items: {dev: data/dev_ids.txt, test: data/test_ids.txt}
    metrics: [icm, icm_norm, f1_macro]
    rank_by: icm
""",
    ),
    "naming": (
        "File names",
        "The file name of a run identifies its team, track and run number. In this example, "
        "`main_hard_TEAM_1.json` is run 1 of the `TEAM` team for the `main-hard` track.",
        """naming:
  archive: "colors_{team}"
  run: "{task}_{context}_{team}_{number}[.json]"
  track: "{task}-{context}"
  number: [1, 2, 3]
""",
    ),
    "phases": (
        "Phases",
        "A phase is a time window during which runs are accepted. Each phase has its own limits.",
        """phases:
  - slug: development
    opens: "2027-02-01 00:00 AoE"
    closes: "2027-05-01 00:00 AoE"
    split: dev
    runs_per_day: 10
    scores: at-once
    official: best
  - slug: evaluation
    opens: "2027-05-01 00:00 AoE"
    closes: "2027-05-16 00:00 AoE"
    runs_per_track: 3
    scores: on-release
    released: "2027-05-24 10:00 UTC"
    official: best
""",
    ),
    "scorer": (
        "Own scorer",
        "Your own scoring program, a Python program in the folder `scorer`. Its columns are metrics that tracks list "
        "as `scorer:quality`, next to Agon's own. They have no confidence intervals, and the gold standard "
        "itself gets no value. [For organizers](for-organizers.md#your-own-scorer) explains what the program reads and "
        "writes.",
        """scorer:
  command: python3 $program/evaluate.py $input $output
  columns:
    - {key: quality, title: "Quality", range: [0, 1], decimals: 2}
    - {key: seconds, title: "Time", higher_is_better: false}
  run_file: answer.txt
  limits: {seconds: 10, memory: 1024}
""",
    ),
    "datasets": (
        "Datasets",
        "Files that people can download from the data page.",
        """datasets:
  - {slug: train, title: "Training data", file: data/train.tsv, access: public, licence: CC-BY-4.0}
  - {slug: test, file: data/test.tsv, access: password, encrypted: true, released: "2027-05-01 00:00 AoE"}
""",
    ),
    "gold": (
        "Gold standards",
        "Gold files contain the correct answers. They are encrypted when you import the task, and only the worker "
        "can open them.",
        """gold:
  - {track: main-hard, split: dev, file: gold/dev.json, published: true}
  - {track: main-hard, split: test, file: gold/test.json, covers: listed}
""",
    ),
    "votes": (
        "Votes",
        "Annotators' votes are as confidential as the gold standard. When you import the task, Agon computes how "
        "well the annotators agree. The results analysis shows the agreement next to the scores.",
        """votes:
  - {track: main-hard, file: gold/votes.json, field: labels, none: none, no_vote: [UNKNOWN, SKIPPED]}
""",
    ),
    "baselines": (
        "Baselines",
        "Leaderboards list baselines among the runs, in order of score, but without a rank.",
        """baselines:
  - {name: "Gold standard"}
  - {name: "Majority class", files: "baselines/{split}/{track}/majority.json"}
  - name: "TF-IDF + SVC"
    files: "baselines/{split}/tfidf-svc.json"
    tracks: [main-hard]
    recipe: {method: tfidf-svc, train: data/train.json, texts: [data/train.tsv, data/test.tsv]}
""",
    ),
    "overall": (
        "Overall rankings",
        "An overall ranking combines the results of several tracks.",
        """overall:
  - {slug: all, title: "All tracks", tracks: [main-hard], by: mean-rank, note: "This ranking is unofficial."}
""",
    ),
}
TASK = """agon: 1
slug: colors2027
title: "Colors 2027"
subtitle: "Naming the colors of things"
venue: "A workshop"
year: 2027
languages: [en]
sources: ["Doe et al. (2027): Overview of Colors 2027"]
pages: {overview: pages/overview.md, data: pages/data.md, evaluation: pages/evaluation.md, terms: pages/terms.md}
hierarchies: {colors: {warm: [red, yellow], cold: [blue, green]}}
decimals: 3
"""


def _filled_in(text: str, values: Mapping[str, int]) -> str:
    """Replace `{name}` with the number of this name. Other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", f"{value:,}")
    return text


def as_markdown() -> str:
    """Return the page: the keys of the task, a section for each part, and the run formats."""
    keys = keys_of(Definition)
    maxima = {
        "entries": limits.ENTRIES,
        "values": limits.DEFINITION_VALUES,
        "characters": limits.DEFINITION_CHARACTERS,
        "metrics": limits.METRICS_IN_TOTAL,
        "boards": limits.BOARDS,
    }
    lines = [_filled_in(INTRODUCTION, maxima), "## Task", "", *_example(TASK), *_table(keys, SECTIONS)]
    for key in keys:
        if key.name in SECTIONS:
            heading, sentence, example = SECTIONS[key.name]
            lines += [f"## {heading}", "", sentence, "", *_example(example), *_table(key.kind.keys)]
    lines += ["## Run formats", "", "A run format consists of a `kind` and that kind's options.", ""]
    for kind, spec in FORMATS.items():
        options = f", {spec.example}" if spec.example else ""
        lines += [f"### {kind}", "", spec.doc, "", *_example(f"format: {{kind: {kind}{options}}}\n")]
        lines += _table(spec.options)
    return "\n".join(lines).rstrip("\n") + "\n"


def _example(text: str) -> list[str]:
    return ["```yaml", text + "```", ""]


def _table(keys: Iterable[Key], sections: Container[str] = ()) -> list[str]:
    """Return a table with a row for each key, including keys of nested mappings that have no section of their own."""
    rows = list(_rows(keys, sections))
    return ["| key | value | default | meaning |", "| --- | --- | --- | --- |", *rows, ""] if rows else []


def _rows(keys: Iterable[Key], sections: Container[str], path: str = "") -> Iterator[str]:
    for key in keys:
        has_section = key.name in sections
        name = f"`{path}{key.name}`"
        if has_section:
            name = f"[{name}](#{SECTIONS[key.name][0].lower().replace(' ', '-')})"
        condition = f"Only for `{key.when[0]}: {'` or `'.join(key.when[1:])}`. " if key.when else ""
        yield f"| {name} | {key.kind.name} | {_default(key)} | {condition}{key.doc} |"
        if not has_section:
            is_list = key.kind.schema.get("type") == "array"
            is_by_name = isinstance(key.kind.schema.get("additionalProperties"), dict)
            entry = "[]" if is_list else ".NAME" if is_by_name else ""
            yield from _rows(key.kind.keys, (), f"{path}{key.name}{entry}.")


def _default(key: Key) -> str:
    if key.default is REQUIRED:
        return "required"
    if callable(key.default):
        return str(key.default.__doc__)
    if isinstance(key.default, bool):
        return f"`{str(key.default).lower()}`"
    if key.default == " ":
        return "a space"
    return f"`{key.default}`" if isinstance(key.default, str | int | float) and key.default != "" else "–"


if __name__ == "__main__":
    print(as_markdown(), end="")  # noqa: T201
