"""Software configs, their deployments to servers, and the rules of both, without I/O.

A server reads its deployments as configs whose inputs have values, and signals the
values of the outputs.
"""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from watcherlite.domain import bearer_tokens
from watcherlite.domain.rows import Value, stored

IN_PROGRESS, COMPLETE, FAILED = STATUSES = ('IN_PROGRESS', 'COMPLETE', 'FAILED')
#: The action of a deployment whose request names none.
INIT = 'INIT'
#: The kind of the tool that applies a config, if it names none.
UNGROUPED = 'Heat::Ungrouped'
#: The types of inputs and outputs.
TYPES = ('String', 'Number', 'CommaDelimitedList', 'Json', 'Boolean')
STRING = TYPES[0]
#: Values of the input TRANSPORT: no signal; a signal to a URL with a token.
NO_SIGNAL, HTTP_SIGNAL = 'NO_SIGNAL', 'CFN_SIGNAL'
TRANSPORT = 'deploy_signal_transport'
STATUS_CODE = 'deploy_status_code'
#: The outputs of every deployment, beside those of its config.
RESULTS = ('deploy_stdout', 'deploy_stderr', STATUS_CODE)
RECEIVED = 'Outputs received'
#: The path for signals with a token, below the root of the API.
SIGNAL_PATH = '/orchestration/v1/deployment_signals/{}?{}={}'
#: The maximum number of characters of a config, and of the values of a deployment.
MAX_SIZE = 512 * 1024
MAX_REASON = 4096
#: The maximum number of deployments that the project has for one server.
MAX_PER_SERVER = 256

Document = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class NewSoftwareConfig(Value):
    """A software config that is not stored yet; it never changes.

    :param tenant: its project; requests of other projects do not see it
    :param group: the kind of the tool that applies it
    :param config: a text or a mapping
    :param inputs: each with `name` and `type`; those of a derived config with `value`
    :param outputs: each with `name`, `type` and `error_output`
    :param options: for the tool
    """

    uuid: str
    tenant: str
    name: str
    group: str
    config: Any
    inputs: Sequence[Document]
    outputs: Sequence[Document]
    options: Document
    created_at: datetime.datetime

    def stored(self, key: int) -> 'SoftwareConfig':
        return stored(self, SoftwareConfig, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareConfig(NewSoftwareConfig):
    """A stored software config."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewSoftwareDeployment(Value):
    """A software deployment that is not stored yet.

    :param server_id: the server that reads it, which need not exist
    :param action: the operation that it is for
    :param input_values: they precede the values of the config
    :param output_values: None before the first signal
    :param signal_token: authorizes signals, encrypted in the database
    """

    uuid: str
    tenant: str
    server_id: str
    config_id: int
    action: str
    status: str
    status_reason: str
    input_values: Document
    output_values: Document | None
    signal_token: str = dataclasses.field(repr=False)
    created_at: datetime.datetime
    updated_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'SoftwareDeployment':
        return stored(self, SoftwareDeployment, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareDeployment(NewSoftwareDeployment):
    """A stored software deployment."""

    id: int


def attributes_of(config: NewSoftwareConfig) -> dict[str, Any]:
    """Return a config as the attributes of a resource with such a config."""
    show = {
        'id': config.uuid,
        'name': config.name,
        'group': config.group,
        'config': config.config,
        'options': dict(config.options),
        'inputs': list(config.inputs),
        'outputs': list(config.outputs),
    }
    return {'config': config.config, 'show': show}


def derive_inputs(
    declared: Sequence[Document], values: Document
) -> list[dict[str, Any]]:
    """Return the inputs of a config with the values of a deployment.

    :param values: by name; those that the config does not declare are added
    """
    remaining = dict(values)
    found = []
    for item in declared:
        otherwise = item.get('value', item.get('default'))
        found.append({**item, 'value': remaining.pop(item['name'], otherwise)})
    for name, value in remaining.items():
        found.append({'name': name, 'type': STRING, 'value': value})
    return found


def signal_url(deployment: SoftwareDeployment, root_url: str) -> str:
    """Return the URL to which a server sends the results of a deployment."""
    path = SIGNAL_PATH.format(
        quote(deployment.uuid, safe=''), bearer_tokens.ARGUMENT, deployment.signal_token
    )
    return root_url.rstrip('/') + path


def deployed_config(
    config: SoftwareConfig, deployment: SoftwareDeployment, root_url: str
) -> dict[str, Any]:
    """Return the config of a deployment as its server reads it."""
    return {
        'id': config.uuid,
        'name': config.name,
        'group': config.group,
        'config': config.config,
        'inputs': deployed_inputs(config, deployment, root_url),
        'outputs': list(config.outputs),
        'options': dict(config.options),
    }


def deployed_inputs(
    config: SoftwareConfig, deployment: SoftwareDeployment, root_url: str
) -> list[dict[str, Any]]:
    """Return the inputs of a config as the server of a deployment reads them.

    A config that clients have derived names its transport of signals, and gets no
    further inputs. The server signals the results of another one to a URL.
    """
    values = deployment.input_values
    declared = {item['name'] for item in config.inputs}
    own: dict[str, Any] = {}
    if TRANSPORT not in declared | values.keys():
        own = {
            'deploy_server_id': deployment.server_id,
            'deploy_action': deployment.action,
            TRANSPORT: HTTP_SIGNAL,
            'deploy_signal_id': signal_url(deployment, root_url),
            'deploy_signal_verb': 'POST',
        }
    return derive_inputs(config.inputs, {**values, **own})


def read_signal(
    outputs: Sequence[Document], details: Document
) -> tuple[dict[str, Any], str]:
    """Return the output values of a signal, and why the deployment failed.

    :param outputs: of the config; other values of the signal are ignored
    :returns: the reason is empty after a success
    """
    values: dict[str, Any] = {name: details.get(name) for name in RESULTS}
    failures = []
    for output in outputs:
        name = output['name']
        if name not in details:
            continue
        values[name] = details[name]
        if output.get('error_output') and values[name]:
            failures.append(f'{name} : {values[name]}')
    code = values[STATUS_CODE]
    if code is not None and str(code) != '0':
        failures.append(
            f'{STATUS_CODE} : Deployment exited with non-zero status code: {code}'
        )
    return values, ', '.join(failures)
