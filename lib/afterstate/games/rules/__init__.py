"""One file for each game: its rules, its picture, its numbering."""
