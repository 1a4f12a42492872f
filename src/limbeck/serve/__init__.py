"""Answering over HTTP with a bundle, and watching whether the world is still what it was made for."""
