"""The tables of the API as lines of RST, and its OpenAPI documents.

Without Sphinx, so that tests can look at them.
"""

import json
import pathlib

# It stands beside this file; conf.py has put the directory on the path.
import tables

from watcherlite.api import deploy, microversions, openapi, policies
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.operation import Version
from watcherlite.api.orchestration.versions import ORCHESTRATION

DIRECTORY = 'openapi'


def operations() -> list[str]:
    """Return the table of operations: address, microversion, rule, what it does."""
    rows = [
        (
            f'``{method} {template}``',
            microversions.text(operation.since),
            f'``{operation.rule}``' if operation.rule else 'anybody',
            operation.summary,
        )
        for template, found in deploy.infra_optim().routes.items()
        for method, operation in found.items()
    ]
    return tables.list_table(
        ('Operation', 'Since', 'Policy rule', 'What it does'), (38, 7, 20, 35), rows
    )


def stack_operations() -> list[str]:
    """Return the table of operations on stacks: address, rule, what it does."""
    mount = deploy.orchestration()
    rows = [
        (
            f'``{method} {mount.prefixes[0]}{template}``'.replace('/``', '``'),
            f'``{operation.rule}``' if operation.rule else 'anybody',
            operation.summary,
        )
        for template, found in mount.routes.items()
        for method, operation in found.items()
    ]
    return tables.list_table(
        ('Operation', 'Policy rule', 'What it does'), (45, 20, 35), rows
    )


def versions() -> list[str]:
    """Return the table of microversions: what each brought, and its document."""
    rows = [
        (
            microversions.text(version),
            _literal(brought),
            f'`{document_name(version)} <{DIRECTORY}/{document_name(version)}>`__',
        )
        for version, brought in INFRA_OPTIM.history.items()
    ]
    return tables.list_table(
        ('Version', 'What it brought', 'OpenAPI document'), (10, 65, 25), rows
    )


def rules() -> list[str]:
    """Return the table of policy rules: who may by default, and what."""
    rows = [
        (f'``{rule.name}``', f'``{rule.check_str}``', rule.description)
        for rule in policies.list_rules()
    ]
    return tables.list_table(('Rule', 'Default', 'What it allows'), (26, 37, 37), rows)


def document_name(version: Version) -> str:
    """Return the name of the file of a microversion."""
    return f'{INFRA_OPTIM.service_type}-{microversions.text(version)}.json'


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
    mount = deploy.infra_optim()
    for version in INFRA_OPTIM.history:
        document = openapi.document(mount, version)
        path = directory / document_name(version)
        path.write_text(json.dumps(document, indent=1) + '\n')
    stacks = openapi.document(deploy.orchestration(), ORCHESTRATION.maximum)
    path = directory / f'{ORCHESTRATION.service_type}.json'
    path.write_text(json.dumps(stacks, indent=1) + '\n')
