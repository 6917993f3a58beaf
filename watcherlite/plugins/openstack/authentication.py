"""The clouds of openstacksdk, with the authority of the service or of a user."""

import functools
import threading
from collections.abc import Callable
from typing import Any, cast

import requests
from keystoneauth1 import access, adapter, loading, token_endpoint
from keystoneauth1 import exceptions as keystone_exceptions
from keystoneauth1 import plugin as keystone_plugin
from keystoneauth1 import session as keystone_session
from keystoneauth1.access import service_catalog
from keystoneauth1.identity import v3
from keystoneauth1.identity.access import AccessInfoPlugin
from openstack import config as openstack_config
from openstack import connection
from openstack.config import cloud_region

from watcherlite import exceptions
from watcherlite.db import credentials
from watcherlite.db.credentials import Credential
from watcherlite.plugins.openstack.session import Session, open_http
from watcherlite.plugins.openstack.settings import OpenStackSettings

APP_NAME = 'watcherlite'

#: The scope of the service's own tokens, which one of a trust must not have.
_SCOPE = frozenset(
    {
        'project_id',
        'project_name',
        'project_domain_id',
        'project_domain_name',
        'tenant_id',
        'tenant_name',
        'domain_id',
        'domain_name',
        'system_scope',
        'default_domain',
        'default_domain_id',
        'default_domain_name',
        'trust_id',
    }
)
_WITH_PASSWORD = frozenset({'password', 'v3password'})


class TrustedUser(v3.Password):
    """The authority of a user by a trust, which may be renewed meanwhile."""

    renewed: Callable[[], Credential | None]

    def get_auth_ref(
        self, session: keystone_session.Session, **arguments: Any
    ) -> access.AccessInfoV3:
        try:
            return super().get_auth_ref(session, **arguments)
        except (
            keystone_exceptions.Unauthorized,
            keystone_exceptions.Forbidden,
            keystone_exceptions.NotFound,
        ):
            credential = self.renewed()
            if credential is None or credential.external_id == self.trust_id:
                raise
            self.trust_id = credential.external_id
            return super().get_auth_ref(session, **arguments)


class Identities:
    """Creates connections, which share the HTTP connections of the process.

    :param settings: the cloud and the user of the service
    :raises ConfigurationError: the settings do not describe a cloud
    """

    def __init__(self, settings: OpenStackSettings) -> None:
        self._settings = settings
        self._http: requests.Session = open_http()
        self._lock = threading.Lock()
        self._config = openstack_config.OpenStackConfig(
            config_files=(
                [settings.client_config_file] if settings.client_config_file else None
            ),
            app_name=APP_NAME,
            load_yaml_config=settings.cloud is not None,
            # They are those of the user that starts a daemon, not of the daemon.
            load_envvars=False,
        )

    def plugin(
        self,
        credential: Credential | None,
        renewed: Callable[[], Credential | None] | None = None,
    ) -> keystone_plugin.BaseAuthPlugin:
        """Return the plugin that requests tokens, for use in all regions.

        :param credential: None: the service's own authority
        :param renewed: returns the newest credential of the owner
        """
        region = self._region(None)
        auth_type = str(region.config['auth_type'])
        auth = {
            key: value
            for key, value in region.config['auth'].items()
            if value is not None
        }
        if credential is None:
            return _load(auth_type, auth)
        if credential.kind == credentials.APPLICATION_CREDENTIAL:
            return _load(
                'v3applicationcredential',
                {
                    'auth_url': auth['auth_url'],
                    'application_credential_id': credential.external_id,
                    'application_credential_secret': credential.secret,
                },
            )
        if auth_type not in _WITH_PASSWORD:
            raise exceptions.ConfigurationError(
                f'[openstack] has auth_type {auth_type}, with which the service cannot '
                'use the trusts of users; set it to password'
            )
        unscoped = {key: value for key, value in auth.items() if key not in _SCOPE}
        plugin = _load('v3password', {**unscoped, 'trust_id': credential.external_id})
        if renewed is not None:
            # Its loader has no other way to make a subclass.
            plugin.__class__ = TrustedUser
            cast('TrustedUser', plugin).renewed = renewed
        return plugin

    def token_plugin(self, token: str) -> keystone_plugin.BaseAuthPlugin:
        """Return the plugin that uses the token of a user, with its service catalog.

        It reads the catalog from keystone: a token of an application credential cannot
        be exchanged for another one.
        """
        response = self.user_client(token).get(
            '/auth/tokens', headers={'X-Subject-Token': token}
        )
        found = access.AccessInfoV3(body=response.json(), auth_token=token)
        return AccessInfoPlugin(found, auth_url=self._identity_url())

    @property
    def uses_password(self) -> bool:
        """Return whether the service has a password, with which it can use trusts."""
        return self._region(None).config['auth_type'] in _WITH_PASSWORD

    def client(self, plugin: keystone_plugin.BaseAuthPlugin) -> adapter.Adapter:
        """Return a client of keystone that authenticates by a plugin."""
        return self._client(self._identity_url(), plugin)

    def user_client(self, token: str) -> adapter.Adapter:
        """Return a client of keystone with the token of a user."""
        url = self._identity_url()
        return self._client(url, token_endpoint.Token(url, token))

    def service_client(self, token: str, service_type: str) -> adapter.Adapter:
        """Return a client of a service with the token of a user.

        It asks keystone for the catalog of the token.

        :raises keystoneauth1.exceptions.ClientException: the catalog cannot be read,
            or does not have the service
        """
        answer = self.user_client(token).get('/auth/catalog').json()
        catalog = service_catalog.ServiceCatalogV3(answer['catalog'])
        url = catalog.url_for(
            service_type=service_type,
            interface=self._settings.interface or 'public',
            region_name=self._region(None).config.get('region_name') or None,
        )
        url = str(url).rstrip('/')
        return self._client(url, token_endpoint.Token(url, token))

    def _client(
        self, url: str, plugin: keystone_plugin.BaseAuthPlugin
    ) -> adapter.Adapter:
        verify, cert = self._region(None).get_requests_verify_args()
        session = Session(
            self._settings, session=self._http, auth=plugin, verify=verify, cert=cert
        )
        return adapter.Adapter(session, endpoint_override=url)

    def _identity_url(self) -> str:
        url = str(self._region(None).config['auth']['auth_url']).rstrip('/')
        return url if url.endswith('/v3') else f'{url}/v3'

    def connect(
        self, plugin: keystone_plugin.BaseAuthPlugin, region: str | None
    ) -> connection.Connection:
        """Return a connection; nothing is sent before it is used.

        :raises ConfigurationError: the cloud does not exist
        :raises Invalid: it has no such region
        """
        base = self._region(region)
        return connection.Connection(
            config=cloud_region.CloudRegion(
                name=base.name,
                region_name=base.config.get('region_name') or None,
                config=base.config,
                auth_plugin=plugin,
                session_constructor=self._session,
                app_name=APP_NAME,
            ),
            # Otherwise a service that is not available once remains so.
            strict_proxies=True,
        )

    @property
    def _session(self) -> type[Session]:
        """Return the constructor of sessions, which is called without settings."""
        return cast(
            'type[Session]',
            functools.partial(Session, self._settings, session=self._http),
        )

    def close(self) -> None:
        """Close the HTTP connections."""
        self._http.close()

    def _region(self, name: str | None) -> cloud_region.CloudRegion:
        settings = self._settings
        region = name or settings.region_name
        arguments: dict[str, Any] = {'interface': settings.interface}
        if self._has_regions:
            arguments['region_name'] = region
        if settings.verify is not None:
            arguments['verify'] = bool(settings.verify)
            if isinstance(settings.verify, str):
                arguments['cacert'] = settings.verify
        if isinstance(settings.cert, tuple):
            arguments['cert'], arguments['key'] = settings.cert
        elif settings.cert:
            arguments['cert'] = settings.cert
        if settings.cloud is None:
            arguments['auth_type'] = settings.auth_type
            arguments['auth'] = dict(settings.auth)
        given = {key: value for key, value in arguments.items() if value is not None}
        try:
            with self._lock:  # openstacksdk does not say that it is thread-safe
                found = self._config.get_one(
                    cloud=settings.cloud, validate=False, **given
                )
        except Exception as error:
            if name is not None and 'egion' in str(error):
                raise exceptions.Invalid(
                    f'The cloud {settings.cloud} has no region {name}'
                ) from error
            raise exceptions.ConfigurationError(
                f'[openstack] does not describe a cloud: {error}'
            ) from error
        if region is not None:
            found.config['region_name'] = region
        return found

    @property
    def _has_regions(self) -> bool:
        """Return whether clouds.yaml lists the regions of the cloud.

        If not, `region_name` there is the default, and the service catalog may have
        others.
        """
        clouds = self._config.cloud_config.get('clouds', {})
        return 'regions' in (clouds.get(self._settings.cloud) or {})


def _load(auth_type: str, options: dict[str, Any]) -> keystone_plugin.BaseAuthPlugin:
    """Return a plugin of keystoneauth; raise ConfigurationError for its options."""
    loader: Any = loading.get_plugin_loader(auth_type)
    known = {option.dest for option in loader.get_options()}
    try:
        plugin: keystone_plugin.BaseAuthPlugin = loader.load_from_options(
            **{key: value for key, value in options.items() if key in known}
        )
    except Exception as error:
        raise exceptions.ConfigurationError(
            f'[openstack] is incomplete for auth_type {auth_type}: {error}'
        ) from error
    return plugin
