"""What the games on bitboards share: 64 bits in a state, numbers of bits, draws by repetition."""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel

MAX_HISTORY = 10_000


@kernel
def bitboard(s, k):
    """Return the 64 bits that ``s[k]`` and ``s[k + 1]`` hold."""
    return np.uint64(np.uint32(s[k])) | np.uint64(np.uint32(s[k + 1])) << np.uint64(32)


@kernel
def put_bitboard(s, k, bits):
    """Write 64 bits to ``s[k]`` and ``s[k + 1]``."""
    s[k] = np.int32(np.uint32(bits))
    s[k + 1] = np.int32(bits >> np.uint64(32))


@kernel
def count(bits):
    """Return the number of ones, at most 64 (the form that compilers turn into one instruction)."""
    n = np.uint64(bits)
    n -= n >> np.uint64(1) & np.uint64(0x5555555555555555)
    n = (n & np.uint64(0x3333333333333333)) + (n >> np.uint64(2) & np.uint64(0x3333333333333333))
    n = n + (n >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(n * np.uint64(0x0101010101010101) >> np.uint64(56))


@kernel
def repeated(s, core, k, who, times):
    """Append the position to the history; return whether it has occurred `times` times.

    ``s[core + j]`` is the j-th in the row of bitboards since the last ply that can not be undone:
    the pieces of the player to move then, those of the other one, and from there on after every ply
    the pieces of who moved. Two neighbours make a position. `k` is the place of the newest entry,
    ``s[who]``; 1 says that no earlier position can return.
    """
    if k == 1:
        s[core], s[core + 1] = s[1 - who], s[who]
        return False
    s[core + k], j = s[who], k - 2
    while j >= 1:
        if s[core + j] == s[core + k] and s[core + j - 1] == s[core + k - 1]:
            times -= 1
        j -= 2
    return times <= 1


def length_of_history(repetition, quiet_plies, max_plies) -> int:
    """Check the limits after which a game is drawn; return how long its history can become."""
    limits = {"repetition": repetition, "quiet_plies": quiet_plies, "max_plies": max_plies}
    for name, value in limits.items():
        whole(f"{name} (0: no such rule)", value, 0, MAX_HISTORY)
    if repetition == 1 or repetition and not quiet_plies:
        raise ValueError(
            f"repetition={repetition}, quiet_plies={quiet_plies}: a repetition needs at least 2"
            " times and a history bounded by quiet_plies"
        )
    return quiet_plies + 2 if repetition else 0
