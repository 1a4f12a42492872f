"""Taggers: teachers and students that find entities, and how one learns from the other."""
