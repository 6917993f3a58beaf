"""Endpoint and credentials of the API, from options, environment and clouds.yaml.

This module loads fast; keystone is imported only where it is used.
"""

import argparse
import base64
import dataclasses
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from urllib import parse

from watcherlite.cmd import exits

DEFAULT_ENDPOINT = 'http://127.0.0.1:9322'
#: Read timeout of a response in seconds.
TIMEOUT = 60.0

#: The names of these authentication types in the libraries of OpenStack.
NONE = 'none'
HTTP_BASIC = 'http_basic'
FIXED = 'admin_token'

#: The service types of the APIs in the service catalog.
INFRA_OPTIM = 'infra-optim'
ORCHESTRATION = 'orchestration'
CLUSTERING = 'clustering'
#: The default project of stacks.
DEFAULT_PROJECT = 'default'

#: The latest version that client and API support.
LATEST = 'latest'
_VERSION = re.compile(r'\d{1,4}\.\d{1,4}')


@dataclasses.dataclass(frozen=True, slots=True)
class _Option:
    """An option, the environment variables that replace it, and its help.

    :param names: the first one determines the name of the attribute
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    environment: tuple[str, ...] = ()

    @property
    def dest(self) -> str:
        return self.names[0].removeprefix('--').replace('-', '_')


#: openstacksdk reads the environment variables of the options of keystone.
OPTIONS = (
    _Option(
        ('--endpoint', '--os-endpoint', '--os-endpoint-override'),
        'URL',
        f'endpoint of the API; default: {DEFAULT_ENDPOINT}',
        ('WATCHERLITE_ENDPOINT', 'OS_ENDPOINT', 'OS_ENDPOINT_OVERRIDE'),
    ),
    _Option(('--os-cloud',), 'NAME', 'cloud in clouds.yaml', ('OS_CLOUD',)),
    _Option(
        ('--os-auth-type',),
        'TYPE',
        'authentication type: none, http_basic, or a keystone plugin (password, '
        'v3applicationcredential, v3token ...)',
        ('OS_AUTH_TYPE',),
    ),
    _Option(('--os-auth-url',), 'URL', 'URL of keystone', ('OS_AUTH_URL',)),
    _Option(('--os-username',), 'NAME', 'user name', ('OS_USERNAME',)),
    _Option(
        ('--os-password',),
        'PASSWORD',
        'password; prefer OS_PASSWORD, as command lines are visible to other users',
        ('OS_PASSWORD',),
    ),
    _Option(
        ('--os-token', '--os-auth-token'),
        'TOKEN',
        'token; prefer OS_TOKEN, as command lines are visible to other users',
        ('OS_TOKEN', 'OS_AUTH_TOKEN'),
    ),
    _Option(
        ('--os-project-id', '--project'),
        'ID',
        f'project of the stacks; default: that of the user, or {DEFAULT_PROJECT}',
        ('OS_PROJECT_ID',),
    ),
    _Option(('--os-project-name',), 'NAME', 'project name'),
    _Option(('--os-project-domain-name',), 'NAME', 'domain of the project'),
    _Option(('--os-user-domain-name',), 'NAME', 'domain of the user'),
    _Option(('--os-region-name',), 'NAME', 'region of the endpoint'),
    _Option(
        ('--os-interface', '--os-endpoint-type'),
        'NAME',
        'endpoint interface: public, internal or admin',
    ),
    _Option(
        ('--os-cacert',),
        'FILE',
        'CA bundle that verifies the TLS certificate of the API',
        ('OS_CACERT',),
    ),
    _Option(
        ('--os-infra-optim-api-version',),
        'VERSION',
        'microversion of audits and plans; default: the latest that client and server '
        'support',
        ('OS_INFRA_OPTIM_API_VERSION',),
    ),
    _Option(
        ('--os-clustering-api-version',),
        'VERSION',
        'microversion of clusters; default: the latest that client and server support',
        ('OS_CLUSTERING_API_VERSION',),
    ),
    _Option(
        ('--timeout',),
        'SECONDS',
        f'timeout of API requests; default: {TIMEOUT:g}',
        ('WATCHERLITE_TIMEOUT',),
    ),
)
INSECURE = 'insecure'
#: Service type -> the option of the microversion.
_VERSIONS = {
    INFRA_OPTIM: 'os_infra_optim_api_version',
    CLUSTERING: 'os_clustering_api_version',
}
#: Environment variables that select keystone.
_KEYSTONE = ('OS_CLOUD', 'OS_AUTH_URL')


@dataclasses.dataclass(frozen=True, slots=True)
class Access:
    """The endpoint and the credentials of the API.

    :param endpoint: without a trailing slash and without the version; for stacks and
        clusters with the prefix of their API
    :param headers: returns the headers of credentials; called before each request
    :param renew: renews the credentials after a 401; returns False if it cannot
    :param verify: the CA certificates; True: the default ones; False: no verification
    :param cert: the client certificate, in the format of requests
    :param version: the microversion to request, or LATEST
    :param timeout: seconds
    :param project: the project of the stacks
    :param service: the service type
    """

    endpoint: str
    headers: Callable[[], Mapping[str, str]] = dict
    renew: Callable[[], bool] = bool
    verify: bool | str = True
    cert: str | tuple[str, str] | None = None
    version: str = LATEST
    timeout: float = TIMEOUT
    project: str = DEFAULT_PROJECT
    service: str = INFRA_OPTIM


def add_options(parser: argparse.ArgumentParser, without: Collection[str] = ()) -> None:
    """Add the options without defaults, so that they can be merged.

    :param without: attributes that are options of the command itself; the option of the
        connection precedes the command
    """
    group = parser.add_argument_group('connection')
    for option in OPTIONS:
        if option.dest in without:
            continue
        environment = f' ({", ".join(option.environment)})'
        group.add_argument(
            *option.names,
            dest=option.dest,
            metavar=option.metavar,
            help=option.help + (environment if option.environment else ''),
        )
    group.add_argument(
        f'--{INSECURE}',
        action='store_true',
        default=None,
        help='do not verify the TLS certificate of the API',
    )


def merge_options(*parsed: argparse.Namespace | None) -> dict[str, str]:
    """Return the merged options of command lines: name -> value; the last one wins."""
    found: dict[str, str] = {}
    for args in parsed:
        for name in (*(option.dest for option in OPTIONS), INSECURE):
            value = getattr(args, name, None)
            if value is not None:
                found[name] = value
    return found


def find(
    options: Mapping[str, str],
    environ: Mapping[str, str] = os.environ,
    service: str = INFRA_OPTIM,
) -> Access:
    """Return the endpoint and the credentials of the API.

    An explicit authentication type takes precedence, then a cloud on the command line,
    then an endpoint without authentication, then keystone from the environment.

    :param options: the options of the command line, see `merge_options`
    :param service: the service type
    :raises UsageError: an option is invalid or missing, or a package is not installed
    """
    given = {**_from_environment(environ), **options}
    auth_type = given.get('os_auth_type', '').lower()
    wants_cloud = 'os_cloud' in options or 'os_auth_url' in options
    if not auth_type and not wants_cloud and 'endpoint' in given:
        auth_type = FIXED if 'os_token' in given else NONE
    if not auth_type and (wants_cloud or any(environ.get(key) for key in _KEYSTONE)):
        auth_type = 'keystone'
    if auth_type in ('', NONE):
        return _access(given, dict, service)
    if auth_type == HTTP_BASIC:
        return _access(given, _basic(given), service)
    if auth_type == FIXED:
        return _access(given, _token(given), service)
    # openstacksdk takes 0.5 seconds to import, and is an extra.
    from watcherlite.cli.http import keystone

    found = keystone.find(options, service)
    if service == ORCHESTRATION and 'os_project_id' not in given:
        given['os_project_id'] = found.project() or ''
    return dataclasses.replace(
        _access({**given, 'endpoint': found.endpoint}, found.headers, service),
        renew=found.renew,
        verify=found.verify,
        cert=found.cert,
    )


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for option in OPTIONS:
        values = [environ[name] for name in option.environment if environ.get(name)]
        if values:
            found[option.dest] = values[0]
    return found


def _access(
    given: Mapping[str, str], headers: Callable[[], Mapping[str, str]], service: str
) -> Access:
    place = endpoint(given.get('endpoint') or DEFAULT_ENDPOINT)
    project = ''
    if service == ORCHESTRATION:
        place, project = _split_stacks_endpoint(place)
    elif service == CLUSTERING:
        place = f'{_root(place)}/{CLUSTERING}'
    return Access(
        endpoint=place,
        project=given.get('os_project_id') or project or DEFAULT_PROJECT,
        headers=headers,
        verify=False if given.get(INSECURE) else given.get('os_cacert') or True,
        version=_version(given.get(_VERSIONS.get(service, ''))),
        timeout=_timeout(given.get('timeout')),
        service=service,
    )


def endpoint(text: str) -> str:
    """Return an endpoint without `/v1`; UsageError if it is invalid."""
    try:
        parts = parse.urlsplit(text.strip())
        valid = parts.scheme in ('http', 'https') and bool(parts.hostname)
        # Reading the port validates it.
        valid = valid and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise exits.UsageError(
            f'{text!r} is not a valid endpoint; example: {DEFAULT_ENDPOINT}'
        )
    if parts.username or parts.password:
        raise exits.UsageError(
            'an endpoint must not contain credentials; use --os-auth-type '
            f'{HTTP_BASIC} with OS_USERNAME and OS_PASSWORD'
        )
    path = parts.path.rstrip('/').removesuffix('/v1').rstrip('/')
    return f'{parts.scheme}://{parts.netloc}{path}'


def _split_stacks_endpoint(place: str) -> tuple[str, str]:
    """Return the endpoint of stacks, and the project in it or ''.

    An endpoint with a project is one of stacks from a catalog; others are the root of
    the API or the endpoint of another service.
    """
    before, _, project = place.partition('/v1/')
    if project:
        return before, parse.unquote(project)
    return f'{_root(place)}/{ORCHESTRATION}', ''


def _root(place: str) -> str:
    """Return the root of the API of an endpoint."""
    before = place.partition('/v1/')[0]
    for service in (INFRA_OPTIM, ORCHESTRATION, CLUSTERING):
        before = before.removesuffix(f'/{service}')
    return before


def _basic(given: Mapping[str, str]) -> Callable[[], Mapping[str, str]]:
    name, password = given.get('os_username'), given.get('os_password')
    if not name or password is None:
        raise exits.UsageError(f'{HTTP_BASIC} requires OS_USERNAME and OS_PASSWORD')
    encoded = base64.b64encode(f'{name}:{password}'.encode()).decode()
    return lambda: {'Authorization': f'Basic {encoded}'}


def _token(given: Mapping[str, str]) -> Callable[[], Mapping[str, str]]:
    token = given.get('os_token')
    if not token:
        raise exits.UsageError(f'{FIXED} requires OS_TOKEN')
    return lambda: {'X-Auth-Token': token}


def _version(text: str | None) -> str:
    """Return a microversion; `1` is the latest one, as in the client of Watcher."""
    if not text or text.lower() in (LATEST, '1', f'1.{LATEST}'):
        return LATEST
    if not _VERSION.fullmatch(text):
        raise exits.UsageError(
            f'{text!r} is not a microversion; examples: 1.5, {LATEST}'
        )
    return text


def _timeout(text: str | None) -> float:
    try:
        seconds = TIMEOUT if text is None else float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise exits.UsageError(
            f'--timeout is {text!r}; it must be a number of seconds above 0, and 86400 '
            'at most'
        )
    return seconds


def value_options() -> Sequence[str]:
    """Return the names of the options that take a value."""
    return [name for option in OPTIONS for name in option.names]


def index_of_command(argv: Sequence[str]) -> int:
    """Return the index of the command name, after the global options."""
    index = 0
    with_value = {'--config-file', '--config-dir', *value_options()}
    while index < len(argv) and argv[index].startswith('-'):
        index += 2 if argv[index] in with_value else 1
    return min(index, len(argv))
