"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

from abstain.cli._columns import COLUMNS, as_option

#: Arguments of the library as options of the command.
_OPTIONS = (*COLUMNS, "groups", "scores", "metrics", "nan_policy", "max_loss", "temperature", "delta", "plan", "judge",
            "halfwidth", "error_rate", "maturity", "time", "again", "state")  # fmt: skip
_PHRASES = {
    " (or unlabelled=True)": "",
    "class_names=[...]": "--class-names a,b,...",
    "n_resamples": "--resamples",
    "plan.extend(loss)": "'abstain plan --extend'",
    "edited=True": "'abstain apply --edited'",
    "overwrite=True": "--overwrite",
    "choose one by models=": "choose one by --models",
    "again=True": "--again",
    "unlabelled='error'": "--unlabelled error",
    'labelled="at random"': "--at-random",
    'target="population"': "--population",
    'unseen="top"': "--unseen top",
    'unseen="random"': "--unseen random",
    'plan_labels(metric="aurc")': "abstain plan --metric aurc",
    "plan= (of abstain.plan_labels)": "--plan (of 'abstain plan')",
    "give plan= or labelled=, not both": "give --plan or --at-random, not both",
    "give judge= or compare=": "give --judge or --compare",
    "give n, such as plan.extend(loss, n=200)": "give --labels, such as --labels 200",
    "; give n=, and extend the plan": "; give --labels, and extend the plan",
    "exactly one of n (labels that": "exactly one of --labels (how many",
    "and halfwidth (width": "and --halfwidth (width",
    "abstain.plan_labels(...).save(path) writes": "'abstain plan' writes",
    "abstain.metrics.names() lists": "'abstain metrics' lists",
    "abstain.scores.names() lists": "'abstain scores' lists",
    "use losses.zero_one, or augrc": "use augrc",
    ".measurements holds all": "--csv FILE holds all",
    " (of a file: uncertainty=)": " (--uncertainty)",
    " (of a file: positive_probability=)": " (--positive-probability)",
    " (of a file: correct=)": " (--correct)",
    "give scores={name: column}": "name columns with --scores",
    "these outputs have no groups; give Outputs(groups={...})": "the file has no groups; name a column",
    "Outputs(..., abstention_unit=True)": "--abstain-class with its place",
}
_ARGUMENT = re.compile(rf"(?<![\w(-])({'|'.join(_OPTIONS)})=(?=(<|['\"])|[\s,;:)]|$)")
#: Numbers, lists and dicts as the command line writes them.
_LIST = re.compile(r"\b(class_names|confidence_levels)=\[([^\]]*)\]")
_NUMBER = re.compile(r"(?<![(\w])(ood_label|abstain_class|delta|max_loss|temperature)=(-?[\d.]*\d)")
_PLANNED = re.compile(r"\bn=(\d+) labels\b( them)?")
_DICT = re.compile(r"\bwhere=\{'([^']*)': '([^']*)'\}")


def as_options(message: str) -> str:
    """Return a message of the library in the words of the command line: ``labels=`` becomes ``--labels``."""
    for words, ours in _PHRASES.items():
        message = message.replace(words, ours)
    message = _LIST.sub(
        lambda found: f"{as_option(found[1])} {found[2].replace(chr(39), '').replace(', ', ',')}", message
    )
    message = _NUMBER.sub(lambda found: f"{as_option(found[1])} {found[2]}", message)
    message = _PLANNED.sub(lambda found: f"--labels {found[1]}" + (" labels them" if found[2] else ""), message)
    message = _DICT.sub(lambda found: f"--where {found[1]}={found[2]}", message)
    return _ARGUMENT.sub(lambda found: as_option(found[1]) + (" " if found[2] else ""), message)
