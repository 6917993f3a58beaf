"""Audits: the list, one audit with its plans, and its creation."""

from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard import schema_forms
from watcherlite.dashboard.views import SEARCH, PageTable, View
from watcherlite.domain.audits import AUDIT_TYPES
from watcherlite.states import audit as states

PAGES = PageTable()
ROWS = 50
_FILTERS = ('state', 'goal', 'strategy', *SEARCH, 'sort_key', 'sort_dir', 'marker')


@PAGES.page('/audits', 'audits.html')
def list_audits(view: View) -> Mapping[str, Any]:
    """List audits, the newest first."""
    args = view.filters(*_FILTERS)
    order = {'sort_key': args['sort_key'] or 'created_at'}
    order['sort_dir'] = args['sort_dir'] or 'desc'
    body = view.api.get('/v1/audits/detail', **{**args, **order}, limit=ROWS)
    return {
        'audits': body['audits'],
        'states': list(states.STATES),
        'filters': args,
        'next': view.next_address(body, args, 'audits'),
        'can': {'create': view.allows('audit:create')},
    }


@PAGES.page('/audits/new', 'audit_new.html')
def show_form(view: View) -> Mapping[str, Any]:
    """Show the form of a new audit: first its strategy, then the parameters."""
    strategies = view.api.get('/v1/strategies/detail')['strategies']
    name = view.form.get('strategy') or view.args.get('strategy', '')
    chosen = next((s for s in strategies if name in (s['name'], s['uuid'])), None)
    fields = []
    if chosen is not None:
        fields = list(schema_forms.fields_of(chosen['parameters_spec'], view.form))
    return {
        'strategies': strategies,
        'chosen': chosen,
        'fields': fields,
        'types': AUDIT_TYPES,
        'given': view.form,
    }


@PAGES.form('/audits/create', show_form)
def create(view: View) -> str:
    """Create an audit."""
    name = view.form.get('strategy', '')
    strategy = view.api.get(f'/v1/strategies/{name}')
    spec = strategy['parameters_spec']
    body: dict[str, Any] = {
        'goal': strategy['goal_name'],
        'strategy': strategy['name'],
        'audit_type': view.form.get('audit_type', ''),
        'parameters': schema_forms.values_of(spec, view.form),
        'auto_trigger': view.form.get('auto_trigger') == 'on',
    }
    for optional in ('name', 'interval'):
        if view.form.get(optional, '').strip():
            body[optional] = view.form[optional].strip()
    audit = view.api.request('POST', '/v1/audits', body)
    return view.address('audits', audit['uuid'], done='created')


@PAGES.page('/audits/{uuid}', 'audit.html')
def show_audit(view: View, uuid: str) -> Mapping[str, Any]:
    """Show an audit, its plans and its latest events."""
    audit = view.api.get(f'/v1/audits/{uuid}')
    plans = []
    if view.allows('action_plan:detail'):
        plans = view.api.get(
            '/v1/action_plans/detail',
            audit_uuid=audit['uuid'],
            sort_key='created_at',
            sort_dir='desc',
            limit=ROWS,
        )['action_plans']
    events = []
    if view.allows('event:get_all'):
        path = f'/v1/audits/{audit["uuid"]}/events'
        events = view.api.get(path, before=2**53 - 1, limit=ROWS)['events']
    return {
        'audit': audit,
        'plans': plans,
        'events': events,
        'transitions': _transitions(view, audit),
    }


@PAGES.form('/audits/{uuid}/state', show_audit)
def change_state(view: View, uuid: str) -> str:
    """Cancel, suspend or resume an audit."""
    state = view.form.get('state', '')
    change = [{'op': 'replace', 'path': '/state', 'value': state}]
    view.api.request('PATCH', f'/v1/audits/{uuid}', change)
    return view.address('audits', uuid, done='changed')


#: Requested state -> the text of its button.
_BUTTONS: Mapping[str, str] = {
    states.CANCELLED: 'Cancel',
    states.SUSPENDED: 'Suspend',
    states.ONGOING: 'Resume',
}


def _transitions(view: View, audit: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the states that the user may request, and the texts of their buttons."""
    if not view.allows('audit:update'):
        return {}
    desired = {
        states.PENDING: (states.CANCELLED,),
        states.ONGOING: (states.SUSPENDED, states.CANCELLED),
        states.SUSPENDED: (states.ONGOING,),
    }.get(audit['state'], ())
    return {state: _BUTTONS[state] for state in desired}
