"""`watcherlite run`: executes an action plan."""

import argparse
from typing import TYPE_CHECKING

from watcherlite.cli import input_files
from watcherlite.cli.command import Command, argument, choice, flag, option, repeated
from watcherlite.cmd import exits

if TYPE_CHECKING:
    from watcherlite.domain.documents.plan_document import Validate

EPILOG = """\
Exit codes: 0 the plan SUCCEEDED; 1 it did not; 2 the command line, the plan or the
configuration is invalid; 3 the database is unavailable, or its schema does not match;
130 the plan was cancelled by Ctrl-C, 143 by SIGTERM. While the broker is unavailable,
plans run, and their notifications wait in the database.
"""


class Run(Command):
    """Execute an action plan.

    The plan is stored before it is started. Ctrl-C cancels the plan and waits until its
    running actions have stopped; a second Ctrl-C terminates immediately. --resume
    continues a plan whose process terminated unexpectedly.
    """

    def get_epilog(self) -> str:
        return EPILOG

    arguments = (
        argument(
            'plan',
            'PLAN',
            'plan document, YAML or JSON; - for standard input',
            nargs='?',
        ),
        option(
            '--resume',
            'UUID',
            'resume a stored plan; `last`: the newest plan that has not ended',
        ),
        repeated(
            '--skip', 'NAME[=REASON]', 'skip this action; may be repeated', default=[]
        ),
        flag(
            '--dry-run',
            'validate the plan and show the order of its actions; change nothing',
        ),
        choice(
            '-o --output',
            ('text', 'json'),
            'output format; json: one document on standard output at the end, '
            'progress on standard error',
            default='text',
        ),
        flag(
            '-v --verbose', 'show every change and every action, even of a large plan'
        ),
        flag('--logs', 'show the logs of actions as they are written; implies -v'),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        if (parsed_args.plan is None) == (parsed_args.resume is None):
            raise self.usage_error('specify either a PLAN file or --resume UUID')
        if parsed_args.dry_run and parsed_args.resume:
            raise exits.UsageError('--dry-run requires a PLAN file, not --resume')
        document = None
        if parsed_args.plan is not None:
            document = input_files.read(
                parsed_args.plan, lambda: self._validator(parsed_args)
            )
            input_files.skips(parsed_args.skip, (a.name for a in document.actions))
        # Import the database only for a valid command line.
        from watcherlite.cli.local import execution

        configuration = self.configuration(parsed_args)
        request = execution.Request(
            skip=parsed_args.skip,
            dry_run=parsed_args.dry_run,
            as_json=parsed_args.output == 'json',
            verbose=parsed_args.verbose or parsed_args.logs,
            logs=parsed_args.logs,
            debug=self.debug(parsed_args),
        )
        found = execution.Execution(configuration, request)
        if document is None:
            return found.run(found.resume(parsed_args.resume))
        plan = found.prepare(document)
        # A large document needs more memory than its execution.
        del document
        return exits.SUCCESS if plan is None else found.run(plan)

    def _validator(self, parsed_args: argparse.Namespace) -> 'Validate':
        from watcherlite.cli.local import execution

        request = execution.Request(debug=self.debug(parsed_args))
        found = execution.Execution(self.configuration(parsed_args), request)
        return found.validator()
