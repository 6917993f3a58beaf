"""The clustering vocabulary: what clients of Senlin speak."""
