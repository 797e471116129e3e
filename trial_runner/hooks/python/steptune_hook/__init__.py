# SPDX-License-Identifier: Apache-2.0
"""Steptune's import hook for Python programs. This folder has the core. Each folder with a `knobs.json` is a family of
frameworks. To add a family, add a folder (docs/internals/hooks-protocol.md, "Families").

arrival     enters when the program imports a module that a family waits for
families    the families, their modules and their tables of knobs
settings    the tuner's request
patches     replaced attributes, and how to restore them
report, phases, events   lines for the tuner
part_clock  divides time into parts of a step
ranks       which process reports
loop_hook, between_steps   base of the families that report whole steps; evaluations between steps
knobs       knobs of all families, and the state of a knob
"""
