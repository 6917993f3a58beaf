"""A resource whose operations a target counts, and one with an invalid declaration."""

import json
import os
import urllib.request
from typing import ClassVar

from oslo_config import cfg

from watcherlite.domain.resource_results import Property, Ready, ResourceInProgress
from watcherlite.plugins import base

#: Seconds to wait for a response, which the target may delay.
TIMEOUT = 120


class Mark(base.ResourceHandler):
    """A resource that leaves a mark at the target of the option."""

    description = 'A mark at the target.'
    idempotent = True
    properties: ClassVar = {
        'text': Property({'type': 'string', 'default': ''}, updatable=True),
        'seconds': Property({'type': 'number', 'minimum': 0, 'default': 0}),
    }
    attributes: ClassVar = {'text': 'The message.'}

    @classmethod
    def get_config_opts(cls):
        return [cfg.URIOpt('target', help='Where the target listens.')]

    def call_target(self, path, context):
        """Call the target; the key is the uuid, the fencing token the attempt."""
        request = urllib.request.Request(
            f'{self.options.target}/{path}',
            json.dumps(
                {
                    'key': context.uuid,
                    'name': context.resource_name,
                    'token': context.attempt,
                    'pid': os.getpid(),
                }
            ).encode(),
            {'Content-Type': 'application/json'},
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.load(answer)

    def create(self, context):
        self.call_target('begin', context)
        return ResourceInProgress(
            {}, context.properties['seconds'], context.physical_name
        )

    def update(self, context):
        self.call_target('begin', context)
        return ResourceInProgress({}, 0)

    def poll(self, context, operation, token):
        self.call_target('apply', context)
        return Ready(attributes={'text': context.properties['text']})

    def delete(self, context):
        self.call_target('begin', context)
        self.call_target('apply', context)


class InvalidDefault(Mark):
    """The same with an invalid default."""

    properties: ClassVar = {'size': Property({'type': 'integer', 'default': 'big'})}
