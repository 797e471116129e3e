# SPDX-License-Identifier: Apache-2.0
"""The knobs of a family: its table, and the groups that set its knobs and know their current values."""

from steptune_hook.families import read_table
from steptune_hook.knobs import collector
from steptune_hook.knobs.knob_status import KnobStatus


class KnobGroups:
    """A family's groups of knobs. A group has `statuses()`, which yields a `KnobStatus` for each knob, and may have
    `wrap()`. The hook calls the group `collector` after each step, which does nothing if the table lacks its knob."""

    def __init__(self, hook):
        self.table = read_table(hook.family)
        self.requested = hook.settings.knobs
        has_collector = any(knob["name"] == collector.NAME for knob in self.table)
        self.collector = collector.GarbageCollectorKnob(self.requested if has_collector else {})
        self.groups = ()

    def wrap(self):
        """Replaces functions of the frameworks by wrappers that set or watch knobs. Called once, before the program
        runs."""
        for group in self.groups:
            if hasattr(group, "wrap"):
                group.wrap()

    def statuses(self):
        """Yields pairs of a `KnobStatus` and the knob's class (such as `safe`): all knobs of the table, in its order, then
        the names in `requested` that are not in the table, with the class `unknown`."""
        status_by_name = {}
        faults = []
        for group in self.groups:
            try:
                status_by_name.update({status.name: status for status in group.statuses()})
            except Exception as error:  # a fault of one group does not affect the others
                faults.append("%s: %s" % (type(error).__name__, error))
        for knob in self.table:
            # If a group failed, its knobs have no status. These knobs then give the first fault as the reason.
            status = status_by_name.get(knob["name"]) or KnobStatus(
                knob["name"], why=faults[0] if faults else "does not apply to this program"
            )
            status.why = status.why or self.why_not_now(knob, status)
            self.name_edit(status)
            yield status.checked_against(self.requested), knob["class"]
        names = {knob["name"] for knob in self.table}
        for name in sorted(set(self.requested) - names):
            yield KnobStatus(name, why="there is no such knob"), "unknown"

    def name_edit(self, status):
        """Names the argument of a trainer that sets the knob permanently, if there is one."""

    def why_not_now(self, knob, status):
        """Returns why the requested value cannot be set in this mode; None if it can."""
        return None
