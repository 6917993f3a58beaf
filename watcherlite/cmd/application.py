"""The application of an API process: the REST API, and the dashboard if enabled."""

from watcherlite import bootstrap
from watcherlite.api import deploy
from watcherlite.api.errors import Wsgi
from watcherlite.api.services import Services


def application_of(runtime: bootstrap.Runtime, services: Services) -> Wsgi:
    """Return the application of a process.

    :param services: from `api.deploy.services_of`
    :raises ConfigurationError: an option has an invalid value
    """
    if not runtime.conf.dashboard.enabled:
        return deploy.application_of(runtime, services)
    # An API without pages needs no module of them.
    from watcherlite.dashboard import deploy as dashboard

    return dashboard.application_of(runtime, services)
