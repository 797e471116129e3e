# SPDX-License-Identifier: Apache-2.0
"""`python3 -m steptune` is the program `steptune`."""

import os
import sys

from ._command import ProgramNotFound, program


def main() -> None:
    try:
        path = program()
    except ProgramNotFound as error:
        sys.exit("steptune: error: %s" % error)
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
