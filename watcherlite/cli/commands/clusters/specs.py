"""`watcherlite profile` and `watcherlite policy`, with their types."""

import argparse
from collections.abc import Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.cli.command import Declarations, argument, option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.formatting import Column, Row, fields


def format_support(found: Any) -> str:
    """Return since when a type is supported, and how: `SUPPORTED since 2026.11`."""
    if not isinstance(found, dict):
        return str(found)
    lines = [
        (version, f'{step.get("status")} since {step.get("since")}')
        for version, steps in found.items()
        for step in steps
    ]
    several = len(found) > 1
    return '\n'.join(f'{v}: {text}' if several else text for v, text in lines)


_FILTERS = (
    base.BY_NAME,
    Filter('--type', 'type', 'TYPE', 'filter by type, with its version'),
)

SPEC = option(
    '--spec',
    'FILE',
    'file with type, version and properties, YAML or JSON; - for standard input',
    required=True,
)


class _SpecCommand(cluster_command.ClusterRemote):
    """A command on objects with a spec, which is immutable."""

    listed = fields('id name type created_at')
    columns = fields(
        *listed[:3], 'spec metadata data project user domain created_at updated_at'
    )


class _Profiles(_SpecCommand):
    collection = 'profiles'
    metavar = 'PROFILE'


class _Policies(_SpecCommand):
    collection = 'policies'
    metavar = 'POLICY'


class _Create(cluster_command.ClusterObjectCreate):
    """A command that creates an object with a spec."""

    arguments: Declarations = (argument('name', 'NAME', 'name of the new object'), SPEC)

    def values(self, parsed: argparse.Namespace) -> dict[str, Any]:
        return {**super().values(parsed), 'spec': spec(parsed.spec)}


class _Validate(cluster_command.ClusterRemote, base.Show):
    """A command that validates a spec and stores nothing."""

    arguments = (SPEC,)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        values = {'spec': spec(parsed.spec)}
        return clustering.create(self.collection, values, 'validate')[0]


class _Update(cluster_command.ClusterObjectUpdate):
    """A command that changes attributes other than the spec."""

    arguments: Declarations = (option('--name', 'NAME', 'new name'),)


class ProfileCreate(_Profiles, _Create):
    """Create a profile."""

    names = ('name', 'metadata')
    arguments = (cluster_command.METADATA,)


class ProfileList(_Profiles, cluster_command.ClusterObjectList):
    """List profiles."""

    filters = _FILTERS


class ProfileShow(_Profiles, base.ShowFound):
    """Show a profile."""


class ProfileUpdate(_Profiles, _Update):
    """Change the name or the metadata of a profile; its spec is immutable."""

    names = ('name', 'metadata')
    arguments = (cluster_command.METADATA,)


class ProfileDelete(_Profiles, base.Delete):
    """Delete profiles that are not in use."""


class ProfileValidate(_Profiles, _Validate):
    """Validate the spec of a profile."""


class PolicyCreate(_Policies, _Create):
    """Create a policy."""

    names = ('name',)


class PolicyList(_Policies, cluster_command.ClusterObjectList):
    """List policies."""

    filters = _FILTERS


class PolicyShow(_Policies, base.ShowFound):
    """Show a policy."""


class PolicyUpdate(_Policies, _Update):
    """Change the name of a policy; its spec is immutable."""

    names = ('name',)


class PolicyDelete(_Policies, base.Delete):
    """Delete policies that are not in use."""


class PolicyValidate(_Policies, _Validate):
    """Validate the spec of a policy."""


class _Types(cluster_command.ClusterRemote):
    metavar = 'TYPE'
    identifier = 'type with version: local.process-1.0'
    columns = fields(
        'name schema', Column('Support Status', 'support_status', format_support)
    )


class _ProfileTypes(_Types):
    collection = 'profile-types'


class _PolicyTypes(_Types):
    collection = 'policy-types'


class _TypeList(cluster_command.ClusterRemote, base.Rows):
    """A command that lists types."""

    columns = fields(
        'name version', Column('Support Status', 'support_status', format_support)
    )

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        member = self.collection.replace('-', '_')
        rows: Sequence[Row] = clustering.read(member, self.collection)
        return rows


class ProfileTypeList(_TypeList, _ProfileTypes):
    """List profile types."""


class ProfileTypeShow(_ProfileTypes, base.ShowFound):
    """Show a profile type with its schema."""


class ProfileTypeOps(_ProfileTypes, base.Rows):
    """List the operations of a profile type."""

    columns = fields(Column('Operation', 'name'), 'description parameters')
    arguments = (base.identifier_argument,)

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        path = (self.collection, parsed.identifier, 'ops')
        found = clustering.read('operations', *path)
        return [{'name': name, **operation} for name, operation in found.items()]


class PolicyTypeList(_TypeList, _PolicyTypes):
    """List policy types."""


class PolicyTypeShow(_PolicyTypes, base.ShowFound):
    """Show a policy type with its schema."""


def spec(name: str) -> dict[str, Any]:
    """Return the spec in a file; Invalid if it is no mapping."""
    # Help needs no YAML
    from watcherlite.cli import input_files

    found = input_files.value(name)
    if not isinstance(found, dict):
        source = 'standard input' if name == '-' else name
        raise exceptions.Invalid(
            f'{source} is not a spec: a mapping of type, version and properties'
        )
    return found
