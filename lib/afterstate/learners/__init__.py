"""Learners: each file is one way to learn from self-play or from a teacher."""
