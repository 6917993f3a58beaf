"""The one core that everything which executes runs in.

A claimed action is a `Task`. The runner decides, step by step, what becomes of
it; the committer writes what was decided, for all tasks at once; the dispatcher
takes actions from the store and feeds the threads; the scheduler has the time.
"""
