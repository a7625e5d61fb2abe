"""Tasks on a Dask cluster whose workers may be of other sources, stop, or be killed.

A worker with other sources of the package is left out. One that says nothing for half a minute is
named, and what it does is given to others; what comes back first counts, and the same task of
another worker counts no more. So each task is done once for the study, however often it runs.
"""

import sys
import time
from concurrent.futures import CancelledError

from ..checks import needs

TIMEOUT = "20s"  # to wait for a scheduler ...
WORKERS_SECONDS = 60  # ... and for its first worker
SILENT_SECONDS = 30.0  # without a sign of life
LOOK_SECONDS = 2.0  # between two looks for such signs
MOST_TRIES = 10  # of a task whose workers are killed


class OtherSources(RuntimeError):
    """A worker has other sources of the package than the study."""


def connected(address):
    """Return a client of a Dask scheduler; ConnectionError if none answers."""
    distributed = needs("distributed", "cluster")
    try:
        return distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r}: start one with 'dask scheduler' and workers"
            f" with 'dask worker --nthreads 1 {address}', or leave DASK empty"
        ) from error


def results(client, function, calls):
    """Yield what ``function(*call)`` returns on the workers for each call, as soon as it is there.

    RuntimeError if no worker has the sources of the study, or one task always ends its worker.
    ConnectionError if the scheduler ends.
    """
    distributed = needs("distributed", "cluster")
    client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    tasks = _Tasks(client, function, calls)
    try:
        while tasks.open:
            yield from tasks.finished()
            tasks.look_for_silent_workers()
    except (CancelledError, distributed.comm.CommClosedError) as error:
        raise ConnectionError("the Dask scheduler is gone: the same command goes on") from error
    finally:
        client.cancel(list(tasks.futures), force=True)


def _on_worker(function, call):
    """Call a function on a worker; return its address, the result, and why there is none."""
    from distributed import get_worker

    address = get_worker().address
    try:
        return address, function(*call), ""
    except OtherSources as error:
        return address, None, str(error)


class _Tasks:
    """The tasks that are not done yet, with their futures, and the workers that get none."""

    def __init__(self, client, function, calls):
        self.client = client
        self.function = function
        self.calls = calls
        self.open = set(range(len(calls)))  # numbers of calls
        self.futures = {}  # future -> number of its call
        self.tries = dict.fromkeys(self.open, 0)
        self.left_out = set()  # addresses of workers ...
        self.left_out_for_silence = set()  # ... of which these may come back
        self.signs = {}  # address -> its last sign of life, and when it was seen here
        for number in sorted(self.open):
            self.submit(number)

    def submit(self, number):
        """Give a call to any worker that is not left out; if there is none, to a silent one."""
        where = None  # also those that join later
        if self.left_out:
            where = self.sound_workers() or list(self.left_out_for_silence)
            if not where:
                raise RuntimeError(
                    "the cluster has no worker left that can do a task: install the version of the"
                    " study on its machines, and start their workers again"
                )
        self.tries[number] += 1
        options = {"workers": where, "allow_other_workers": False, "pure": False}
        future = self.client.submit(_on_worker, self.function, self.calls[number], **options)
        self.futures[future] = number

    def workers(self) -> dict:
        """Return address -> what the scheduler knows of each worker."""
        return self.client.scheduler_info(n_workers=-1)["workers"]

    def sound_workers(self) -> list:
        """Return the addresses of the workers that are not left out."""
        return [address for address in self.workers() if address not in self.left_out]

    def finished(self):
        """Wait a little, and yield the results that have come of calls that were open."""
        distributed = needs("distributed", "cluster")
        try:
            done, _ = distributed.wait(list(self.futures), LOOK_SECONDS, "FIRST_COMPLETED")
        except TimeoutError:
            return
        for future in done:
            number = self.futures.pop(future)
            if number not in self.open:  # another worker was faster
                continue
            if future.status == "cancelled":
                raise CancelledError
            error = future.exception()
            if isinstance(error, distributed.KilledWorker) and self.tries[number] < MOST_TRIES:
                self.submit(number)
                continue
            if error is not None:
                raise error
            address, result, why_none = future.result()
            if why_none:
                self.leave_out(address, f"is left out: {why_none}")
                self.submit(number)
                continue
            self.open.discard(number)
            yield result

    def leave_out(self, address, why):
        """Give a worker no further task, and say so once."""
        if address not in self.left_out:
            print(f"the worker {address} {why}", file=sys.stderr, flush=True)
            self.left_out.add(address)

    def look_for_silent_workers(self):
        """Give what only silent workers do to others, as soon as there are any."""
        now = time.monotonic()
        for address, worker in self.workers().items():
            sign, since = self.signs.get(address, (None, now))
            if worker["last_seen"] != sign:
                self.signs[address] = worker["last_seen"], now
                if sign is not None and address in self.left_out_for_silence:
                    self.left_out_for_silence.discard(address)
                    self.left_out.discard(address)
            elif now - since > SILENT_SECONDS and address not in self.left_out:
                self.leave_out(
                    address, f"has been silent for {SILENT_SECONDS:.0f} s: others do what it does"
                )
                self.left_out_for_silence.add(address)
        if not self.left_out_for_silence or not self.sound_workers():
            return
        held = set()  # keys of the tasks that silent workers have
        keys_of_worker = self.client.processing()
        for address in self.left_out_for_silence:
            held.update(keys_of_worker.get(address, ()))
        moving = {number for future, number in self.futures.items() if future.key in held}
        for future, number in self.futures.items():
            if future.key not in held:  # a sound worker does it already
                moving.discard(number)
        for number in sorted(moving & self.open):
            self.submit(number)
