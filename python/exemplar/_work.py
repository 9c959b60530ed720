"""Long work: progress, interruption and threads."""
import contextlib
import ctypes
import os
import signal
import threading

from . import _abi
from ._given import whole
from ._library import pool_create, pool_destroy, pool_tasks

_pools, _lock = {}, threading.Lock()


def _after_fork():
    """A child has none of its parent's threads, and the lock may have been held."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Progress:
    """Passes progress of the library on to a function f(what, fraction), or to None.

    Whatever f raises, and Ctrl-C, stops the work and is raised at the end of the `with` statement. f may return False
    to stop: the work then raises KeyboardInterrupt. Use as
    `with Progress(f) as progress: checked(call, …, progress.struct, …)`.

    Ctrl-C would be raised at the entry of the callback, before any statement could catch it. So the handler of that
    signal is replaced meanwhile: what it raises is kept.
    """

    def __init__(self, function):
        if function is not None and not callable(function):
            raise TypeError("progress must be a function of (what, fraction), or None")
        self._function, self._raised, self._before = function, None, None
        self._report = _abi.ex_progress._fields_[0][1](self._tell)
        self.struct = _abi.ex_progress(report=self._report)
        self.pointer = ctypes.pointer(self.struct)

    def _tell(self, _user, what, fraction):
        if self._raised is not None:
            return False
        try:
            self.tell((what or b"").decode("utf-8", "replace"), fraction)
        except BaseException as raised:  # it must not be lost in a callback
            self._raised = raised
            return False
        return self._raised is None  # Ctrl-C may have come during the report

    def tell(self, what, fraction):
        """Progress of work in Python: raises what the function raises, and Ctrl-C."""
        if self._raised is not None:
            raise self._raised
        if self._function is not None and self._function(what, fraction) is False:
            raise KeyboardInterrupt

    def check(self):
        """Before Python itself writes what the work made: raises if it was to stop."""
        if self._raised is not None:
            raise self._raised

    def _interrupt(self, number, frame):
        """Ctrl-C during the work. The interpreter would raise at the first line of a callback, where ctypes drops it."""
        try:
            self._before(number, frame)
            if isinstance(getattr(self._before, "__self__", None), Progress):  # work inside other work stops too
                raise KeyboardInterrupt
        except BaseException as raised:
            self._raised = self._raised or raised

    def __enter__(self):
        before = signal.getsignal(signal.SIGINT)
        if callable(before) and threading.current_thread() is threading.main_thread():
            self._before = before
            try:
                signal.signal(signal.SIGINT, self._interrupt)
            except ValueError:  # an interpreter inside another one gets no signals
                self._before = None
        return self

    def __exit__(self, kind, value, trace):
        if self._before is not None:
            before, self._before = self._before, None
            signal.signal(signal.SIGINT, before)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised from None


def thread_count(threads):
    """The number of threads that a caller asks for; None: as many as there are processors for this process."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole(threads, "threads", 1, 1 << 62)


@contextlib.contextmanager
def tasks(threads):
    """The library's hook for that many threads: an address, or None for one. Pools are kept for the next work."""
    count = min(thread_count(threads), 1024)
    if count == 1:
        yield None
        return
    with _lock:
        free = _pools.setdefault((os.getpid(), count), [])
        pool = free.pop() if free else None
    pool = pool or pool_create(count)
    if not pool:
        yield None
        return
    try:
        yield pool_tasks(pool)
    finally:
        with _lock:
            if len(free) < 2 and count <= 2 * (os.cpu_count() or 1):  # a larger one is a mistake, or for once
                free.append(pool)
                pool = None
        if pool:
            pool_destroy(pool)
