"""Asking people for labels: which texts, on which page, and what is learnt from the answers."""
