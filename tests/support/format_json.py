# SPDX-License-Identifier: Apache-2.0
"""Writes a JSON file anew, with each object and array on one line where it fits."""

import json
import sys

WIDTH = 120
INDENT = 2


def broken(parts, brackets, indent):
    lines = ",\n".join(" " * (indent + INDENT) + part for part in parts)
    return f"{brackets[0]}\n{lines}\n{' ' * indent}{brackets[1]}"


def filled(words, width):
    """Returns the words in lines, as many in each line as fit."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) + 3 > width:
            lines.append("")
        lines[-1] += f", {word}" if lines[-1] else word
    return lines


def formatted(value, indent=0, before=0):
    """Returns the text of `value`, which begins `before` characters after its indentation."""
    line = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, (dict, list)) or indent + before + len(line) < WIDTH:
        return line
    inner = indent + INDENT
    if isinstance(value, dict):
        names = {name: json.dumps(name) + ": " for name in value}
        return broken([names[name] + formatted(each, inner, len(names[name])) for name, each in value.items()], "{}", indent)
    if not any(isinstance(each, (dict, list)) for each in value):
        return broken(filled([json.dumps(each, ensure_ascii=False) for each in value], WIDTH - inner), "[]", indent)
    return broken([formatted(each, inner) for each in value], "[]", indent)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(formatted(document) + "\n")
