"""Configuration files from templates of the operator and values of users.

Templates are trusted, values are not: substituted values with characters that could
have a meaning in the file are refused.
"""

import pathlib
import re
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions

#: The characters of a value: no blanks, line ends, quotes, comments or escapes.
_HARMLESS = re.compile(r'[\w.:/@~!?&=,;+%\[\]-]*')
#: The characters of an identifier made from a name.
_WORD = re.compile(r'[^A-Za-z0-9._-]+')

#: The name of the built-in template.
HAPROXY = 'haproxy.cfg'
TEXT = """\
# Written by watcherlite: what is changed here is lost.
{% set http = pool.protocol == 'HTTP' and vip.protocol == 'HTTP' %}
{% set check = health_monitor.admin_state_up %}
{% set cookie = pool.session_persistence.type in ('HTTP_COOKIE', 'APP_COOKIE') %}
frontend {{ name }}
    mode {{ 'http' if http else 'tcp' }}
    bind {{ bind }}:{{ vip.protocol_port }}
    timeout client 60s
{% if vip.connection_limit >= 0 %}
    maxconn {{ vip.connection_limit }}
{% endif %}
{% if not vip.admin_state_up %}
    disabled
{% endif %}
    default_backend {{ name }}

backend {{ name }}
    mode {{ 'http' if http else 'tcp' }}
    balance {{ balance }}
    timeout connect 5s
    timeout server 60s
{% if not pool.admin_state_up %}
    disabled
{% endif %}
{% if check %}
    timeout check {{ health_monitor.timeout }}s
{% if health_monitor.type in ('HTTP', 'HTTPS') %}
    option httpchk {{ health_monitor.http_method }} {{ health_monitor.url_path }}
    http-check expect status {{ health_monitor.expected_codes }}
{% endif %}
{% endif %}
{% if pool.session_persistence.type == 'SOURCE_IP' %}
    stick-table type ip size 100k expire 30m
    stick on src
{% elif http and pool.session_persistence.type == 'HTTP_COOKIE' %}
    cookie SRV insert indirect nocache
{% elif http and pool.session_persistence.type == 'APP_COOKIE' %}
    cookie {{ pool.session_persistence.cookie_name }} prefix nocache
{% endif %}
{% for member in members %}
    server {{ member.word }}-{{ member.id }} {{ member.host }}:{{ member.port }}
{%- if check %} check inter {{ health_monitor.delay }}s
{%- if health_monitor.type == 'HTTPS' %} check-ssl verify none{% endif %}
{%- if health_monitor.max_retries %} fall {{ health_monitor.max_retries }}{% endif %}
{%- endif %}
{%- if http and cookie %} cookie {{ member.id }}{% endif %}

{% endfor %}
"""


def word(text: str) -> str:
    """Return a name with all characters replaced except letters, digits and . _ -"""
    return _WORD.sub('_', text)


def render(directory: str | None, name: str | None, values: Mapping[str, Any]) -> str:
    """Return the text of a file.

    :param directory: of the operator's templates; None: there are none
    :param name: of the template; None: HAPROXY
    :raises WatcherliteError: the template does not exist or is invalid, or a value is
        refused
    """
    # Every daemon loads the drivers; only those that render pay for these nine
    # megabytes.
    import jinja2

    def validated(value: Any) -> Any:
        return value if isinstance(value, jinja2.Undefined) else _validated(value)

    loaders: list[jinja2.BaseLoader] = [jinja2.DictLoader({HAPROXY: TEXT})]
    if directory:
        loaders.insert(0, jinja2.FileSystemLoader(directory))
    environment = jinja2.Environment(  # noqa: S701  # nosec B701  # it makes no HTML
        loader=jinja2.ChoiceLoader(loaders),
        undefined=jinja2.StrictUndefined,
        finalize=validated,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    name = name or HAPROXY
    try:
        return environment.get_template(name).render(values)
    except jinja2.TemplateNotFound as error:
        raise exceptions.WatcherliteError(
            f'There is no template {error.name}; there are '
            f'{", ".join(list_templates(directory))}.'
        ) from error
    except jinja2.TemplateError as error:
        raise exceptions.WatcherliteError(
            f'The template {name} cannot be used: {error}'
        ) from error


def list_templates(directory: str | None) -> list[str]:
    """Return the names of the available templates."""
    found = {HAPROXY}
    if directory and pathlib.Path(directory).is_dir():
        files = pathlib.Path(directory).iterdir()
        found |= {path.name for path in files if path.is_file()}
    return sorted(found)


def _validated(value: Any) -> Any:
    """Return a value; raise if it could be more than a value."""
    if _HARMLESS.fullmatch(str(value)):
        return value
    raise exceptions.WatcherliteError(
        f'{str(value)[:80]!r} may not be part of the configuration of a load balancer'
    )
