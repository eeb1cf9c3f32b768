# SPDX-License-Identifier: Apache-2.0
"""Figures and tables of the score as Markdown. Pure."""

NONE = "–"


def minutes(value):
    if value is None:
        return NONE
    return f"{value:.1f}" if abs(value) < 10 else f"{value:.0f}"


def percent(value, digits=1):
    return NONE if value is None else f"{value:.{digits}f} %"


def signed(value):
    return NONE if value is None else f"{value:+.1f} %"


def bold(text, short):
    return f"**{text}**" if short and text != NONE else "**never**" if short else text


def escape(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(head, rows):
    """Markdown, at most ten columns."""
    assert len(head) <= 10 and all(len(row) == len(head) for row in rows)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in rows]) + "\n"
