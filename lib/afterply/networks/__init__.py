"""What is learned: n-tuple networks and tables of action values."""

__all__ = ["ntuple", "table"]
