"""Names that a file may hold and that must not harm a terminal, a page, a picture, a table or a spreadsheet."""

import numpy as np

import abstain

NAMES = {
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "entity": "&lt;b&gt;",
    "template": "{{ 7 * 7 }}{% endif %}",
    "comment": "--><!--",
    "mathematics": "$x_1$",
    "broken mathematics": "$\\frac{",
    "hidden": "_hidden",
    "markup": "[red]x[/red]",
    "broken markup": "[/]",
    "colour": "\x1b[31m",
    "title": "\x1b]0;owned\x07",
    "override": "\u202ecba",
    "invisible": "\u200b",
    "newline": "a\nb",
    "return": "a\rb",
    "tab": "\ta",
    "separator": "a\u2028b",
    "nul": "a\x00b",
    "long": "x" * 300,
    "empty": "",
    "blank": " ",
    "surrogate": "a\ud800b",
    "chinese": "置信度",
    "emoji": "🧑\u200d⚖️",
    "comma": 'a,"b"',
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(A1)",
}


def evaluation(*names):
    """Return an evaluation with scores of these names, and with a group column and groups of the first name."""
    rng = np.random.default_rng(0)
    n = 100  # with few errors the verdict compares two scores by 1,999 swaps, which has nothing to do with names
    value = names[0].replace("\x00", "?") or "?"  # NumPy cuts a NUL off the end of a text
    outputs = abstain.Outputs(
        loss=(rng.random(n) < 0.3).astype(float),
        scores={name: rng.random(n) for name in (*names, "plain")},
        groups={names[0]: np.array(["other", "other", value, "third"] * (n // 4))},
    )
    metrics = ["augrc", "auroc_f", "coverage_at_risk(risk=0)"]
    return abstain.evaluate(outputs, [*names, "plain"], metrics, groups=names[0])
