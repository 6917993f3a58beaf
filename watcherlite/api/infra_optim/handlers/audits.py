"""Audits, and the webhooks that trigger EVENT audits."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import attributes, patches, versions
from watcherlite.api.infra_optim.collection import ObjectCollection
from watcherlite.api.infra_optim.schemas import audits as schemas
from watcherlite.api.infra_optim.schemas import scopes
from watcherlite.api.operation import Request, Response
from watcherlite.api.search import Search
from watcherlite.conf import masking
from watcherlite.db.query import ListedAudit
from watcherlite.domain.audits import AuditRequest
from watcherlite.execution.retries import retry_on


def represent(request: Request, listed: ListedAudit, detail: bool) -> dict[str, Any]:
    """Return an audit; `detail` adds further attributes of the version.

    Credentials in the parameters are masked.
    """
    audit = listed.audit
    shown: dict[str, Any] = {
        'uuid': audit.uuid,
        'name': audit.name,
        'audit_type': audit.audit_type,
        'state': versions.DELETED if audit.deleted_at else audit.state,
        'goal_uuid': listed.goal_uuid,
        'goal_name': listed.goal_name,
        'strategy_uuid': listed.strategy_uuid,
        'strategy_name': listed.strategy_name,
        'interval': audit.interval,
        'scope': list(audit.scope),
        'auto_trigger': audit.auto_trigger,
        'next_run_time': timestamps.naive(audit.next_run_time),
        'links': links.object_links(request, 'audits', audit.uuid),
    }
    if not detail:
        return shown
    shown['parameters'] = masking.mask_data(dict(audit.parameters))
    shown['hostname'] = audit.hostname
    if request.version >= versions.START_AND_END:
        shown['start_time'] = timestamps.naive(audit.start_time)
        shown['end_time'] = timestamps.naive(audit.end_time)
    if request.version >= versions.FORCE:
        shown['force'] = audit.force
    if request.version >= versions.STATUS_MESSAGE:
        shown['status_message'] = audit.status_message
    shown.update(timestamps.of(audit))
    return shown


TIMES = ('start_time', 'end_time')
#: Attributes that a patch cannot remove.
MANDATORY = ('name', 'audit_type', 'state', 'goal')
#: Values of removed attributes; default: None.
EMPTY: Mapping[str, Any] = {
    'parameters': {},
    'scope': [],
    'auto_trigger': False,
    'force': False,
}
_CHECKER = attributes.checker(schemas.ATTRIBUTES)


AUDITS = ObjectCollection(
    'audits',
    'audit',
    lambda store: store.list_audits,
    lambda store, name, deleted: store.find_audit(name, deleted),
    represent,
    searched=Search(
        lambda row: (
            row.audit.uuid,
            row.audit.name,
            row.audit.status_message,
            row.goal_name,
            row.strategy_name,
        ),
        lambda row: row.audit.creator.user_id,
        lambda row: row.audit.uuid,
    ),
)

ROUTES = AUDITS.routes(schemas, schemas.AUDIT, 'Show an audit.')


@ROUTES.route(
    'POST /v1/audits',
    'audit:create',
    {201: schemas.AUDIT, 404: None, 406: None, 409: None},
    restore=AUDITS.respond_created,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create an audit.

    It runs at once unless it waits for a time or an event.

    :raises Invalid: the attributes are inconsistent, or the template is unknown
    :raises NotFound: the goal or the strategy is unknown
    :raises NotAcceptable: it has times, which require 1.1
    :raises Conflict: the name is in use
    """
    new = _audit_request(request)
    audit = request.services.audits.create(new, request.context, request.creator)
    return AUDITS.respond_created(request, {'audit': audit.uuid})


@ROUTES.route(
    'PATCH /v1/audits/{audit}',
    'audit:update',
    {200: schemas.AUDIT, 406: None, 409: None},
    body=patches.SCHEMA,
)
def update(request: Request) -> Response:
    """Update, cancel, suspend or resume an audit.

    An empty patch changes nothing.

    :raises Invalid: an attribute cannot be set, a value is invalid, or the transition
        of the state is not allowed
    """
    changes = patches.parse(
        request.body, allowed=schemas.ATTRIBUTES, mandatory=MANDATORY
    )
    _check_times(request, {change.name for change in changes})
    return AUDITS.respond_stored(request, _changed(request, changes))


@retry_on(exceptions.OutOfDate)
def _changed(request: Request, changes: Sequence[patches.Change]) -> str:
    """Apply a patch to the stored audit; return its uuid."""
    found = AUDITS.find(request, request.show_deleted)
    values = attributes.patched(_document(found), changes, _CHECKER, EMPTY)
    scopes.check(values.get('scope'))
    for name in values.keys() & set(TIMES):
        values[name] = timestamps.parse_time(name, values[name])
    if values.get('interval') is not None:
        values['interval'] = str(values['interval'])
    try:
        request.services.audits.update(
            found.audit.uuid, values, request.context, found.audit, request.creator
        )
    except exceptions.TransitionNotAllowed as refusal:
        raise exceptions.Invalid(str(refusal)) from refusal
    return found.audit.uuid


@ROUTES.route('DELETE /v1/audits/{audit}', 'audit:delete', {204: None})
def delete(request: Request) -> Response:
    """Delete an audit that has ended."""
    request.services.audits.delete(request.path['audit'])
    return Response(status=204)


def _audit_request(request: Request) -> AuditRequest:
    given = {name: value for name, value in request.body.items() if value is not None}
    _check_times(request, given)
    if 'interval' in given:
        given['interval'] = str(given['interval'])
    for name in given.keys() & set(TIMES):
        given[name] = timestamps.parse_time(name, given[name])
    template = given.pop('audit_template_uuid', None)
    return AuditRequest(audit_template=template, **given)


def _check_times(request: Request, names: Collection[str]) -> None:
    early = [name for name in TIMES if name in names]
    if early and request.version < versions.START_AND_END:
        raise exceptions.NotAcceptable(
            f'API microversion 1.1 or higher is required for {" and ".join(early)}.'
        )


def _document(found: ListedAudit) -> dict[str, Any]:
    audit = found.audit
    return {
        'name': audit.name,
        'audit_type': audit.audit_type,
        'state': audit.state,
        'goal': found.goal_uuid,
        'strategy': found.strategy_uuid,
        'parameters': dict(audit.parameters),
        'scope': list(audit.scope),
        'interval': audit.interval,
        'auto_trigger': audit.auto_trigger,
        'force': audit.force,
        **{
            name: None if time is None else time.isoformat()
            for name, time in zip(
                TIMES, (audit.start_time, audit.end_time), strict=True
            )
        },
    }


@ROUTES.route(
    'POST /v1/webhooks/{audit}',
    'webhook:trigger',
    {202: None},
    restore=lambda request, created: Response(status=202),
    body=schemas.EVENT,
    webhook=True,
)
def trigger(request: Request) -> Response:
    """Run an EVENT audit.

    :raises NotFound: no such audit
    :raises Invalid: its type is not EVENT, or its state neither PENDING nor SUCCEEDED
    """
    request.services.audits.trigger(
        request.path['audit'], request.body, request.context
    )
    return Response(status=202)
