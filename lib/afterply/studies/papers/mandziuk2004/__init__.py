"""What only [mandziuk2004] needs: a linear value function, its search, points and tables."""
