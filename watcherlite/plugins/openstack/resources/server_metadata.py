"""The URL for the metadata of a server, and the user data that tells it the URL."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import yaml

from watcherlite.domain import bearer_tokens, stacks
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import software

#: In the data of a server: the URL for its metadata, with a token.
_URL = 'metadata_url'
#: Where os-collect-config looks for its configuration.
_PATH = '/var/lib/heat-cfntools/cfn-init-data'


def published(context: ResourceContext, endpoint: str) -> dict[str, str]:
    """Return the data of a server whose metadata is published.

    :param endpoint: the root URL of the API
    """
    token = bearer_tokens.new_token()
    path = stacks.METADATA_PATH.format(
        quote(context.stack_uuid, safe=''),
        quote(context.resource_name, safe=''),
        bearer_tokens.ARGUMENT,
        token,
    )
    return {
        bearer_tokens.METADATA_DIGEST: bearer_tokens.digest_of(token),
        _URL: endpoint.rstrip('/') + path,
    }


def is_published(context: ResourceContext) -> bool:
    """Return whether the metadata of a server is published."""
    return _URL in context.data


def collect_config(
    context: ResourceContext, data: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the configuration of os-collect-config; empty without metadata.

    :param data: of the server; None: the stored data
    """
    url = (context.data if data is None else data).get(_URL)
    if url is None:
        return {}
    return {'collectors': ['ec2', 'request', 'local'], 'request': {'metadata_url': url}}


def user_data(context: ResourceContext, text: str) -> str:
    """Return the user data with the configuration of os-collect-config.

    :param text: the user data of the template
    """
    content = json.dumps(
        {'os-collect-config': collect_config(context), stacks.DEPLOYMENTS: []}
    )
    file = {'path': _PATH, 'content': content, 'permissions': '0600'}
    return with_files(text, [file], context.resource_uuid)


def with_files(text: str, files: Sequence[Mapping[str, str]], seed: str) -> str:
    """Return user data that also writes files.

    :param files: in the format of cloud-init
    :param seed: of the boundary in the message
    """
    # So that files of the text are written, too.
    merge = 'dict(recurse_array)+list(append)'
    own = yaml.safe_dump({'merge_how': merge, 'write_files': list(files)})
    parts = list(software.parts_of(text))
    if not parts and text:
        is_config = text.startswith('#cloud-config')
        parts = [software.part(text, 'cloud-config' if is_config else 'x-shellscript')]
    parts.append(software.part(f'#cloud-config\n{own}', 'cloud-config'))
    return software.message(parts, seed)
