# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's progress bar, while something takes long."""


class Bar:
    """Blender's progress bar, as the function that the library tells its progress to. begin, end: its part of the bar."""

    def __init__(self, context, begin=0.0, end=1.0):
        self.manager, self.begin, self.end = context.window_manager, begin, end

    def __call__(self, what, fraction):
        self.manager.progress_update(1000 * (self.begin + (self.end - self.begin) * min(1.0, max(0.0, fraction))))

    def __enter__(self):
        self.manager.progress_begin(0, 1000)
        return self

    def __exit__(self, *_):
        self.manager.progress_end()
