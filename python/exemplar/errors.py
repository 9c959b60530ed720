"""Exceptions: the library's sentence, and its code in `code` (a number of ex_result)."""


class Error(Exception):
    """Something that the library refuses. The text says what, where, and what to do."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class ArgumentError(Error, ValueError):
    """A parameter is out of its range."""


class MemoryLimitError(Error, MemoryError):
    """There is not enough memory."""


class LimitError(Error):
    """More of something than the library takes."""


class DataError(Error, ValueError):
    """Numbers or names do not fit together."""


class SingularError(Error, ArithmeticError):
    """Examples are at the same place, or a system has no solution."""


class FormatError(Error, ValueError):
    """A file is not what it should be, is damaged, or is of a newer version."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


ERRORS = {1: ArgumentError, 2: MemoryLimitError, 3: LimitError, 4: DataError, 5: SingularError, 6: FormatError,
          7: FormatError, 8: FormatError, 9: FileError}
