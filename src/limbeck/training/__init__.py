"""How networks are trained, teachers and students alike."""
