"""The clustering API: that of Senlin."""
