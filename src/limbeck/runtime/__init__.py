"""Bundles and what answers with them: numpy, onnxruntime and tokenizers, nothing else."""
