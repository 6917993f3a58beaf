"""What all payloads have in common."""

from collections.abc import Mapping
from typing import Any, ClassVar

from oslo_utils import versionutils
from oslo_versionedobjects import base

from watcherlite.objects import fields as types

LATEST = 'latest'

register = base.VersionedObjectRegistry.register


def registered() -> set[str]:
    """Return the names of all registered classes."""
    return set(base.VersionedObjectRegistry.obj_classes())


class Payload(base.VersionedObject):
    """A document within a notification; never stored, never called remotely.

    A subclass says what has changed since its version 1.0 in two tables, and a
    comment above them tells its history.

    `added_in` has the fields that came later: field -> version.
    `obj_relationships` has, for each nested payload, which version of it belongs
    to which version of this one.
    """

    OBJ_SERIAL_NAMESPACE = 'watcher_object'
    OBJ_PROJECT_NAMESPACE = 'watcher'
    added_in: ClassVar[Mapping[str, str]] = {}

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Take away what a version does not know, in nested payloads too."""
        super().obj_make_compatible(primitive, target_version)
        target = versionutils.convert_version_to_tuple(target_version)
        for name, version in self.added_in.items():
            if target < versionutils.convert_version_to_tuple(version):
                primitive.pop(name, None)

    def to_wire(self, version: str = LATEST) -> dict[str, Any]:
        """Return the document, as consumers are to see it.

        :param version: one of the class, or 'latest'
        :raises InvalidTargetVersion: the class has not come to that version yet
        """
        # A receiver has no use for which attributes were set since when.
        self.obj_reset_changes(recursive=True)
        target = self.VERSION if version == LATEST else version
        return self.obj_to_primitive(target_version=target)

    @classmethod
    def versions(cls) -> list[str]:
        """Return all versions that this class can be written in, 1.0 first."""
        major, minor = versionutils.convert_version_to_tuple(cls.VERSION)
        return [f'{major}.{number}' for number in range(minor + 1)]


class StateUpdatePayload(Payload):
    """What all state updates have: the states before and after, and the message."""

    added_in: ClassVar[Mapping[str, str]] = {'status_message': '1.1'}

    # oslo.versionedobjects reads a plain dict off the class.
    fields = {  # noqa: RUF012
        'old_state': types.StringField(nullable=True),
        'state': types.StringField(nullable=True),
        'status_message': types.StringField(nullable=True),
    }
