#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a program start slowly: slow_start.py SECONDS PROGRAM [ARGUMENT...]

Sleeps for SECONDS, then runs the program like `python3 PROGRAM ARGUMENT...`.
"""
import os
import runpy
import sys
import time

time.sleep(float(sys.argv[1]))
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
