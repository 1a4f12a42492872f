"""Bundles and what answers with them: numpy, onnxruntime, tokenizers and pydantic, nothing else."""
