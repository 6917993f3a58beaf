"""Audit templates: the list, one template, its creation, and audits from it."""

from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard.views import PageTable, View

PAGES = PageTable()
ROWS = 50
_FILTERS = ('goal', 'strategy', 'sort_key', 'sort_dir', 'marker')


@PAGES.page('/audit_templates', 'audit_templates.html')
def list_templates(view: View) -> Mapping[str, Any]:
    """List templates by name, with the form of a new one."""
    args = view.filters(*_FILTERS)
    order = {'sort_key': args['sort_key'] or 'name'}
    body = view.api.get('/v1/audit_templates/detail', **{**args, **order}, limit=ROWS)
    creates = view.allows('audit_template:create')
    strategies = []
    if creates:
        strategies = view.api.get('/v1/strategies')['strategies']
    return {
        'templates': body['audit_templates'],
        'filters': args,
        'next': view.next_address(body, args, 'audit_templates'),
        'can': {'create': creates, 'launch': view.allows('audit:create')},
        'strategies': strategies,
        'given': view.form,
    }


@PAGES.form('/audit_templates/create', list_templates)
def create(view: View) -> str:
    """Create a template."""
    strategy = view.api.get(f'/v1/strategies/{view.form.get("strategy", "")}')
    body = {
        'name': view.form.get('name', '').strip(),
        'description': view.form.get('description', '').strip() or None,
        'goal': strategy['goal_name'],
        'strategy': strategy['name'],
    }
    template = view.api.request('POST', '/v1/audit_templates', body)
    return view.address('audit_templates', template['uuid'], done='created')


@PAGES.page('/audit_templates/{uuid}', 'audit_template.html')
def show_template(view: View, uuid: str) -> Mapping[str, Any]:
    """Show a template."""
    can = {
        'launch': view.allows('audit:create'),
        'delete': view.allows('audit_template:delete'),
    }
    return {'template': view.api.get(f'/v1/audit_templates/{uuid}'), 'can': can}


@PAGES.form('/audit_templates/{uuid}/launch', show_template)
def launch(view: View, uuid: str) -> str:
    """Create a ONESHOT audit from a template."""
    body = {'audit_template_uuid': uuid, 'audit_type': 'ONESHOT'}
    audit = view.api.request('POST', '/v1/audits', body)
    return view.address('audits', audit['uuid'], done='created')


@PAGES.form('/audit_templates/{uuid}/delete', show_template)
def delete(view: View, uuid: str) -> str:
    """Delete a template."""
    view.api.request('DELETE', f'/v1/audit_templates/{uuid}')
    return view.address('audit_templates', done='deleted')
