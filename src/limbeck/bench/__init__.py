"""Every model of a project side by side, by what an answer costs."""
