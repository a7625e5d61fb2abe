"""What is measured of a trained network, by game or by paper."""

from .matches import NIM, NIM3P, NIM3P_MCTS, TICTACTOE, Matches

__all__ = ["NIM", "NIM3P", "NIM3P_MCTS", "TICTACTOE", "Matches"]
