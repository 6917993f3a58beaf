"""The action that runs an executable which the operator has allowed."""

import functools
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg, types

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, Failed
from watcherlite.plugins import base, options
from watcherlite.plugins.action_types import processes

#: In the option and in `argv`: the interpreter that runs watcherlite, wherever a
#: virtual environment has put it.
PYTHON = '{python}'
_OPTION = f'allowed in the group [{options.group_name(base.ACTION_TYPES, "command")}]'


@functools.lru_cache
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a value of `allowed`; needed for each action anew."""
    return tuple(shlex.split(text))


def _wrong_path(path: str) -> str | None:
    """Say what is wrong with the path of an executable, or None."""
    if path == PYTHON:
        return None
    if not path.startswith('/'):
        return f'{path!r} is not an absolute path'
    if os.path.normpath(path) != path:
        return f'{path!r} is not in its shortest form, {os.path.normpath(path)!r}'
    return None


class AllowedCommand(types.String):
    """The type of one value of the option `allowed`."""

    def __call__(self, value: Any) -> str:
        text = str(super().__call__(value))
        words = shlex.split(text)
        if not words:
            raise ValueError('a path is needed')
        wrong = _wrong_path(words[0])
        if wrong:
            raise ValueError(wrong)
        return text

    def __repr__(self) -> str:
        return 'AllowedCommand'


OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.MultiOpt(
        'allowed',
        item_type=AllowedCommand(),
        sample_default='/usr/bin/systemctl restart',
        mutable=True,
        help='An executable that plans may run. Repeat the option to allow several; '
        'nothing is allowed by default.\n\n'
        'It is an absolute path, and `argv` of the action has to begin with exactly '
        'this text: links are not followed to compare them. Words behind the path '
        'have to be in `argv` as well, in front of all others, so that '
        '`/usr/bin/systemctl restart` allows to restart and not to stop; what comes '
        'behind them is free. `{python}` stands for the interpreter that runs '
        'watcherlite.\n\n'
        'Who may create plans may run what stands here as the user that runs the '
        'applier: do not allow a shell, `env`, or an interpreter without the name '
        'of a program.',
    ),
    cfg.DictOpt(
        'environment',
        default={'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'},
        mutable=True,
        help='The whole environment of the commands, for example '
        '`PATH:/usr/bin:/bin,LANG:C.UTF-8`. Nothing of the environment of the '
        'applier reaches them. WATCHERLITE_ACTION_UUID and WATCHERLITE_ATTEMPT are '
        'added: the first stays the same when an action is run again, the second '
        'grows.',
    ),
    cfg.StrOpt(
        'directory',
        default='/',
        mutable=True,
        help='The directory that commands start in. Set it to one of their own when '
        'they leave files behind.',
    ),
    cfg.IntOpt(
        'max_output',
        default=65536,
        min=0,
        max=16777216,
        mutable=True,
        help='How many bytes of standard output, and as many of standard error, are '
        'kept. The rest is read and dropped. What is kept is stored with the '
        'action; raise this only if something reads it there.',
    ),
    cfg.FloatOpt(
        'kill_grace',
        default=5.0,
        min=0,
        max=300,
        mutable=True,
        help='How many seconds a command has to end by itself (SIGTERM) after its '
        'action was cancelled or timed out, before it is killed (SIGKILL) with all '
        'that it started. Keep this well below the lease of the applier.',
    ),
)

_TEXT = {'type': 'string', 'pattern': '^[^\\x00]*$', 'description': 'no NUL characters'}


class Command(base.ActionType):
    """Runs one executable with arguments, without a shell.

    Inputs: `argv`; `stdin` (text); `expected_exit_codes` (0); `creates` (a path:
    the action is skipped when it exists); `idempotent` (false: after the loss of
    its worker the action is not run again).

    Outputs: `exit_code`, `stdout`, `stderr`, `stdout_truncated` and
    `stderr_truncated`. The action ends with the process that it started; a child
    that lives on is left alone, and its output is not waited for.
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
        """Return the allow-list, and what is the same for all commands."""
        return OPTIONS

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Refuse what the option `allowed` does not list."""
        argv = inputs['argv']
        wrong = _wrong_path(argv[0])
        if wrong:
            raise exceptions.InvalidInput(f'input_parameters.argv.0: {wrong}')
        rules = [_words(text) for text in self.options.allowed or ()]
        if any(tuple(argv[: len(rule)]) == rule for rule in rules):
            return
        near = [shlex.join(rule) for rule in rules if rule[0] == argv[0]]
        if near:
            raise exceptions.InvalidInput(
                f'input_parameters.argv: {argv[0]} is allowed only as '
                f'{" or ".join(near)} (option {_OPTION})'
            )
        raise exceptions.InvalidInput(
            f'input_parameters.argv.0: {argv[0]} is not allowed; an operator may add '
            f'it to the option {_OPTION}'
        )

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Believe the inputs: nobody else knows what the command does."""
        return inputs.get('idempotent', False) is True

    def is_checkable(self, inputs: Mapping[str, Any]) -> bool:
        """Say whether there is a path to look for."""
        return 'creates' in inputs

    def is_applied(self, context: base.ActionContext) -> bool:
        """Say whether the path is there that the command creates."""
        return os.path.lexists(context.inputs['creates'])

    def pre_condition(self, context: base.ActionContext) -> None:
        """Skip the action when the path is there that the command creates."""
        path = context.inputs.get('creates')
        if path is not None and os.path.lexists(path):
            raise exceptions.ActionSkipException(f'{path} exists already')

    def execute(self, context: base.ActionContext) -> Done | Failed:
        """Run it to its end."""
        inputs = context.inputs
        argv = list(inputs['argv'])
        name = argv[0]
        if name == PYTHON:
            argv[0] = sys.executable
        environment = {
            **self.options.environment,
            'WATCHERLITE_ACTION_UUID': context.uuid,
            'WATCHERLITE_ATTEMPT': str(context.attempt),
        }
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
            return Failed(f'{name} cannot be run: {_why(error)}')
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
        wanted = ' or '.join(str(code) for code in expected)
        if ended.exit_code < 0:
            reason = f'{name} was ended by {_signal_name(-ended.exit_code)}'
        else:
            reason = f'{name} ended with exit code {ended.exit_code}, not {wanted}'
        return Failed(reason, outputs=outputs)


def _why(error: OSError | ValueError) -> str:
    """Return what may be told of an error: its kind, and whose path it names."""
    if not isinstance(error, OSError):
        return 'its arguments or its input are not text that a process can be given'
    path = f' ({error.filename})' if error.filename else ''
    return f'{error.strerror or type(error).__name__}{path}'


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f'signal {number}'
