"""The core, which claims, runs, commits, signals and recovers actions.

A claimed action is an `Attempt`. The dispatcher claims actions and submits jobs to the
thread pools; the runner runs the steps of an attempt; the committer writes the
conclusions of all attempts in groups. `worker` puts the parts together.
"""
