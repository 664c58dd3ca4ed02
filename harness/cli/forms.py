"""The forms of an answer that most commands know."""

from __future__ import annotations

from enum import StrEnum


class Output(StrEnum):
    """The forms of the answer."""

    TEXT = "text"
    JSON = "json"
