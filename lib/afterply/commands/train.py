"""The command ``afterply train``: some games or minutes, with progress; kept if it is stopped."""

import contextlib
import importlib
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from ..arena.matches import play_on, win_rate
from ..checks import number, whole
from ..files import Archive, load_module, one_writer
from ..identity import is_learner
from ..kernel.random import new_rng, seed_from
from ..kernel.source import source_hash
from ..learners import modules
from ..learners.adaptation import LONGEST
from ..learners.check_learner import LEARNER
from ..learners.parameters import usual
from ..learners.session import BaseSession, next_chunk
from ..networks.agent_file import save
from ..opponents.words import named, word_for
from ..players.basic import Greedy
from . import BROKEN_PIPE, typed

DEFAULTS = {"learner": "td", "episodes": 0, "minutes": 0.0, "set": {}, "seed": 0}
EPISODES = 10_000  # where neither learner nor game names a number
ENDLESS = 10**15  # games of a training that only the clock ends
CHECKPOINT_SECONDS = 30.0  # between two checkpoints, at least ...
CHECKPOINT_RATIO = 20  # ... and this multiple of the time it takes to write one
CHUNK_SECONDS = 0.5  # Ctrl-C and the line of progress come between two chunks
PACE_SHARE = 0.05  # of the minutes asked for, in which the pace is measured ...
PACE_KEPT = 0.8  # ... and how much of this pace a training keeps
MEASUREMENTS = 20  # of the agent's strength, in one training
GAMES = 20  # for each of them
MEASURING_SHARE = 0.05  # of the time, which they may take together
# what ends a training that is kept; the last two are sent by Slurm and docker stop, and by a
# terminal that is closed (not on Windows)
STOPS = "SIGINT", "SIGTERM", "SIGHUP"
LINE_SECONDS = 5.0  # between two lines where there is no terminal


def train(word: str, game, settings: dict, out=None, resume=False, force=False) -> int:
    """Train an agent of a game by `settings` and write it to `out`; return the exit status.

    Every half minute all that is needed to go on is written to a file beside `out`.
    """
    path = Path(out or f"{game.name}.npz")
    with one_writer(path):
        return _train(word, game, settings, path, out, resume, force)


def _train(word, game, settings, path, out, resume, force) -> int:
    """Do what :func:`train` says, while no other process writes `path`."""
    part = _check_files(path, game, resume, force)
    if resume:
        session, plan = _resumed(part, game, settings)
    else:
        session, plan = _begun(game, settings)
    progress = Progress(session, plan)
    print(f"at first {progress.measure(game.players, 0.0)}", flush=True)  # compiles the matches
    progress.cost = 0.0
    with _stop_signals() as stopped:
        _train_until_over(session, plan, progress, part, stopped)
        if not progress.over:
            save(part, session, resumable=True, training=plan)
            with _unread_output_stops(stopped):
                _print_how_to_go_on(word, out, part, session, force)
            return stopped[0]
        save(path, session)
        part.unlink(missing_ok=True)
    if sys.stdout.isatty():
        print()
    minutes, seconds = divmod(round(plan["seconds"]), 60)
    time_used = f"{minutes}:{seconds:02d} minutes, {plan['cpu_seconds']:,.0f} CPU seconds"
    print(f"{path}: {session.episode:,} games of {game.name} in {time_used}", flush=True)
    if not stopped:  # else it has no time left
        strength = progress.measure(5 * GAMES, max(2.0, MEASURING_SHARE * plan["seconds"]))
        print(f"at the end {strength}")
    if _is_file(path):
        print(f"To play against it: {typed('play', word, '--against', word_for(path))}")
    return 0


def _is_file(path):
    return path.is_file() or not path.exists()  # else a device or a pipe


def _check_files(path, game, resume, force) -> Path:
    """Return the file for what a stopped training keeps; ValueError if something would be lost."""
    if path.is_dir() or path.suffix == ".py":
        what = "a folder" if path.is_dir() else "the name of a program"
        raise ValueError(f"{path} is {what}: name a file such as {game.name}.npz with --out")
    kept_beside = path if _is_file(path) else f"{game.name}.npz"
    part = Path(f"{kept_beside}.part")
    if path.is_file() and not force:
        raise ValueError(f"{path} exists: name another one with --out, or give --force")
    if part.exists() and not resume and not force:
        raise ValueError(f"{part} is a training that did not end: go on with --resume, or --force")
    return part


def _train_until_over(session, plan, progress, part, stopped):
    """Train in pieces until all games are played, the time is over, or something stops it."""
    written, pause, chunk = time.monotonic(), CHECKPOINT_SECONDS, 1
    while not stopped and not progress.over:
        start, cpu_start = time.monotonic(), time.process_time()
        try:
            session.train(min(chunk, plan["goal"] - session.episode))
        except (FloatingPointError, RuntimeError) as error:
            raise ValueError(str(error)) from error
        chunk = next_chunk(chunk, time.monotonic() - start, CHUNK_SECONDS)
        with _unread_output_stops(stopped):
            progress.tell()
        if time.monotonic() - written >= pause:
            write_start = time.monotonic()
            save(part, session, resumable=True, training=plan)
            written = time.monotonic()
            pause = max(CHECKPOINT_SECONDS, CHECKPOINT_RATIO * (written - write_start))
        plan["seconds"] += time.monotonic() - start
        plan["cpu_seconds"] += time.process_time() - cpu_start


def _print_how_to_go_on(word, out, part, session, force):
    options = ["--resume"]
    if out:
        options.insert(0, f"--out={out}")
    if force:
        options.append("--force")
    print(f"\nKept in {part} after {session.episode:,} games. To go on:")
    print(f"  {typed('train', word, *options)}", flush=True)


@contextlib.contextmanager
def _stop_signals():
    """Give a list that gets an exit status for each signal to stop.

    A second Ctrl-C acts at once; a terminal that is closed may send its signal twice.
    """
    stopped, handlers = [], {}

    def note(signal_number, _):
        stopped.append(128 + signal_number)
        if signal_number == signal.SIGINT:
            signal.signal(signal_number, handlers[signal_number])

    for name in STOPS:
        signal_number = getattr(signal, name, None)
        if signal_number is None:
            continue
        handler = signal.getsignal(signal_number)
        is_ignored = handler is signal.SIG_IGN  # as nohup has it
        if signal_number == signal.SIGINT or not is_ignored:
            handlers[signal_number] = handler
            signal.signal(signal_number, note)
    try:
        yield stopped
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)


@contextlib.contextmanager
def _unread_output_stops(stopped):
    """Stop a training whose lines nobody reads any more."""
    try:
        yield
    except OSError:
        stopped.append(BROKEN_PIPE)


def learner_of(word: str):
    """Return the learner that a word means: one of the package, or of FILE.py or FILE.py:NAME."""
    stem, suffix, name = word.rpartition(".py")
    if suffix and (not name or name.startswith(":")):
        return _learner_in_file(f"{stem}.py", name.removeprefix(":"), word)
    known = modules()
    if word not in known:
        choices = f"only {', '.join(sorted(known))}, and those in files, as mine.py"
        raise ValueError(f"there is no learner {word!r}, {choices}")
    return importlib.import_module(known[word])


def _learner_in_file(path, name, word):
    module = load_module(path)
    if is_learner(module) and not name:
        return module
    defined = {
        attribute: value
        for attribute, value in vars(module).items()
        if is_learner(value) and getattr(value, "__module__", "") == module.__name__
    }
    if not name and len(defined) == 1:
        (name,) = defined
    if name not in defined:
        wanted = f"no learner {name!r}" if name else "not one learner"
        contract = "a module or class with NAME, VERSION, PARAMETERS, DEFAULTS, Session"
        contents = f"it holds {', '.join(defined) or 'none'}"
        raise ValueError(f"{path} holds {wanted}: {contents}; a learner is {contract}")
    learner = defined[name]
    missing = [part for part in LEARNER if not hasattr(learner, part)]
    if missing:
        raise ValueError(f"the learner {word} has no {', '.join(missing)}: help(afterply.learners)")
    return learner


def _with_origin(session, params, seed):
    """Return a session that states its parameters and its seed, as its file has to."""
    for name, value in {"params": params, "seed": seed}.items():
        if not hasattr(session, name):
            setattr(session, name, value)
    return session


def _begun(game, settings) -> tuple:
    """Return a new session and its plan: the settings, the number of games, the limit."""
    learner = learner_of(settings["learner"])
    limit = 60 * number("minutes", settings["minutes"], 0.0)
    has_schedule = "episodes" in learner.DEFAULTS and "episodes" not in settings["set"]
    params = usual(learner.PARAMETERS, game) | settings["set"]
    goal = whole("episodes", settings["episodes"], 0) or params.get("episodes", EPISODES)
    if has_schedule:
        params["episodes"] = goal
    session = learner.Session(game, params, settings["seed"])
    if not callable(getattr(session.net, "contents", None)):
        unsaved = f"what {learner.NAME} learns of {game.name} has no file"
        raise ValueError(f"{unsaved}: train it in Python")
    _print_settings(game, learner, session, params or learner.DEFAULTS)
    session.train(1)  # compiled before the clock starts
    seconds = 0.0
    if limit and not settings["episodes"]:
        goal = ENDLESS
        changing = any(isinstance(params.get(name), (list, tuple)) for name in ("alpha", "epsilon"))
        if has_schedule and changing:  # the end of the schedules must be known beforehand
            seconds = PACE_SHARE * limit
            goal = max(1, int(_pace(session, seconds) * (limit - seconds) * PACE_KEPT))
            params["episodes"] = goal
            print(f"time for {goal:,} games, over which alpha and epsilon change", flush=True)
    del session  # two need not fit side by side
    plan = {"asked": settings, "goal": goal, "limit": limit}
    plan |= {"seconds": seconds, "cpu_seconds": 0.0}
    session = learner.Session(game, params, settings["seed"])
    return _with_origin(session, learner.DEFAULTS | params, settings["seed"]), plan


def _print_settings(game, learner, session, params):
    num_tables, num_weights = getattr(session.net, "weights", np.zeros((1, 0))).shape
    size = f", {num_tables} x {num_weights:,} weights" if num_weights else ""
    values = [
        f"{name}={value}"
        for name, value in params.items()
        if name != "tuples" or len(str(value)) < 60
    ]
    print(f"{game.name}, {learner.NAME}{size}; {', '.join(values)}", flush=True)


def _pace(session, seconds) -> float:
    """Return the games a second of the later half of some seconds of training."""
    for _half in range(2):
        start, first_episode = time.monotonic(), session.episode
        elapsed, chunk = 0.0, 1
        while elapsed < seconds / 2:
            session.train(chunk)
            chunk_seconds = time.monotonic() - start - elapsed
            elapsed += chunk_seconds
            chunk = next_chunk(chunk, chunk_seconds, min(CHUNK_SECONDS, seconds / 10))
    return (session.episode - first_episode) / elapsed


def _resumed(part, game, settings) -> tuple:
    """Return the session that a file keeps, and its plan.

    ValueError if a setting differs from that of the plan. A setting that is given at its default
    value cannot be told from one that was left out, so it passes, and the plan's value counts.
    """
    if not part.exists():
        raise ValueError(f"there is no {part} to go on with: leave out --resume")
    meta = Archive(part).meta
    if "training" not in meta:
        raise ValueError(f"{part} was not written by this command")
    plan = meta["training"]
    first_settings = plan["asked"]
    for name, default in DEFAULTS.items():
        if settings[name] not in (default, first_settings[name]):
            begun_with = f"{part} was begun with {name}={first_settings[name]!r}"
            raise ValueError(f"{begun_with}: leave it out")
    if meta["card"]["sources"] != source_hash():
        print("The library has changed since: the end may differ from that without interruption.")
    kind = learner_of(first_settings["learner"]).Session
    # a session of one's own need not derive from BaseSession
    session = BaseSession.load.__func__(kind, part, game)
    session = _with_origin(session, meta["card"]["parameters"], first_settings["seed"])
    print(f"going on after {session.episode:,} games", flush=True)
    return session, plan


class Progress:
    """What is said while a session trains: pace, time left, and how well the agent plays."""

    def __init__(self, session, plan):
        self.session = session
        self.plan = plan
        self.strength = ""  # as it was last measured
        self.cost = 0.0  # seconds of all measurements
        self.last_line = 0.0  # when it was printed
        self.measured = int(MEASUREMENTS * self.share)

    @property
    def share(self) -> float:
        """How much of the training is done, in [0, 1]."""
        limit = self.plan["limit"]
        of_games = self.session.episode / self.plan["goal"]
        of_time = self.plan["seconds"] / limit if limit else 0.0
        return min(1.0, max(of_games, of_time))

    @property
    def over(self) -> bool:
        """Whether all games are played, or the time is over."""
        return self.share >= 1.0

    def tell(self) -> None:
        """Write a line, after a few matches if it is time for them."""
        seconds = max(self.plan["seconds"], 1e-3)
        step = int(MEASUREMENTS * self.share)
        allowed = MEASURING_SHARE * seconds - self.cost
        is_measured = step > self.measured and allowed > 0 and not self.over
        if is_measured:
            self.measured = step
            self.strength = f", {self.measure(GAMES, allowed)}"
        if sys.stdout.isatty():
            columns = shutil.get_terminal_size().columns - 1
            bar = "#" * int(10 * self.share)
            line = f"[{bar:.<10}] {self._line(seconds)}"[:columns]
            print(f"\r{line:{columns}}", end="", flush=True)
            self.last_line = time.monotonic()
        elif is_measured and time.monotonic() - self.last_line > LINE_SECONDS:
            print(self._line(seconds), flush=True)
            self.last_line = time.monotonic()

    def _line(self, seconds) -> str:
        left = seconds / max(self.share, 1e-9) - seconds
        rate = self.session.episode / seconds
        games = f"{self.session.episode:,} games, {rate:,.0f} a second"
        time_left = f"{left // 60:.0f}:{left % 60:02.0f} left"
        return f"{100 * self.share:3.0f}%, {games}, {time_left}{self.strength}"

    def measure(self, num_games: int, seconds: float) -> str:
        """Return how well the agent does in at most this number of games and of seconds."""
        game = self.session.game
        word, per_reward, unit = game.progress
        agent = Greedy(self.session.net)
        max_plies = getattr(self.session, "params", {}).get("max_plies") or LONGEST
        opponents = [named(game, word) for _ in range(game.players - 1)]
        start, scores = time.monotonic(), []
        for number_of_game in range(num_games):
            seat = number_of_game % game.players
            seated = [*opponents[:seat], agent, *opponents[seat:]]
            path = "progress", self.session.episode, number_of_game
            seed = seed_from(self.plan["asked"]["seed"], *path)
            for place, player in enumerate(seated):
                player.new_match(game, [], place, seed_from(seed, place))
            end, _ = play_on(game, seated, game.start(seed), new_rng(seed), max_plies)
            scores.append(float(game.score(end)[seat]))
            is_last_seat = seat == game.players - 1
            if is_last_seat and time.monotonic() - start > seconds:
                break
        self.cost += time.monotonic() - start
        if per_reward:
            strength = per_reward * np.mean(scores)
        else:
            strength = 100 * win_rate(scores, game.score_range)
        digits = ",.0f" if strength >= 100 else ".3g"
        against = f" against {word}" if word else ""
        return f"{strength:{digits}}{unit}{against} ({len(scores)} games)"
