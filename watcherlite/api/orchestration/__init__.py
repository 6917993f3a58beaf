"""The orchestration API: that of Heat."""
