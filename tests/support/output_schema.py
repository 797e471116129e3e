# SPDX-License-Identifier: Apache-2.0
"""Finds faults in a document that a command has printed, by its definition in configs/output.schema.json.

As a program: `output_schema.py DEFINITION < DOCUMENT` prints a line for each fault, and exits with 1 if there is one."""

import json
import pathlib
import sys

SCHEMA = pathlib.Path(__file__).parents[2] / "configs" / "output.schema.json"


def faults(document, definition):
    try:
        import jsonschema
    except ImportError:
        return ["nothing was compared, as python3-jsonschema is missing: install it with `scripts/install-packages tests`"]
    # A version may get new members, but the schema must describe them.
    closed = SCHEMA.read_text().replace('"additionalProperties": true', '"additionalProperties": false')
    schema = json.loads(closed)
    jsonschema.Draft202012Validator.check_schema(schema)
    if definition not in schema["$defs"]:
        return [f"the schema does not define {definition}"]
    schema["$ref"] = f"#/$defs/{definition}"
    valid = jsonschema.Draft202012Validator(schema)
    found = [f"{list(fault.path)} {fault.message[:300]}" for fault in valid.iter_errors(document)]
    if valid.is_valid({key: value for key, value in document.items() if key != "schema_version"}):
        found.append("the schema does not require schema_version")
    return found


if __name__ == "__main__":
    found_faults = faults(json.load(sys.stdin), sys.argv[1])
    print("\n".join(found_faults))
    sys.exit(1 if found_faults else 0)
