"""Actions whose effects a target counts, and actions that misbehave."""

import json
import os
import sys
import threading
import urllib.request
from typing import ClassVar

from oslo_config import cfg

from watcherlite.domain.outcomes import Done
from watcherlite.plugins import base

#: Seconds to wait for a response, which the target may delay.
TIMEOUT = 120


class ReportingActionType(base.ActionType):
    """Reports its calls to the target, whose address is an option."""

    @classmethod
    def get_config_opts(cls):
        return [cfg.URIOpt('target', required=True, help='Where the target listens.')]

    def call_target(self, path, context, **more):
        """Call the target and return its response.

        The idempotency key is the uuid, the fencing token is the attempt.
        """
        request = urllib.request.Request(
            f'{self.options.target}/{path}',
            json.dumps(
                {
                    'key': context.uuid,
                    'name': context.name,
                    'token': context.attempt,
                    'pid': os.getpid(),
                    **more,
                }
            ).encode(),
            {'Content-Type': 'application/json'},
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.load(answer)


class Mark(ReportingActionType):
    """An action that announces an effect, then applies it."""

    description = 'Leaves a mark at the target.'
    idempotent = True
    schema: ClassVar = {'type': 'object', 'additionalProperties': False}

    def execute(self, context):
        self.call_target('begin', context)
        answer = self.call_target('apply', context)
        return Done({'pid': os.getpid(), 'attempt': context.attempt, **answer})


class MarkOnce(Mark):
    """The same for an author who ignored crashes."""

    idempotent = False


class MarkChecked(MarkOnce):
    """The same with a check whether the mark exists."""

    def is_applied(self, context):
        return self.call_target('look', context)['applied']


class SleepingAction(ReportingActionType):
    """An action that sleeps for a given time and handles signals meanwhile."""

    @classmethod
    def get_config_opts(cls):
        token = cfg.StrOpt('token', secret=True, mutable=True, help='A password.')
        return [*super().get_config_opts(), token]

    idempotent = True
    schema: ClassVar = {
        'type': 'object',
        'properties': {'seconds': {'type': 'number'}},
        'required': ['seconds'],
    }

    def execute(self, context):
        self.call_target('begin', context)
        context.sleep(context.inputs['seconds'])
        self.call_target('apply', context)
        return True


class ContractViolation(ReportingActionType):
    """An action with a hook that violates its contract."""

    idempotent = True
    schema: ClassVar = {
        'type': 'object',
        'properties': {
            'how': {'enum': ['raises', 'invalid', 'exits', 'hangs', 'dies']},
            'where': {'enum': ['pre_condition', 'execute', 'post_condition']},
        },
        'required': ['how', 'where'],
    }

    def pre_condition(self, context):
        return self._fault('pre_condition', context, None)

    def execute(self, context):
        return self._fault('execute', context, Done())

    def post_condition(self, context):
        self._fault('post_condition', context, None)

    def _fault(self, where, context, good):
        if context.inputs['where'] != where:
            return good
        self.call_target('begin', context)
        match context.inputs['how']:
            case 'raises':
                raise RuntimeError('the password is hunter2')
            case 'invalid':
                return {'done': object()}
            case 'exits':
                sys.exit('zeta exits')
            case 'hangs':
                threading.Event().wait()
            case 'dies':
                os._exit(1)
        return good
