"""Services: the lanes of the workers, and the health of the service."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.dashboard.api_client import ApiError
from watcherlite.dashboard.views import PageTable, View

PAGES = PageTable()
ROWS = 50
_FILTERS = ('sort_key', 'sort_dir', 'marker')


@PAGES.page('/services', 'services.html')
def list_services(view: View) -> Mapping[str, Any]:
    """List the services, with the health of the parts of the service."""
    args = view.filters(*_FILTERS)
    body = view.api.get('/v1/services/detail', **args, limit=ROWS)
    health = get_health(view)
    return {
        'services': body['services'],
        'next': view.next_address(body, args, 'services'),
        'health': health['status'].upper(),
        'parts': list_parts(health),
    }


def get_health(view: View) -> Mapping[str, Any]:
    """Return the health report, which has an error status if the service is down."""
    try:
        health: Mapping[str, Any] = view.api.get('/healthcheck')
    except ApiError as error:
        if not isinstance(error.body, dict) or 'status' not in error.body:
            raise
        health = error.body
    return health


def list_parts(health: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return name, status and message of each part; () without details."""
    parts = [
        {'name': name, **health[key]}
        for key, name in (('database', 'Database'), ('broker', 'Broker'))
        if key in health
    ]
    for lane, report in health.get('lanes', {}).items():
        hosts = ', '.join(report['hosts'])
        message = f'{report["live_workers"]} live workers: {hosts}'
        if not report['hosts']:
            message = 'no live worker'
        parts.append(
            {'name': f'Lane {lane}', 'status': report['status'], 'message': message}
        )
    outbox = health.get('notifications')
    if outbox is not None:
        waited = outbox['oldest_pending_seconds']
        message = f'the oldest event has waited for {waited:.0f} s'
        if outbox['oldest_pending'] is None:
            message = 'no event is pending'
        parts.append({'name': 'Outbox', 'status': outbox['status'], 'message': message})
    return [{**part, 'status': part['status'].upper()} for part in parts]
