"""What only [scheiermann2022] needs: agents wrapped by a search, tournaments, Rubik's cubes."""
