"""Students: small networks that learn from a teacher."""
