"""The JSON schema of the file of a policy, for programs that read it without this library."""

from __future__ import annotations

from typing import Any

from abstain.policy._plain import REASONS
from abstain.policy._policy import FORMAT
from abstain.policy._reading import KEPT

_THRESHOLD = {
    "description": "A row is answered if its score is at least this; inf rejects all.",
    "anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}],
}
_COLUMNS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_INPUTS = {
    "description": "Columns of the classes from which the score is computed; null: the score is a column itself.",
    "type": ["object", "null"],
    "properties": {"logits": _COLUMNS, "probabilities": _COLUMNS},
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 1,
}
_TEMPERATURE = {"description": "Divides the logits.", "type": ["number", "null"], "exclusiveMinimum": 0}
_SECOND = {
    "description": "A second score, which must reach its threshold too.",
    "type": ["object", "null"],
    "properties": {
        "score": {"type": "string", "minLength": 1},
        "inputs": _INPUTS,
        "temperature": _TEMPERATURE,
        "uncertainty": {"description": "The score is minus its column.", "type": "boolean"},
        "threshold": _THRESHOLD,
    },
    "required": ["score", "inputs", "temperature", "uncertainty", "threshold"],
    "additionalProperties": False,
}
_GUARANTEE = {
    "description": "What is promised; null: nothing.",
    "type": ["object", "null"],
    "properties": {
        "risk": {"type": "number", "exclusiveMinimum": 0},
        "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "max_loss": {"type": "number", "exclusiveMinimum": 0},
        "statement": {"type": "string"},
    },
    "required": ["risk", "delta", "max_loss", "statement"],
}
_ABOUT = {"description": "model, created, author, note.", "type": "object", "additionalProperties": {"type": "string"}}
_READING = {
    "description": "How files are read: arguments of read_outputs.",
    "type": "object",
    "propertyNames": {"enum": list(KEPT)},
    "additionalProperties": {"anyOf": [{"type": "string", "minLength": 1}, _COLUMNS]},
}


def schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of the file that :meth:`Policy.save` writes.

    Returns
    -------
    dict

    Examples
    --------
    >>> import abstain
    >>> sorted(abstain.policy.schema()["required"])[:4]
    ['about', 'calibration', 'classes', 'digest']
    """
    properties: dict[str, Any] = {
        "format": {"const": FORMAT},
        "score": {
            "description": "Column of the score, or the score that is computed.",
            "type": "string",
            "minLength": 1,
        },
        "inputs": _INPUTS,
        "temperature": _TEMPERATURE,
        "group": {"description": "Column of the groups.", "type": ["string", "null"]},
        "thresholds": {
            "description": 'By group; "" where there are none.',
            "type": "object",
            "additionalProperties": _THRESHOLD,
            "minProperties": 1,
        },
        "objective": {"description": "What was asked for.", "type": "object"},
        "guarantee": _GUARANTEE,
        "calibration": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        "reading": _READING,
        "classes": {
            "description": "In the order of their columns.",
            "type": ["array", "null"],
            "items": {"type": "string"},
        },
        "about": _ABOUT,
        "second": _SECOND,
        "digest": {
            "description": "SHA-256 of all other fields but format, as JSON with sorted keys: it shows an edit, not "
            "who wrote the file.",
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A policy of abstain",
        "description": f"Reasons of decisions: {', '.join(REASONS)}.",
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
