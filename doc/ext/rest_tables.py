"""The tables of the API as lines of RST, and its OpenAPI documents.

Without Sphinx, so that tests can read them.
"""

import json
import pathlib

# A module of this directory, which conf.py adds to sys.path.
import tables

from watcherlite.api import deploy, microversions, openapi, policies
from watcherlite.api.clustering.versions import CLUSTERING
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.microversions import Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import Version
from watcherlite.api.orchestration.handlers.root import ORCHESTRATION

DIRECTORY = 'openapi'


def operations() -> list[str]:
    """Return the table of operations: address, microversion, rule, description."""
    rows = [
        (
            f'``{method} {template}``',
            microversions.text(operation.since),
            f'``{operation.rule}``' if operation.rule else 'none',
            operation.summary,
        )
        for template, found in deploy.infra_optim().routes.items()
        for method, operation in found.items()
    ]
    return tables.list_table(
        ('Operation', 'Since', 'Policy rule', 'Description'), (38, 7, 20, 35), rows
    )


def stack_operations() -> list[str]:
    """Return the table of operations on stacks: address, rule, description."""
    return _operations_of(deploy.orchestration())


def cluster_operations() -> list[str]:
    """Return the table of operations on clusters, nodes and related objects."""
    return _operations_of(deploy.clustering())


def _operations_of(mount: Mount) -> list[str]:
    rows = [
        (
            f'``{method} {mount.prefixes[0]}{template}``'.replace('/``', '``'),
            f'``{operation.rule}``' if operation.rule else 'none',
            operation.summary,
        )
        for template, found in mount.routes.items()
        for method, operation in found.items()
    ]
    return tables.list_table(
        ('Operation', 'Policy rule', 'Description'), (45, 20, 35), rows
    )


def versions() -> list[str]:
    """Return the table of microversions: their changes and OpenAPI documents."""
    return _versions_of(INFRA_OPTIM)


def cluster_versions() -> list[str]:
    """Return the table of microversions of the clustering API."""
    return _versions_of(CLUSTERING)


def _versions_of(known: Versions) -> list[str]:
    rows = [
        (microversions.text(version), _literal(brought), _document_link(known, version))
        for version, brought in known.history.items()
    ]
    return tables.list_table(
        ('Version', 'Changes', 'OpenAPI document'), (10, 65, 25), rows
    )


def rules() -> list[str]:
    """Return the table of policy rules: name, default, description."""
    rows = [
        (f'``{rule.name}``', f'``{rule.check_str}``', rule.description)
        for rule in policies.list_rules()
    ]
    return tables.list_table(('Rule', 'Default', 'Permits'), (26, 37, 37), rows)


def document_name(version: Version, known: Versions = INFRA_OPTIM) -> str:
    """Return the name of the file of a microversion."""
    return f'{known.service_type}-{microversions.text(version)}.json'


def _document_link(known: Versions, version: Version) -> str:
    name = document_name(version, known)
    return f'`{name} <{DIRECTORY}/{name}>`__'


def _literal(text: str) -> str:
    """Return a sentence whose names are marked as such."""
    words = []
    for word in text.split(' '):
        bare = word.rstrip('.,:;')
        if '_' in bare or bare.startswith('/'):
            word = f'``{bare}``{word[len(bare) :]}'
        words.append(word)
    return ' '.join(words)


def write_documents(home: pathlib.Path) -> None:
    """Write the OpenAPI documents where the pages look for them.

    :param home: of the pages
    """
    directory = home / DIRECTORY
    directory.mkdir(exist_ok=True)
    for mount, known in (
        (deploy.infra_optim(), INFRA_OPTIM),
        (deploy.clustering(), CLUSTERING),
    ):
        for version in known.history:
            document = openapi.document(mount, version)
            path = directory / document_name(version, known)
            path.write_text(json.dumps(document, indent=1) + '\n')
    stacks = openapi.document(deploy.orchestration(), ORCHESTRATION.maximum)
    path = directory / f'{ORCHESTRATION.service_type}.json'
    path.write_text(json.dumps(stacks, indent=1) + '\n')
