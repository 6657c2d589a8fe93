"""Reporters for frameworks. Each module imports its framework when it is imported itself, and none before."""
