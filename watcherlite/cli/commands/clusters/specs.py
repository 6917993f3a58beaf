"""`watcherlite profile` and `watcherlite policy`, with their types."""

import argparse
from collections.abc import Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.cli.command import Declarations, argument, option
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.commands.clusters import cluster_command
from watcherlite.cli.commands.clusters.cluster_client import Clustering
from watcherlite.cli.commands.clusters.cluster_command import (
    ClusterRows,
    ClusterShow,
    DeleteNow,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.formatting import Column, Row, fields


def supported(found: Any) -> str:
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


LISTED = fields('id name type created_at')
SHOWN = fields(
    *LISTED[:3], 'spec metadata data project user domain created_at updated_at'
)
TYPE = fields('name version', Column('Support Status', 'support_status', supported))
TYPE_SHOWN = fields(
    'name schema', Column('Support Status', 'support_status', supported)
)
_FILTERS = (
    Filter('--name', 'name', 'NAME', 'filter by name'),
    Filter('--type', 'type', 'TYPE', 'filter by type, with its version'),
)

SPEC = option(
    '--spec',
    'FILE',
    'file with type, version and properties, YAML or JSON; - for standard input',
    required=True,
)
PROFILE_TYPE = argument('type', 'TYPE', 'type with version: local.process-1.0')


class _Create(ClusterShow):
    """A command that creates an object with a spec.

    :cvar noun: the collection
    """

    noun: ClassVar[str]
    columns = SHOWN
    arguments: Declarations = (argument('name', 'NAME', 'name of the new object'), SPEC)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create it; return it."""
        values = cluster_command.given_attributes(
            parsed, *({'metadata'} & vars(parsed).keys())
        )
        values |= {'name': parsed.name, 'spec': spec(parsed.spec)}
        return clustering.create(self.noun, values)[0]


class _Validate(ClusterShow):
    """A command that validates a spec and stores nothing."""

    noun: ClassVar[str]
    columns = SHOWN
    arguments = (SPEC,)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Validate the spec; return the object that would be created."""
        values = {'spec': spec(parsed.spec)}
        return clustering.create(self.noun, values, 'validate')[0]


class _Update(ClusterShow):
    """A command that changes attributes other than the spec, which is immutable."""

    noun: ClassVar[str]
    columns = SHOWN
    arguments: Declarations = (
        cluster_command.identity(),
        option('--name', 'NAME', 'new name'),
    )

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Change it; return it."""
        names = ('name', *({'metadata'} & vars(parsed).keys()))
        values = cluster_command.given_attributes(parsed, *names)
        return clustering.update(self.noun, parsed.identity, values)[0]


class ProfileCreate(_Create):
    """Create a profile."""

    noun = 'profiles'
    arguments = (cluster_command.METADATA,)


class ProfileList(ListNouns):
    """List profiles."""

    noun = 'profiles'
    columns = LISTED
    filters = _FILTERS


class ProfileShow(ShowNoun):
    """Show a profile."""

    noun = 'profiles'
    columns = SHOWN


class ProfileUpdate(_Update):
    """Change the name or the metadata of a profile; its spec is immutable."""

    noun = 'profiles'
    arguments = (cluster_command.METADATA,)


class ProfileDelete(DeleteNow):
    """Delete profiles that are not in use."""

    noun = 'profiles'


class ProfileValidate(_Validate):
    """Validate the spec of a profile."""

    noun = 'profiles'


class PolicyCreate(_Create):
    """Create a policy."""

    noun = 'policies'


class PolicyList(ListNouns):
    """List policies."""

    noun = 'policies'
    columns = LISTED
    filters = _FILTERS


class PolicyShow(ShowNoun):
    """Show a policy."""

    noun = 'policies'
    columns = SHOWN


class PolicyUpdate(_Update):
    """Change the name of a policy; its spec is immutable."""

    noun = 'policies'


class PolicyDelete(DeleteNow):
    """Delete policies that are not in use."""

    noun = 'policies'


class PolicyValidate(_Validate):
    """Validate the spec of a policy."""

    noun = 'policies'


class _Types(ClusterRows):
    """A command that lists types.

    :cvar noun: the collection
    """

    columns = TYPE

    noun: ClassVar[str]

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each type."""
        return clustering.get_list(self.noun.replace('-', '_'), self.noun)


class _Type(ClusterShow):
    """A command that shows a type."""

    noun: ClassVar[str]
    columns = TYPE_SHOWN
    arguments = (PROFILE_TYPE,)

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the type."""
        return clustering.show(self.noun, parsed.type)


class ProfileTypeList(_Types):
    """List profile types."""

    noun = 'profile-types'


class ProfileTypeShow(_Type):
    """Show a profile type with its schema."""

    noun = 'profile-types'


class ProfileTypeOps(ClusterRows):
    """List the operations of a profile type."""

    columns = fields(Column('Operation', 'name'), 'description parameters')
    arguments = (PROFILE_TYPE,)

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each operation."""
        path = ('profile-types', parsed.type, 'ops')
        found = clustering.get('operations', *path)
        return [{'name': name, **operation} for name, operation in found.items()]


class PolicyTypeList(_Types):
    """List policy types."""

    noun = 'policy-types'


class PolicyTypeShow(_Type):
    """Show a policy type with its schema."""

    noun = 'policy-types'


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
