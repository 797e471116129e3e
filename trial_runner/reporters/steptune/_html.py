# SPDX-License-Identifier: Apache-2.0
"""Shows a study in a notebook: verdict, changes, chart and table. HTML and SVG without JavaScript.

Colours of text and lines are the notebook's, so that light and dark themes work.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any, Dict, List, Optional, Sequence

Rows = Sequence[Dict[str, Any]]

_WIDTH, _HEIGHT = 640, 240  # of the chart, in pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 12, 10, 34  # margins of the chart, in pixels
_SHOWN = 10  # rows of the table of a study
_ACCENT = "#2a78d6"
_CELL = "padding:2px 10px;text-align:left;white-space:nowrap"
_UNITS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def study_page(
    board: Dict[str, Any], rows: Rows, recommendation: Optional[Dict[str, Any]], recommended: Optional[int]
) -> str:
    """Returns the page. board: the document of `leaderboard --all`. rows: the trials of the document.
    recommendation: the recommendation in the document of `best`, or None. recommended: its trial, if it is one of rows.
    """
    study = board["study"]
    objective = board["objectives"][0]
    verdict = recommendation["verdict"] if recommendation else "no result yet"
    ranked = sorted((row for row in board["rows"] if row["rank"] is not None), key=lambda row: int(row["rank"]))
    by_number = {row.get("trial", row.get("trial.trial")): row for row in rows}
    baseline = [row for row in board["rows"] if row["trial"]["purpose"] == "baseline"]
    numbers = [row["trial"]["number"] for row in ranked[:_SHOWN] + baseline]
    shown = dict.fromkeys(numbers if recommended is None else [recommended, *numbers])
    return (
        '<div><p><b>%s</b>: %s<br><span style="opacity:0.7">%s, %d trials</span></p>'
        % (escape(study["name"]), escape(verdict), escape(study["status"]), len(rows))
        + (_changes(recommendation["changes"]) if recommendation else "")
        + _chart(board["rows"], objective, recommended)
        + _table(_brief([by_number[number] for number in shown], board), recommended)
        + "</div>"
    )


def table(rows: Rows) -> str:
    """Returns a table of all columns that have a value."""
    names = [name for name in (rows[0] if rows else {}) if any(row[name] is not None for row in rows)]
    return _table([{name: row[name] for name in names} for row in rows], None)


def _brief(rows: Rows, board: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Returns the columns of a leaderboard: trial, status, objectives, parameters."""
    parameters = sorted({name for row in board["rows"] for name in row["trial"]["configuration"]})
    objectives = [(objective["metric"], objective["unit"]) for objective in board["objectives"]]
    brief = []
    for row in rows:
        cells = {name: row.get(name, row.get("trial." + name)) for name in ("trial", "status")}
        for name, unit in objectives:
            cells[name] = _quantity(row[name], unit)
            gain = row[name + "_gain"]
            cells[name + " gain"] = None if gain is None else "%.2fx" % gain
        for name in parameters:
            cells[name] = row.get("parameter." + name, row.get(name))
        brief.append(cells)
    return brief


def _changes(changes: Sequence[Dict[str, Any]]) -> str:
    return _table(
        [
            {"change": c["parameter"], "today": c["today"], "recommended": c["advised"], "write": c["edit"]}
            for c in changes
        ],
        None,
    )  # fmt: skip


def _table(rows: Rows, marked: Optional[int]) -> str:
    """Returns an HTML table. marked: number of the trial whose row is bold."""
    if not rows:
        return ""
    head = "".join('<th style="%s">%s</th>' % (_CELL, escape(name)) for name in rows[0])
    body = ""
    for row in rows:
        weight = ";font-weight:bold" if marked is not None and row.get("trial") == marked else ""
        cells = "".join('<td style="%s%s">%s</td>' % (_CELL, weight, escape(_text(cell))) for cell in row.values())
        body += "<tr>%s</tr>" % cells
    return '<div style="overflow-x:auto"><table><thead><tr>%s</tr></thead><tbody>%s</tbody></table></div>' % (head, body)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return "%.4g" % cell if isinstance(cell, float) else str(cell)


def _quantity(value: Optional[float], unit: str) -> Optional[str]:
    """Returns the value with its unit as a text. Seconds are converted to the unit that fits best."""
    if value is None:
        return None
    if unit != "s":
        return "%.4g %s" % (value, unit)
    for name, seconds in _UNITS:
        if abs(value) >= seconds:
            return "%.3g %s" % (value / seconds, name)
    return "%.3g s" % value


def _chart(rows: Rows, objective: Dict[str, Any], recommended: Optional[int]) -> str:
    """Returns an SVG chart of the first objective of each trial. A line shows the best value so far. A circle without
    filling is a trial that was stopped early.
    """
    measured = [
        (row["trial"]["number"], row["trial"]["objectives"][0]["value"], row["trial"])
        for row in rows
        if row["trial"]["objectives"] and row["trial"]["objectives"][0]["value"] is not None
    ]
    if not measured:
        return ""
    measured.sort(key=lambda point: int(point[0]))
    last = max(2, int(measured[-1][0]))
    low: float = min(0.0, *(value for _, value, _ in measured))
    high: float = max(0.0, *(value for _, value, _ in measured))
    high = high + 0.05 * (high - low) or 1.0

    def x(number: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (number - 1) / (last - 1)

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)

    parts = []
    for value in _ticks(low, high, objective["unit"]):
        parts.append(_line(_LEFT, y(value), _WIDTH - _RIGHT, y(value), "stroke-opacity:0.15"))
        parts.append(_label(_LEFT - 6, y(value) + 4, "end", _quantity(value, objective["unit"]) or ""))
    for number in sorted({1, (1 + last) // 2, last}):
        parts.append(_label(x(number), _HEIGHT - 18, "middle", str(number)))
    parts.append(_label((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 4, "middle", "trial"))

    better = max if objective["direction"] == "maximize" else min
    path, best = "", None
    for number, value, trial in measured:
        if trial["status"] != "completed" or trial["purpose"] not in ("baseline", "hint", "search"):
            continue
        known = best
        best = value if known is None else better(known, value)
        path += "M%.1f %.1f" % (x(number), y(best)) if known is None else "H%.1fV%.1f" % (x(number), y(best))
    if path:
        path += "H%.1f" % x(last)
        parts.append('<path d="%s" fill="none" stroke="%s" stroke-width="1.5"/>' % (path, _ACCENT))
    for number, value, trial in measured:
        title = "trial %d (%s, %s): %s, %s" % (
            number, trial["purpose"].replace("_", " "), trial["status"].replace("_", " "),
            _quantity(value, objective["unit"]),
            " ".join("%s=%s" % (name, _text(cell)) for name, cell in trial["configuration"].items()),
        )  # fmt: skip
        filled = trial["status"] == "completed"
        parts.append(
            '<circle cx="%.1f" cy="%.1f" r="%d" fill="%s" stroke="%s"><title>%s</title></circle>'
            % (x(number), y(value), 6 if number == recommended else 4, _ACCENT if filled else "none", _ACCENT,
               escape(title))
        )  # fmt: skip
    return (
        '<svg role="img" width="%d" height="%d" viewBox="0 0 %d %d" style="max-width:100%%" font-size="11" '
        'font-family="sans-serif" fill="currentColor" stroke-width="1"><title>%s by trial</title>%s</svg>'
        % (_WIDTH, _HEIGHT, _WIDTH, _HEIGHT, escape(objective["metric"]), "".join(parts))
    )


def _ticks(low: float, high: float, unit: str) -> List[float]:
    """Returns round values, at most five steps apart from low to high."""
    scale = next((seconds for _, seconds in _UNITS if high >= seconds), 1.0) if unit == "s" else 1.0
    least = (high - low) / scale / 5
    power = 10.0 ** math.floor(math.log10(least))
    step = scale * next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="currentColor" style="%s"/>' % (x1, y1, x2, y2, style)


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return '<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>' % (x, y, anchor, escape(text))
