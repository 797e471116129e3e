# SPDX-License-Identifier: Apache-2.0
"""Facts about one knob: the `knob` event of docs/internals/hooks-protocol.md."""


class KnobStatus:
    """If `why` is set, the knob may not be changed here, or the change failed."""

    def __init__(self, name, today=None, value=None, why=None, choices=None, where=(), also=()):
        self.name = name
        self.today = today
        self.value = today if value is None else value
        self.why = why
        self.choices = choices
        self.where = list(where)
        self.also = list(also)  # further arguments that the call needs with another value of this knob
        self.edit = None  # a trainer's argument that sets the knob, used instead of the table's

    def checked_against(self, requested):
        """Returns this status. If nothing prevented the requested value and the current value differs, sets `why`."""
        wanted = requested.get(self.name)
        if self.why is None and wanted is not None and self.value != wanted:
            self.why = "the program sets it itself"
        return self

    def is_applied(self, requested):
        if self.name not in requested:
            return True
        return self.value == requested[self.name] and (self.why is None or self.today == self.value)

    def fields(self):
        fields = {"may": self.why is None, "where": self.where}
        for name in ("today", "value", "why", "choices"):
            value = getattr(self, name)
            if value is not None:
                fields[name] = value
        if self.also:
            fields["also"] = self.also
        if self.edit:
            fields["edit"] = self.edit
        return fields
