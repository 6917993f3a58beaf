"""The orchestration vocabulary: what clients of Heat speak."""
