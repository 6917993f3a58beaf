"""Operations on audit templates."""

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain.audits import (
    AuditTemplate,
    AuditTemplateRequest,
    NewAuditTemplate,
)
from watcherlite.engine.audits import requests
from watcherlite.engine.audits.goal_sync import ProposalPlugins
from watcherlite.execution.retries import retry_on_conflict

LOG = logging.getLogger(__name__)

#: Fields that users may change.
FIELDS = frozenset(
    {'name', 'description', 'goal', 'strategy', 'scope', 'default_parameters'}
)


class TemplateOperations:
    """The operations on templates; `name` is a uuid, an id, or a name in any case."""

    def __init__(self, store: Store, proposers: ProposalPlugins, clock: Clock) -> None:
        self._store = store
        self._proposers = proposers
        self._clock = clock

    @retry_on_conflict
    def create(self, request: AuditTemplateRequest) -> AuditTemplate:
        """Store a template; raises Invalid (goal, strategy, ...) and Conflict."""
        refers = self._reference(request.goal, request.strategy)
        new = NewAuditTemplate(
            uuid=str(uuid.uuid4()),
            name=request.name,
            goal_id=refers.goal.id,
            strategy_id=refers.strategy_id,
            description=request.description,
            scope=list(request.scope or ()),
            default_parameters=dict(request.default_parameters or {}),
            created_at=self._clock.now(),
        )
        self._check(new, refers)
        with self._store.transaction() as tx:
            template = tx.insert_audit_template(new)
        LOG.info('Audit template %s created', template.uuid)
        return template

    @retry_on_conflict
    def update(
        self, name: str, changes: Mapping[str, Any], seen: AuditTemplate | None = None
    ) -> AuditTemplate:
        """Change fields of a template; without changes, do nothing.

        :param changes: any of `name`, `description`, `goal`, `strategy` (may be
            None), `scope`, `default_parameters`
        :param seen: the template that the changes are based on, if that matters
        :raises NotFound, Invalid: the template does not exist; a value is invalid
        :raises Conflict: the name is in use, or the goal or strategy changes without
            new `default_parameters`
        :raises OutOfDate: the template differs from `seen`
        """
        unknown = sorted(set(changes) - FIELDS)
        if unknown:
            raise exceptions.Invalid(
                f'{unknown[0]} of an audit template cannot be changed'
            )
        found = self._store.find_audit_template(name).template
        goal = changes.get('goal', found.goal_id)
        if goal is None:
            raise exceptions.Invalid('An audit template needs a goal')
        refers = self._reference(goal, changes.get('strategy', found.strategy_id))
        with self._store.transaction() as tx:
            before = _locked(tx, found)
            if seen is not None and seen != before:
                raise exceptions.OutOfDate
            if requests.has_other_reference(found, before):
                raise exceptions.StoreConflict('The template was changed meanwhile.')
            template = _apply_changes(before, changes, refers)
            if template == before:
                return before
            self._check(template, refers)
            template = template.evolve(updated_at=self._clock.now())
            tx.save_audit_template(template)
        return template

    @retry_on_conflict
    def delete(self, name: str) -> None:
        """Soft-delete a template; raises NotFound."""
        now = self._clock.now()
        found = self._store.find_audit_template(name).template
        with self._store.transaction() as tx:
            template = _locked(tx, found)
            tx.save_audit_template(template.evolve(updated_at=now, deleted_at=now))

    def _reference(
        self, goal: str | int, strategy: str | int | None
    ) -> requests.Reference:
        try:
            return requests.find_reference(self._store, goal, strategy)
        except exceptions.NotFound as error:
            raise exceptions.Invalid(str(error)) from None

    def _check(self, template: NewAuditTemplate, refers: requests.Reference) -> None:
        if not isinstance(template.name, str):
            raise exceptions.Invalid('An audit template needs a name')
        requests.check_name('an audit template', template.name)
        requests.check_scope(template.scope)
        description = template.description
        if description is not None:
            if not isinstance(description, str) or len(description) > 255:
                raise exceptions.Invalid(
                    'The description of an audit template is text of at most 255 '
                    'characters'
                )
            requests.check_json('description', description)
        defaults = template.default_parameters
        if not defaults:
            return
        if refers.strategy is None:
            raise exceptions.Invalid('default_parameters require a strategy')
        requests.check_json('default_parameters', defaults)
        # Only validated: each audit fills in the defaults of the strategy.
        self._proposers.fill_parameters(refers.strategy.parameters_spec, defaults)


def _apply_changes(
    before: AuditTemplate, changes: Mapping[str, Any], refers: requests.Reference
) -> AuditTemplate:
    template = before.evolve(goal_id=refers.goal.id, strategy_id=refers.strategy_id)
    if (
        template != before
        and before.default_parameters
        and 'default_parameters' not in changes
    ):
        raise exceptions.Conflict(
            'The default_parameters of the template are for its goal and strategy as '
            'they are; change them in the same request'
        )
    return template.evolve(**_plain(changes))


def _plain(changes: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: changes[key] for key in ('name', 'description') if key in changes}
    if 'scope' in changes:
        requests.check_scope(changes['scope'] or [])
        plain['scope'] = list(changes['scope'] or ())
    if 'default_parameters' in changes:
        given = changes['default_parameters'] or {}
        if not isinstance(given, dict):
            raise exceptions.Invalid('default_parameters are an object')
        plain['default_parameters'] = dict(given)
    return plain


def _locked(tx: Transaction, found: AuditTemplate) -> AuditTemplate:
    template = tx.lock_audit_template(found.uuid)
    if template is None:
        raise exceptions.NotFound(f'Audit template {found.uuid} could not be found.')
    return template
