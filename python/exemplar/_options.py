"""Options of functions: each is checked, and refused with one sentence."""
import numpy

_MOST = 2 ** 31 - 1


def number(value, name: str, least: float = -float("inf"), most: float = float("inf"), above: bool = False) -> float:
    """A finite number in a range; above: more than least."""
    if isinstance(value, (bool, numpy.bool_)) or not hasattr(value, "__float__") or getattr(value, "ndim", 0):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        made = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: {error}") from None
    if not numpy.isfinite(made) or made < least or made > most or above and made <= least:
        span = f"{least:g} to {most:g}"
        if most == float("inf"):
            span = "finite" if least == -most else f"{'above' if above else 'at least'} {least:g}"
        raise ValueError(f"{name} is {made:g}; it must be {span}")
    return made


def count(value, name: str, least: int = 0, most: int = _MOST) -> int:
    """A whole number in a range."""
    if isinstance(value, (bool, numpy.bool_)) or not hasattr(value, "__index__") or getattr(value, "ndim", 0):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    made = int(value.__index__())
    if not least <= made <= most:
        raise ValueError(f"{name} is {made}; it must be {least} to {most}")
    return made


def flag(value, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    return bool(value)


def choice(value, words, name: str) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {value!r}; it must be {', '.join(repr(word) for word in words)}")
    return value


def frame_range(value, name: str):
    """The first frame and the number of frames of a range, counting from 0: a slice, a range, or (first, stop); the
    number is None if it has no end. None: all."""
    if value is None:
        return 0, None
    if isinstance(value, (slice, range)):
        if value.step not in (None, 1):
            raise ValueError(f"{name} must take every frame: its step is {value.step}")
        value = (0 if value.start is None else value.start, value.stop)
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name} must be a slice or (first, stop), counting from 0, not {value!r}")
    first = count(value[0], name)
    if value[1] is None:
        return first, None
    stop = count(value[1], name)
    if stop <= first:
        raise ValueError(f"{name}: there are no frames from {first} to {stop}")
    return first, stop - first
