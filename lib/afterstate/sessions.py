"""What the training sessions of all learners ask and do alike."""
import numpy as np

from .game import Game


def check_game(game, who: str = "a session"):
    """Return the game, with its rules tried out if it is home-made; raises ValueError if it is no game, or a rule does not keep to its arrays."""
    if not isinstance(game, Game):
        raise ValueError(f"{who} needs a game, such as games.load('tictactoe'), not {game!r}")
    if game.spec is None:  # nobody has tested its rules, and one that writes outside its arrays would end the process
        game.try_out()
    return game


def check_episodes(number) -> int:
    """Return a number of episodes to play; raises ValueError unless it is whole and not negative."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
        raise ValueError(f"the number of episodes must be a whole number and not negative, but is {number!r}")
    return int(number)


def next_chunk(chunk: int, seconds: float, aim: float) -> int:
    """Return how many episodes to play at once after `chunk` of them took so many seconds, so that a chunk takes about `aim` seconds."""
    return 2 * chunk if seconds < aim / 2 else max(1, chunk // 2) if seconds > 2 * aim else chunk
