"""The directives `rest-operations`, `rest-versions` and `rest-policies`.

They show the operations of the API, its microversions, and its policy rules, as the
code has them. Each microversion links to its OpenAPI document, which an HTML build
has as openapi/infra-optim-1.7.json and so on.
"""

import json
import pathlib

# It stands beside this file; conf.py has put the directory on the path.
import tables
from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from watcherlite.api import deploy, microversions, openapi, policies
from watcherlite.api.microversions import INFRA_OPTIM
from watcherlite.api.operation import Version

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


class _Table(rst.Directive):
    def lines(self) -> list[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        container = nodes.container()
        content = StringList(self.lines(), self.name)
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)


class Operations(_Table):
    """Shows all operations."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return operations()


class Microversions(_Table):
    """Shows all microversions."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return versions()


class Policies(_Table):
    """Shows all policy rules."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rules()


def write_documents(app: Sphinx, error: Exception | None) -> None:
    """Write the OpenAPI documents beside the pages."""
    if error is not None or app.builder.format != 'html':
        return
    directory = pathlib.Path(app.outdir) / DIRECTORY
    directory.mkdir(exist_ok=True)
    routes = deploy.infra_optim().routes
    for version in INFRA_OPTIM.history:
        document = openapi.document(INFRA_OPTIM, routes, version)
        path = directory / document_name(version)
        path.write_text(json.dumps(document, indent=1) + '\n')


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known to Sphinx."""
    app.add_directive('rest-operations', Operations)
    app.add_directive('rest-versions', Microversions)
    app.add_directive('rest-policies', Policies)
    app.connect('build-finished', write_documents)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
