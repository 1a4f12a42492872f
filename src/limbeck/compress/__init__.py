"""Making a trained network small and fast: export, fusion, 8 bits, a smaller vocabulary, and the gate."""
