"""afterstate: see for yourself what self-play learns in board games.

Start with ``games.load`` and the notebooks; read ``game.py``, ``ntuple.py``, ``td.py`` in this
order.
"""

__version__ = "0.1.0"
