"""The action that runs an executable allowed by the operator."""

import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, Failed
from watcherlite.plugins import base, options, paths
from watcherlite.plugins.action_types import allow_list, processes

_GROUP = f'[{options.group_name(base.ACTION_TYPES, "command")}]'
_OPTION = f'allowed in the group {_GROUP}'


OPTIONS: tuple[cfg.Opt, ...] = (
    allow_list.option(
        'An executable that plans may run.',
        'Users who may create plans can run these commands as the user that runs the '
        'applier',
        '/usr/bin/systemctl restart {value}',
    ),
    cfg.ListOpt(
        'creates_below',
        item_type=paths.Directory(),
        default=[],
        mutable=True,
        help='The directories of paths that the input `creates` may name. Users who '
        'may create plans learn from a skipped action that such a path exists; '
        'nothing is allowed by default. Links that lead out of a directory are '
        'not followed.',
    ),
    cfg.DictOpt(
        'environment',
        default={'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'},
        mutable=True,
        help='The complete environment of commands, for example '
        '`PATH:/usr/bin:/bin,LANG:C.UTF-8`. Commands do not inherit the '
        'environment of the applier. WATCHERLITE_ACTION_UUID and '
        'WATCHERLITE_ATTEMPT are added: the first is constant when an action is '
        'repeated, the second increases; and WATCHERLITE_TARGET if the action '
        'has a target: the UUID of the cluster or node on which users run a '
        'command.',
    ),
    cfg.StrOpt(
        'directory',
        default='/',
        mutable=True,
        help='The working directory of commands. Set it to a separate directory if '
        'commands leave files behind.',
    ),
    cfg.IntOpt(
        'max_output',
        default=65536,
        min=0,
        max=16777216,
        mutable=True,
        help='The number of bytes of standard output, and of standard error, that '
        'are stored with the action. Further output is read and discarded. '
        'Raise this only if the stored output is used.',
    ),
    cfg.FloatOpt(
        'kill_grace',
        default=5.0,
        min=0,
        max=300,
        mutable=True,
        help='The number of seconds between SIGTERM and SIGKILL for a command whose '
        'action was cancelled or timed out, including its descendants. Keep '
        'this well below the lease of the applier.',
    ),
)

_TEXT = {'type': 'string', 'pattern': '^[^\\x00]*$', 'description': 'no NUL characters'}


class Command(base.ActionType):
    """Run one executable with arguments, without a shell.

    Inputs: `argv`; `stdin` (text); `expected_exit_codes` (0); `creates` (a path: the
    action is skipped if it exists); `idempotent` (false: after the loss of its worker
    the action is not run again).

    Outputs: `exit_code`, `stdout`, `stderr`, `stdout_truncated` and `stderr_truncated`.
    The action ends with the process that it started; surviving child processes are left
    alone, and their output is not awaited.
    """

    description = 'Runs an executable that the operator has allowed.'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'argv': {'type': 'array', 'items': _TEXT, 'minItems': 1},
            'stdin': {'type': 'string'},
            'creates': {
                **_TEXT,
                'pattern': '^/[^\\x00]*$',
                'description': 'a full path',
            },
            'expected_exit_codes': {
                'type': 'array',
                'items': {'type': 'integer', 'minimum': 0, 'maximum': 255},
                'minItems': 1,
            },
            'idempotent': {'type': 'boolean'},
        },
        'required': ['argv'],
        'additionalProperties': False,
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return OPTIONS

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Refuse commands and paths that `allowed` and `creates_below` do not list."""
        wrong = allow_list.problem(
            'input_parameters.argv', inputs['argv'], self.options.allowed, _OPTION
        )
        if wrong:
            raise exceptions.InvalidInput(wrong)
        path = inputs.get('creates')
        if path is not None and not self._may_look_for(path):
            raise exceptions.InvalidInput(
                f'input_parameters.creates: {path} is below no directory of the option '
                f'creates_below in the group {_GROUP}, to which an operator may add one'
            )

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Return the input `idempotent`: only the author knows the effect of the
        command.
        """
        return inputs.get('idempotent', False) is True

    def is_checkable(self, inputs: Mapping[str, Any]) -> bool:
        return 'creates' in inputs

    def is_applied(self, context: base.ActionContext) -> bool:
        """Return whether the path that the command creates exists."""
        return self._exists(context.inputs['creates'])

    def pre_condition(self, context: base.ActionContext) -> None:
        """Skip the action if the path that the command creates exists."""
        path = context.inputs.get('creates')
        if path is not None and self._exists(path):
            raise exceptions.ActionSkipException(f'{path} exists already')

    def _may_look_for(self, path: str) -> bool:
        below = self.options.creates_below
        return not paths.problem(path) and any(paths.is_below(path, b) for b in below)

    def _exists(self, path: str) -> bool:
        """Return whether a permitted path exists.

        Links before its last component are followed only within an allowed directory.
        """
        if not self._may_look_for(path):
            return False
        folder, name = os.path.split(path)
        found = os.path.join(os.path.realpath(folder), name)
        allowed = self.options.creates_below
        inside = any(
            path == one or paths.is_below(found, os.path.realpath(one))
            for one in allowed
        )
        return inside and os.path.lexists(path)

    def execute(self, context: base.ActionContext) -> Done | Failed:
        inputs = context.inputs
        argv = allow_list.resolved(inputs['argv'])
        name = inputs['argv'][0]
        environment = {
            **self.options.environment,
            'WATCHERLITE_ACTION_UUID': context.uuid,
            'WATCHERLITE_ATTEMPT': str(context.attempt),
        }
        if context.target is not None:
            environment['WATCHERLITE_TARGET'] = context.target
        try:
            ended = processes.run(
                context,
                argv,
                environment=environment,
                directory=self.options.directory,
                stdin=inputs.get('stdin'),
                max_output=self.options.max_output,
                kill_grace=self.options.kill_grace,
            )
        except (OSError, ValueError) as error:
            return Failed(f'{name} cannot be run: {_describe_error(error)}')
        outputs = {
            'exit_code': ended.exit_code,
            'stdout': ended.stdout.text(),
            'stderr': ended.stderr.text(),
            'stdout_truncated': ended.stdout.truncated,
            'stderr_truncated': ended.stderr.truncated,
        }
        expected = inputs.get('expected_exit_codes', [0])
        if ended.exit_code in expected:
            return Done(outputs)
        desired = ' or '.join(str(code) for code in expected)
        if ended.exit_code < 0:
            reason = f'{name} was ended by {_signal_name(-ended.exit_code)}'
        else:
            reason = f'{name} ended with exit code {ended.exit_code}, not {desired}'
        return Failed(reason, outputs=outputs)


def _describe_error(error: OSError | ValueError) -> str:
    """Return the reportable part of an error: its kind, and the path that it names."""
    if not isinstance(error, OSError):
        return 'its arguments or its input are not valid text for a process'
    path = f' ({error.filename})' if error.filename else ''
    return f'{error.strerror or type(error).__name__}{path}'


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f'signal {number}'
