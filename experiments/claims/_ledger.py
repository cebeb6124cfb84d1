"""The ledger: rows of one data file, checks by identifier, and the page that is made of both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from abstain._files import write_text

FILE = Path(__file__).with_name("claims.json")
STATUSES = ("confirmed", "corrected", "contradicted", "open", "not testable here")
PAPERS = {
    "augrc": "Traub et al. (2024), AUGRC",
    "estimators": "Zhou et al. (2025), population AURC and its estimators",
    "cwsa": "Shahnazari et al. (2025), CWSA",
    "joint": "Joint reliability: DS-F1, DS-AURC, SURE+",
}
#: What a check needs next to the library: nothing; more than a second; a folder of saved outputs.
KINDS = ("quick", "slow", "data")


@dataclass(frozen=True)
class Claim:
    """A row: what a paper says, in our words, what came of it, and what its command printed."""

    id: str
    paper: str
    place: str
    claim: str
    status: str
    finding: str
    printed: str = ""
    read: str = ""
    """What of the authors' code was read: repository, commit, file; or that it is not published."""


Check = Callable[[], str]
#: Checks by identifier: how heavy, and the function that returns what it found or raises ``AssertionError``.
CHECKS: dict[str, tuple[str, Check]] = {}


def check(*identifiers: str, kind: str = "quick") -> Callable[[Check], Check]:
    """Register a function as the check of some rows."""

    def register(function: Check) -> Check:
        for identifier in identifiers:
            assert identifier not in CHECKS, identifier
            CHECKS[identifier] = (kind, function)
        return function

    return register


def load() -> list[Claim]:
    """Return the rows."""
    return [Claim(**row) for row in json.loads(FILE.read_text(encoding="utf-8"))]


def save(claims: Iterable[Claim]) -> None:
    """Write the rows, one a line."""
    rows = ({key: value for key, value in asdict(each).items() if value or key != "read"} for each in claims)
    lines = ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in rows)
    write_text(FILE, f"[\n{lines}\n]\n")


def command(claim: Claim) -> str:
    """Return the command that settles a row; empty if there is none."""
    if claim.id not in CHECKS:
        return ""
    options = {"quick": "", "slow": " --slow", "data": " --data FOLDER"}[CHECKS[claim.id][0]]
    return f"python -m experiments.claims {claim.id}{options}"


def run(claims: Iterable[Claim], kinds: Iterable[str]) -> dict[str, str]:
    """Return what the checks of some kinds print, by identifier; a failed one says so."""
    allowed, found, known = set(kinds), dict[str, str](), dict[Check, str]()
    for each in claims:
        if each.id in CHECKS and CHECKS[each.id][0] in allowed:
            function = CHECKS[each.id][1]
            if function not in known:
                try:
                    known[function] = function()
                except AssertionError as why:
                    known[function] = f"FAILED: {why}"
            found[each.id] = known[function]
    return found


def with_printed(claims: Iterable[Claim], found: dict[str, str]) -> list[Claim]:
    """Return the rows with what was printed now."""
    return [replace(each, printed=found.get(each.id, each.printed)) for each in claims]


def counts(claims: Iterable[Claim]) -> list[tuple[str, ...]]:
    """Return how many rows of each paper have which status."""
    rows = []
    by_paper = Counter((each.paper, each.status) for each in claims)
    for paper in (*PAPERS, ""):
        of = {s: sum(n for (p, t), n in by_paper.items() if t == s and paper in ("", p)) for s in STATUSES}
        rows.append((paper or "all", str(sum(of.values())), *(str(of[s]) for s in STATUSES)))
    return rows


def page(claims: list[Claim]) -> str:
    """Return ``docs/claims.md``."""
    head = [
        "<!-- made by `make claims` from experiments/claims/claims.json; edit that -->",
        "# Claims of the papers, one by one",
        "",
        "This page lists each statement of fact of four papers in our words, with what a command here printed about it.",
        "Definitions, motivation and settings are left out. A row has one of five statuses:",
        "",
        "- *confirmed*: the statement holds;",
        "- *corrected*: it is true in part, or after the change that is named;",
        "- *contradicted*: a formula, the printed numbers or data say otherwise;",
        "- *open*: it can be tested and is not settled;",
        "- *not testable here*: it needs material that is not available, or it can only be judged by reading.",
        "",
        "If two readings are possible, both are named. An agreement by coincidence is marked. A row says corrected or",
        "contradicted only after the authors' repository was read: the last column names repository, commit and file, or",
        "says that nothing is published.",
        "",
        "`python -m experiments.claims A29` runs one row, and `make claims` runs all rows that need no data. Rows marked †",
        "need a second or more (`--slow`). Rows marked ‡ need saved outputs of other networks (`--data FOLDER`). The checks",
        "are in `experiments/claims/`, with the numbers that the papers print. We have seen no printed value that depends on",
        "the processor: all are the same with AVX-512 and with SSE alone",
        '(`NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL" OPENBLAS_CORETYPE=Prescott ATEN_CPU_CAPABILITY=default`).',
        "",
        "| paper | claims | " + " | ".join(STATUSES) + " |",
        "|---|" + "---:|" * (1 + len(STATUSES)),
        *(f"| {' | '.join(row)} |" for row in counts(claims)),
    ]
    for paper, title in PAPERS.items():
        head += [
            "",
            f"## {title}",
            "",
            "| | place | claim | status | finding | printed | read |",
            "|---|---|---|---|---|---|---|",
        ]
        head += [_row(each) for each in claims if each.paper == paper]
    return "\n".join(head) + "\n"


def _row(claim: Claim) -> str:
    mark = {"slow": " †", "data": " ‡"}.get(CHECKS[claim.id][0], "") if claim.id in CHECKS else ""
    cells = (
        claim.id + mark,
        claim.place,
        claim.claim,
        claim.status,
        claim.finding,
        claim.printed or "—",
        claim.read or "—",
    )
    return "| " + " | ".join(_safe(cell) for cell in cells) + " |"


def _safe(text: str) -> str:
    for character in "\\|*_<[`":
        text = text.replace(character, f"\\{character}")
    return text
