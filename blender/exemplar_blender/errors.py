# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences for the user: why something cannot be done, with the scene as it was, and how long a thing is."""
import bpy

from .library import exemplar


class Refused(Exception):
    """A sentence for the user."""


class Action(bpy.types.Operator):
    """An operator whose `act(context)` returns a sentence to report, or raises Refused. What it did before it raised is
    for it to take back."""
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        try:
            said = self.act(context)
        except Refused as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except (exemplar.Error, OSError, MemoryError, ValueError) as error:
            self.report({"ERROR"}, sentence(error))
            return {"CANCELLED"}
        if said:
            self.report({"INFO"}, said)
        return {"FINISHED"}


def sentence(error):
    """An exception's text as a sentence."""
    text = str(error) or "There is not enough memory"
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"'{error.filename}' cannot be used: {error.strerror[0].lower()}{error.strerror[1:]}"
    return text[0].upper() + text[1:]


def length(metres):
    """A length for people."""
    for factor, unit in ((1, "m"), (1e3, "mm")):
        if metres * factor >= 1:
            return f"{metres * factor:.3g} {unit}"
    return f"{metres * 1e3:.2g} mm"
