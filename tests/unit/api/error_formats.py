"""The error formats of Heat and Senlin."""

import json
from collections.abc import Mapping
from typing import ClassVar

import jsonschema

from tests import base
from watcherlite.api.errors import TypedError, fault_of


class FormatCase(base.TestCase):
    """The format of one mount.

    :cvar errors: exception -> (status, title, type) as clients tell them apart
    """

    format: ClassVar[TypedError]
    errors: ClassVar[Mapping[Exception, tuple[int, str, str]]]

    def written(self, error):
        return json.loads(self.format.data(fault_of(error, 'req-1')))

    def assert_told_apart(self):
        """Assert that each has its status and type, in the shape of the schema."""
        found = {}
        for error in self.errors:
            body = self.written(error)
            jsonschema.validate(body, self.format.schema)
            found[error] = (body['code'], body['title'], body['error']['type'])
        self.assertEqual(self.errors, found)
