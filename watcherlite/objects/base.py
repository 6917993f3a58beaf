"""The base of all payload classes."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from oslo_utils import versionutils
from oslo_versionedobjects import base
from oslo_versionedobjects import exception as ovo_exception

from watcherlite.objects import fields as types

LATEST = 'latest'

#: The fields of most objects that are stored.
TIMES = {
    'created_at': types.DateTimeField(nullable=True),
    'updated_at': types.DateTimeField(nullable=True),
    'deleted_at': types.DateTimeField(nullable=True),
}

register = base.VersionedObjectRegistry.register


def registered() -> set[str]:
    """Return the names of all registered classes."""
    return set(base.VersionedObjectRegistry.obj_classes())


class PayloadField(NamedTuple):
    """A field of one version of a payload.

    :param kind: a value of `fields.KINDS`
    :param payload: the name of the nested class, None for any other field
    :param version: the version of the nested class
    """

    name: str
    kind: str
    nullable: bool
    payload: str | None
    version: str | None


class Payload(base.VersionedObject):
    """A document within a notification; never stored, never called remotely.

    A subclass lists the changes since its version 1.0 in two tables, below a comment
    with its history.

    `added_in` has the fields of later versions: field -> version.
    `foreign` has the versions in which OpenStack Watcher has other fields under this
    name. They are skipped: the same namespace, name and version means the same fields.

    `obj_relationships` has, for each nested payload, pairs of a version of this class
    and the version that is nested in it from there on.
    """

    OBJ_SERIAL_NAMESPACE = 'watcher_object'
    OBJ_PROJECT_NAMESPACE = 'watcher'
    added_in: ClassVar[Mapping[str, str]] = {}
    foreign: ClassVar[frozenset[str]] = frozenset()

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Remove the fields that a version does not have, in nested payloads too."""
        super().obj_make_compatible(primitive, target_version)
        target = versionutils.convert_version_to_tuple(target_version)
        for name, version in self.added_in.items():
            if target < versionutils.convert_version_to_tuple(version):
                primitive.pop(name, None)

    def to_wire(self, version: str = LATEST) -> dict[str, Any]:
        """Return the document that consumers receive.

        :param version: one of the class, or 'latest'
        :raises InvalidTargetVersion: the class has not come to that version yet
        """
        # Otherwise the document lists the attributes that were set.
        self.obj_reset_changes(recursive=True)
        target = self.VERSION if version == LATEST else version
        return self.obj_to_primitive(target_version=target)

    @classmethod
    def fields_in(cls, version: str) -> tuple[PayloadField, ...]:
        """Return the fields of a version in the order of the document.

        Fields of later versions follow those of earlier ones, and fields of a subclass
        those of its base class.

        :raises InvalidTargetVersion: the class has not come to that version yet
        """
        if version not in cls.versions():
            raise ovo_exception.InvalidTargetVersion(version=version)
        target = versionutils.convert_version_to_tuple(version)
        names: dict[str, None] = {}
        for parent in reversed(cls.mro()):
            names.update(dict.fromkeys(vars(parent).get('fields', ())))
        return tuple(
            cls._field_in(name, version)
            for name in sorted(names, key=cls._added_in)
            if cls._added_in(name) <= target
        )

    @classmethod
    def _field_in(cls, name: str, version: str) -> PayloadField:
        field = cls.fields[name]
        kind = types.KINDS[type(field)]
        if not isinstance(field, types.ObjectField):
            return PayloadField(name, kind, field.nullable, None, None)
        target = versionutils.convert_version_to_tuple(version)
        nested = [
            theirs
            for ours, theirs in cls.obj_relationships[name]
            if versionutils.convert_version_to_tuple(ours) <= target
        ]
        return PayloadField(name, kind, field.nullable, field.objname, nested[-1])

    @classmethod
    def _added_in(cls, field: str) -> tuple[int, ...]:
        return versionutils.convert_version_to_tuple(cls.added_in.get(field, '1.0'))

    @classmethod
    def versions(cls) -> list[str]:
        """Return all versions that this class can be written in, 1.0 first."""
        major, minor = versionutils.convert_version_to_tuple(cls.VERSION)
        numbers = [f'{major}.{number}' for number in range(minor + 1)]
        return [version for version in numbers if version not in cls.foreign]


class StateUpdatePayload(Payload):
    """The states before and after a change, and the message."""

    added_in: ClassVar[Mapping[str, str]] = {'status_message': '1.1'}

    # oslo.versionedobjects reads a plain dict off the class.
    fields = {  # noqa: RUF012
        'old_state': types.StringField(nullable=True),
        'state': types.StringField(nullable=True),
        'status_message': types.StringField(nullable=True),
    }
