r"""The evaluation process: what needs a large engine is evaluated there, for all trainings.

An evaluator whose attribute ``heavy`` is true is never called in the process that trains.
:func:`ask` saves the network's weights to a file and hands its path to the one evaluation process
that this machine has for a data directory::

    training 1 --\
    training 2 ----- socket --> evaluation process: the engine, what it has answered before,
    notebook ----/              one network without counters

Whoever asks first starts it, and it ends as soon as the last process that is connected to it has
ended, however that came about. If it is killed, the next attempt starts another one; since an
evaluator depends on nothing but its arguments, the numbers are the same. All that is exchanged
stays between processes of one user.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import pickle
import platform
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from multiprocessing.connection import Client, Connection, wait
from pathlib import Path

import cloudpickle

from ..files import data_directory
from ..kernel.source import source_hash
from ..networks import ntuple
from . import settings

ATTEMPTS = 3  # to get an answer from an evaluation process that does not die of it
GREETING = b"afterstate"
SOCKET_PATH = 100  # characters; the shortest limit of a system is 104
PATIENCE = 60.0  # seconds that the evaluation process waits for the first question
# the package knows this module before it is run as a program, which is as it should be
PROGRAM = ("-W", "ignore::RuntimeWarning:runpy", "-m", "afterstate.studies.evaluation_process")
# what greeting a process that is not there, or is just ending, raises
NOBODY = (FileNotFoundError, ConnectionError, EOFError)

_connection, _started, _one_at_a_time = [], [], threading.Lock()


# ------------------------------------------------------------------------------------------- asking


def ask(evaluator, game, net, seed: int, directory) -> tuple[object, float]:
    """Let the evaluation process call an evaluator.

    Parameters
    ----------
    evaluator : callable ``(game, net, seed) -> {metric: value}``
    game : Game
    net : Network, or anything that can be pickled
    seed : int
    directory : path
        Where the weights are saved meanwhile.

    Returns
    -------
    (object, float)
        What the evaluator returned, and the CPU seconds that it took there.

    Raises
    ------
    RuntimeError
        If the process can not be started, or dies of this question several times.
    Exception
        What the evaluator raised, with the place in its notes.
    """
    # a name that a study sweeps up if this process is killed
    path = Path(directory) / f".weights.{platform.node()}.{os.getpid()}.tmp"
    with _one_at_a_time:
        try:
            if isinstance(net, ntuple.Network):
                net.save(path)
            sent = path if isinstance(net, ntuple.Network) else net
            request = cloudpickle.dumps((evaluator, cloudpickle.dumps(game), sent, seed))
            answer, cpu_seconds = _persist(
                request, getattr(evaluator, "name", None) or repr(evaluator)
            )
        finally:
            path.unlink(missing_ok=True)
    if isinstance(answer, BaseException):
        raise answer
    return answer, cpu_seconds


def _persist(request, name):
    """Ask until there is an answer, in a new process if one has died."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _exchange(request)
        except (EOFError, ConnectionError):
            if attempt < ATTEMPTS:
                print(
                    "the evaluation process has ended before it answered (killed, or out of"
                    " memory); another one is started",
                    file=sys.stderr,
                    flush=True,
                )
    raise RuntimeError(
        f"{ATTEMPTS} evaluation processes ended before they answered the evaluator {name!r}: make"
        " sure that they are not killed and have memory enough (the perfect ConnectFour player"
        " needs 450 MB); the training goes on from its checkpoint next time"
    )


def _exchange(request):
    try:
        if not _connection:
            _connection.append(_connect())
        _connection[0].send_bytes(request)
        return pickle.loads(_connection[0].recv_bytes())
    # Ctrl-C too: the answer to this question must not be taken for the next one's
    except BaseException:
        while _connection:
            _connection.pop().close()
        raise


def _connect():
    """Return a connection to the evaluation process, which is started if there is none."""
    address = address_of()
    with open(f"{address}.lock", "w", encoding="utf-8") as lock:
        # of those that come at the same time one starts it, the others find it
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(*NOBODY):
            return _greet(address)
        Path(address).unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, *PROGRAM, address],
            stdin=subprocess.DEVNULL,
            stdout=2,
            env=settings.for_child(),
        )
        _started.append(process)
        while process.poll() is None:
            with contextlib.suppress(*NOBODY):
                return _greet(address)
            time.sleep(0.02)
    raise RuntimeError(
        f"the evaluation process could not be started (exit status {process.returncode}); what it"
        " said stands above or in the terminal"
    )


def _greet(address):
    """Connect and wait for the greeting.

    A socket takes connections for a moment after its process was killed.
    """
    connection = Client(address, "AF_UNIX")
    try:
        connection.recv_bytes()
    except BaseException:
        connection.close()
        raise
    return connection


def address_of() -> str:
    """Return the socket of the evaluation process, one for each installation and data directory.

    Sources that were edited make it another one.

    Raises
    ------
    RuntimeError
        If the directory for sockets belongs to somebody else, or there is none with a short path.
    """
    what = "\n".join([sys.executable, source_hash(), str(data_directory().resolve())])
    name = hashlib.sha256(what.encode()).hexdigest()[:16]
    # not in the data directory, whose path may be long
    places = [Path(place, f"afterstate-{os.getuid()}") for place in (tempfile.gettempdir(), "/tmp")]
    fitting = [p for p in places if len(os.fsencode(p / name)) < SOCKET_PATH and p.parent.is_dir()]
    if not fitting:
        raise RuntimeError(
            f"the evaluation process needs a socket, but {places[0]} is too long for its path (at"
            f" most {SOCKET_PATH - len(name) - 2} characters): set TMPDIR to a shorter directory"
        )
    directory = fitting[0]
    directory.mkdir(mode=0o700, exist_ok=True)
    if directory.stat().st_uid != os.getuid() or directory.stat().st_mode & 0o077:
        raise RuntimeError(
            f"{directory} must belong to you and be closed to others (chmod 700): set TMPDIR to"
            " another directory"
        )
    return str(directory / name)


# ---------------------------------------------------------------------------------------- answering


def serve(address: str) -> None:
    """Answer all processes that connect, one after the other, until none is connected any more."""
    # Ctrl-C is for those who ask: they leave, then this process ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        clients, requests = set(), queue.SimpleQueue()
        threading.Thread(target=_work, args=(requests,), daemon=True).start()
        while ready := wait([listener, *clients], None if clients else PATIENCE):
            for one in ready:
                try:
                    if one is listener:
                        clients.add(one := Connection(listener.accept()[0].detach()))
                        one.send_bytes(GREETING)
                    else:
                        requests.put((one, one.recv_bytes()))
                except (EOFError, OSError):
                    clients.remove(one)
                    one.close()
            if not clients:
                break
        # before the listener closes: whoever comes now starts another process
        Path(address).unlink(missing_ok=True)
        os._exit(0)  # at once, even if an evaluation is under way: nobody waits for it


def _work(requests):
    """Evaluate in a thread of its own, so that the main one notices at once who leaves."""
    while True:
        client, request = requests.get()
        if client.closed:
            continue
        began = time.process_time()
        try:
            answer = pickle.dumps((_evaluate(*pickle.loads(request)), time.process_time() - began))
        except BaseException as error:
            answer = pickle.dumps((_portable(error), 0.0))
        with contextlib.suppress(OSError):
            client.send_bytes(answer)


# a game loads its machine code: with every question it was a tenth of an evaluation's time
_game = functools.lru_cache(maxsize=4)(pickle.loads)


def _evaluate(evaluator, game, net, seed):
    game = _game(game)
    return evaluator(game, ntuple.load(net, game) if isinstance(net, Path) else net, seed)


def _portable(error):
    """Return the exception with its place as a note, or what can be sent and says the same."""
    place = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"In the evaluation process:\n{place}")
        return pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"an evaluator failed in the evaluation process:\n{place}")


if __name__ == "__main__":
    if sys.argv[1] != address_of():
        sys.exit(
            "the sources of afterstate have changed since the study began: start it again (in a"
            " notebook, restart the kernel)"
        )
    serve(sys.argv[1])
