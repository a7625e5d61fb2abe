"""What is learned: n-tuple networks and tables of action values."""
