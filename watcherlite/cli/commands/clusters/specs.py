"""`watcherlite profile` and `watcherlite policy`, with their types."""

import argparse
from collections.abc import Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
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
from watcherlite.cli.formatting import Column, Row


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


LISTED = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Type', 'type'),
    Column('Created At', 'created_at'),
)
SHOWN = (
    *LISTED[:3],
    Column('Spec', 'spec'),
    Column('Metadata', 'metadata'),
    Column('Data', 'data'),
    Column('Project', 'project'),
    Column('User', 'user'),
    Column('Domain', 'domain'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
)
TYPE = (
    Column('Name', 'name'),
    Column('Version', 'version'),
    Column('Support Status', 'support_status', supported),
)
TYPE_SHOWN = (
    Column('Name', 'name'),
    Column('Schema', 'schema'),
    Column('Support Status', 'support_status', supported),
)
_FILTERS = (
    Filter('--name', 'name', 'NAME', 'filter by name'),
    Filter('--type', 'type', 'TYPE', 'filter by type, with its version'),
)


class _Create(ClusterShow):
    """A command that stores what has a spec.

    :cvar noun: as it stands in addresses
    """

    noun: ClassVar[str]
    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='name of the new object')
        add_spec(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Create it; return it."""
        values = cluster_command.said(parsed, *({'metadata'} & vars(parsed).keys()))
        values |= {'name': parsed.name, 'spec': spec(parsed.spec)}
        return clustering.create(self.noun, values)[0]


class _Validate(ClusterShow):
    """A command that checks a spec, and stores nothing."""

    noun: ClassVar[str]
    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_spec(parser)
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Check it; return what would be stored."""
        values = {'spec': spec(parsed.spec)}
        return clustering.create(self.noun, values, 'validate')[0]


class _Update(ClusterShow):
    """A command that changes all but the spec, which never changes."""

    noun: ClassVar[str]
    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_identity(parser, self.noun)
        parser.add_argument('--name', metavar='NAME', help='new name')
        return parser

    def fetch(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Change it; return it."""
        names = ('name', *({'metadata'} & vars(parsed).keys()))
        values = cluster_command.said(parsed, *names)
        return clustering.update(self.noun, parsed.identity, values)[0]


class ProfileCreate(_Create):
    """Create a profile."""

    noun = 'profiles'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_metadata(parser)
        return parser


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

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_metadata(parser)
        return parser


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

    :cvar noun: as it stands in addresses
    """

    columns = TYPE

    noun: ClassVar[str]

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each type."""
        return clustering.members(self.noun.replace('-', '_'), self.noun)


class _Type(ClusterShow):
    """A command that shows a type."""

    noun: ClassVar[str]
    columns = TYPE_SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_type(parser)
        return parser

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

    columns = (
        Column('Operation', 'name'),
        Column('Description', 'description'),
        Column('Parameters', 'parameters'),
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_type(parser)
        return parser

    def rows(self, clustering: Clustering, parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each operation."""
        path = ('profile-types', parsed.type, 'ops')
        found = clustering.member('operations', *path)
        return [{'name': name, **operation} for name, operation in found.items()]


class PolicyTypeList(_Types):
    """List policy types."""

    noun = 'policy-types'


class PolicyTypeShow(_Type):
    """Show a policy type with its schema."""

    noun = 'policy-types'


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file of a spec."""
    parser.add_argument(
        '--spec',
        metavar='FILE',
        required=True,
        help='file with type, version and properties, YAML or JSON; - for standard '
        'input',
    )


def add_type(parser: argparse.ArgumentParser) -> None:
    """Add the argument that says which type is meant."""
    parser.add_argument(
        'type', metavar='TYPE', help='type with version: local.process-1.0'
    )


def spec(name: str) -> dict[str, Any]:
    """Return the spec in a file; Invalid: it holds none."""
    # Help needs no YAML
    from watcherlite.cli import input_files

    found = input_files.value(name)
    if not isinstance(found, dict):
        source = 'standard input' if name == '-' else name
        raise exceptions.Invalid(
            f'{source} is not a spec: a mapping of type, version and properties'
        )
    return found
