"""`watcherlite complete`: what a shell needs to complete commands and options."""

from cliff import complete

from watcherlite.cli.command import Command


class Complete(Command, complete.CompleteCommand):
    """Print what a shell needs to complete commands.

    For bash: `watcherlite complete > /etc/bash_completion.d/watcherlite`.
    """
