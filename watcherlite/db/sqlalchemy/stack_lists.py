"""The statement of a page of stacks, and the one that counts them."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy.dialects import Dialect
from watcherlite.db.sqlalchemy.stack_rows import STACK_COLUMNS, name_text
from watcherlite.db.stacks import STACK_FILTERS, STACK_SORT_KEYS, StackQuery

_COLUMNS: Mapping[str, str] = {
    **{name: f'stacks.{name}' for name in ('name', 'uuid', 'action', 'status')},
    'user': 'stacks.user_name',
}
#: Names of parameters have no digits.
_LETTERS = str.maketrans('0123456789', 'abcdefghij')
_NEVER = "'1970-01-01 00:00:00.000000'"


class StackPage:
    """The statements for a query, and the values of their parameters.

    :ivar template: STACK, and the uuid of the owner. An empty page after a marker has
        one row of NULL; no row at all: there is no such marker
    :ivar count: how many there are, whatever the marker and the limit; its values are
        `filtering`
    """

    def __init__(self, query: StackQuery, dialect: Dialect) -> None:
        check(query)
        self._query = query
        self._dialect = dialect
        self.filtering: dict[str, Any] = {}
        conditions = self._conditions()
        self.count = f'SELECT count(*) FROM stacks WHERE {" AND ".join(conditions)}'
        self.values = dict(self.filtering)
        source, where = 'stacks', 'WHERE'
        if query.after is not None:
            # Of the same tenant: what others have does not exist.
            of = '' if query.tenant is None else ' AND tenant = :tenant'
            marker = f'(SELECT id FROM stacks WHERE uuid = :after{of})'
            source, where = f'{marker} AS marker LEFT JOIN stacks', 'ON'
            self.values['after'] = query.after
            conditions = [*conditions, self._beyond()]
        limit = ''
        if query.limit is not None:
            limit = ' LIMIT :limit'
            self.values['limit'] = query.limit
        order = ', '.join(
            f'{expression} {"DESC" if descending else "ASC"}'
            for expression, descending in _order(query)
        )
        found = f'{where} {" AND ".join(conditions)}'
        owner = '(SELECT o.uuid FROM stacks AS o WHERE o.id = stacks.owner_id)'
        self.template = (
            f'SELECT {STACK_COLUMNS}, {owner} FROM {source} {found} '
            f'ORDER BY {order}{limit}'
        )

    def _conditions(self) -> list[str]:
        query = self._query
        found = []
        if query.tenant is not None:
            found.append('stacks.tenant = :tenant')
            self.filtering['tenant'] = query.tenant
        if not query.deleted:
            shown = 'IN (0, 2)' if query.nested else '= 0'
            found.append(f'stacks.hidden {shown}')
        elif not query.nested:
            found.append('stacks.owner_id IS NULL')
        for name, values in query.filters.items():
            found.append(self._filter(name, sorted(values)))
        if query.tags:
            found.append(self._tagged('AND', 'tag_a', query.tags))
        if query.tags_any:
            found.append(self._tagged('OR', 'tag_b', query.tags_any))
        if query.not_tags:
            found.append(f'NOT {self._tagged("AND", "tag_c", query.not_tags)}')
        if query.not_tags_any:
            found.append(f'NOT {self._tagged("OR", "tag_d", query.not_tags_any)}')
        return found or ['1 = 1']

    def _filter(self, name: str, values: Sequence[str]) -> str:
        if not values:
            return '1 = 0'
        parameter = f'of_{name}'
        self.filtering[parameter] = self._dialect.texts(values)
        if name == 'owner_uuid':
            return (
                'stacks.owner_id IN (SELECT o.id FROM stacks AS o '
                f'WHERE o.uuid IN_TEXTS(:{parameter}))'
            )
        return f'{_COLUMNS[name]} IN_TEXTS(:{parameter})'

    def _tagged(self, operator: str, prefix: str, tags: Sequence[str]) -> str:
        """Return that a stack has all, or any, of some tags."""
        parts = []
        for number, tag in enumerate(tags):
            # As it stands in the JSON text; what databases offer for JSON differs.
            # Only a comma between quotes is found between any two, and no tag has one.
            parameter = f'{prefix}_{str(number).translate(_LETTERS)}'
            if tag == ',':
                parts.append('1 = 0')
                continue
            self.filtering[parameter] = name_text(tag)
            parts.append(f"replace(stacks.tags, :{parameter}, '') <> stacks.tags")
        return f'({f" {operator} ".join(parts)})'

    def _beyond(self) -> str:
        """Return that a stack comes after the marker."""
        alternatives: list[str] = []
        same: list[str] = []
        for expression, descending in _order(self._query):
            value = (
                f'(SELECT {expression.replace("stacks.", "m.")} FROM stacks AS m '
                'WHERE m.uuid = :after)'
            )
            sign = '<' if descending else '>'
            here = [*same, f'{expression} {sign} {value}']
            alternatives.append(f'({" AND ".join(here)})')
            same.append(f'{expression} = {value}')
        return f'({" OR ".join(alternatives)})'


def check(query: StackQuery) -> None:
    """Raise ValueError for what stacks cannot be filtered or sorted by."""
    for name in query.filters:
        if name not in STACK_FILTERS:
            raise ValueError(f'stacks have no filter {name}')
    for key, _ in query.sort:
        if key not in STACK_SORT_KEYS:
            raise ValueError(f'stacks cannot be sorted by {key}')


def _order(query: StackQuery) -> list[tuple[str, bool]]:
    """Return what rows are sorted by, (expression, descending), the id last."""
    found: list[tuple[str, bool]] = []
    keys = dict(query.sort)
    for key, descending in keys.items():
        expression = f'stacks.{key}'
        if key == 'updated_at':
            # Those without come last in both directions.
            found.append((f'CASE WHEN {expression} IS NULL THEN 1 ELSE 0 END', False))
            expression = f'COALESCE({expression}, {_NEVER})'
        found.append((expression, descending))
    if 'id' not in keys:
        found.append(('stacks.id', False))
    return found
