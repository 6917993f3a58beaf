"""The application of an API process that serves the dashboard as well."""

from watcherlite import bootstrap
from watcherlite.api import deploy
from watcherlite.api.errors import Wsgi
from watcherlite.api.services import Services
from watcherlite.dashboard.application import Dashboard
from watcherlite.dashboard.logins import login_of
from watcherlite.dashboard.sessions import Sessions


def application_of(runtime: bootstrap.Runtime, services: Services) -> Wsgi:
    """Return the REST API with the dashboard.

    :param services: from `api.deploy.services_of`
    :raises ConfigurationError: an option has an invalid value
    """
    conf = runtime.conf
    store = Sessions(services.store, services.clock, conf.dashboard.session_lifetime)
    login = login_of(deploy.settings_of(conf), conf)
    dashboard = Dashboard(login, store, services.clock)
    return deploy.application_of(runtime, services, dashboard)
