"""Teachers: large encoders that learn the labels."""
