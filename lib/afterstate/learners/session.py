"""What the training sessions of all learners ask and do alike."""

from ..checks import is_whole


def check_episodes(number) -> int:
    """Return a number of episodes to play.

    Raises ValueError unless it is whole and not negative.
    """
    if not is_whole(number) or number < 0:
        raise ValueError(
            f"the number of episodes must be a whole number and not negative, but is {number!r}"
        )
    return int(number)


def next_chunk(chunk: int, seconds: float, aim: float) -> int:
    """Return how many episodes to play at once, after `chunk` of them took so many seconds.

    Then a chunk takes about `aim` seconds.
    """
    return 2 * chunk if seconds < aim / 2 else max(1, chunk // 2) if seconds > 2 * aim else chunk
