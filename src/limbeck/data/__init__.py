"""Rows and label matrices, readers, splits, inspection and the demo corpus."""
