"""The core: it claims, runs, commits, signals and recovers every action.

A claimed action is an `Attempt`. The dispatcher claims actions and feeds the threads;
the runner runs the steps of an attempt and decides; the committer writes the
conclusions of all attempts together. `worker` puts the parts together.
"""
