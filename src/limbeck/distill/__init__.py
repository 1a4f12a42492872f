"""Distillation: how students learn from a teacher."""
