"""`watcherlite profile` and `watcherlite policy`: what has a spec, and its types."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from cliff import lister

from watcherlite import exceptions
from watcherlite.cli import cluster_command, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.cluster_command import (
    ClusterRemote,
    ClusterShow,
    DeleteNow,
    ListNouns,
    ShowNoun,
)
from watcherlite.cli.remote import Filter


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
    Filter('--name', 'name', 'NAME', 'those of this name'),
    Filter('--type', 'type', 'TYPE', 'those of this type, with its version'),
)


class _Create(ClusterShow):
    """A command that stores what has a spec.

    :cvar noun: as it stands in addresses
    """

    noun: ClassVar[str]
    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='of the new one')
        add_spec(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
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

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
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
        parser.add_argument('--name', metavar='NAME', help='its new name')
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Change it; return it."""
        names = ('name', *({'metadata'} & vars(parsed).keys()))
        values = cluster_command.said(parsed, *names)
        return clustering.update(self.noun, parsed.identity, values)[0]


class ProfileCreate(_Create):
    """Store a profile: what nodes are made from."""

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
    """Change the name or the metadata of a profile; its spec never changes."""

    noun = 'profiles'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        cluster_command.add_metadata(parser)
        return parser


class ProfileDelete(DeleteNow):
    """Delete profiles that nothing is made from."""

    noun = 'profiles'


class ProfileValidate(_Validate):
    """Check the spec of a profile; store nothing."""

    noun = 'profiles'


class PolicyCreate(_Create):
    """Store a policy, which clusters can be bound to."""

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
    """Change the name of a policy; its spec never changes."""

    noun = 'policies'


class PolicyDelete(DeleteNow):
    """Delete policies that no cluster is bound to."""

    noun = 'policies'


class PolicyValidate(_Validate):
    """Check the spec of a policy; store nothing."""

    noun = 'policies'


class _Types(remote.Printed, ClusterRemote, lister.Lister):
    """A command that lists types.

    :cvar noun: as it stands in addresses
    """

    noun: ClassVar[str]

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each type."""
        with self.clustering(parsed_args) as clustering:
            rows = clustering.members(self.noun.replace('-', '_'), self.noun)
        return remote.table(TYPE, rows, parsed_args.formatter)


class _Type(ClusterShow):
    """A command that shows a type."""

    noun: ClassVar[str]
    columns = TYPE_SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_type(parser)
        return parser

    def found(self, clustering: Clustering, parsed: argparse.Namespace) -> Row:
        """Return the type."""
        return clustering.show(self.noun, parsed.type)


class ProfileTypeList(_Types):
    """List what nodes can be made from."""

    noun = 'profile-types'


class ProfileTypeShow(_Type):
    """Show a type of profile: what its properties are."""

    noun = 'profile-types'


class ProfileTypeOps(remote.Printed, ClusterRemote, lister.Lister):
    """List what can be done with nodes of a type of profile."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_type(parser)
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each operation."""
        path = ('profile-types', parsed_args.type, 'ops')
        with self.clustering(parsed_args) as clustering:
            found = clustering.members('operations', *path)
        rows = [{'name': name, **operation} for name, operation in found.items()]
        columns = (
            Column('Operation', 'name'),
            Column('Description', 'description'),
            Column('Parameters', 'parameters'),
        )
        return remote.table(columns, rows, parsed_args.formatter)


class PolicyTypeList(_Types):
    """List what clusters can be looked after by."""

    noun = 'policy-types'


class PolicyTypeShow(_Type):
    """Show a type of policy: what its properties are."""

    noun = 'policy-types'


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file of a spec."""
    parser.add_argument(
        '--spec',
        metavar='FILE',
        required=True,
        help='type, version and properties, YAML or JSON; - for standard input',
    )


def add_type(parser: argparse.ArgumentParser) -> None:
    """Add the argument that says which type is meant."""
    parser.add_argument(
        'type', metavar='TYPE', help='with its version: local.process-1.0'
    )


def spec(name: str) -> dict[str, Any]:
    """Return the spec in a file; Invalid: it holds none."""
    # Help needs no YAML
    from watcherlite.cli import plan_file

    found = plan_file.value(name)
    if not isinstance(found, dict):
        source = 'standard input' if name == '-' else name
        raise exceptions.Invalid(
            f'{source} holds no spec: that is a mapping of type, version and properties'
        )
    return found
