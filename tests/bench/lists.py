"""The list requests of the API benchmark."""

import dataclasses
from collections.abc import Iterator, Mapping
from urllib import parse

from tests.bench import sample_rows
from watcherlite.db.query import FILTERS, SORT_KEYS

AUDITS, PLANS, ACTIONS = 'audits', 'action_plans', 'actions'
NOUNS = (AUDITS, PLANS, ACTIONS)
LIMIT = 100

_NAMES = {
    sample_rows.USUAL_NAME: sample_rows.USUAL_NAME,
    sample_rows.RARE_NAME: sample_rows.RARE_NAME,
}
_AUDITS = {
    'rare': sample_rows.uuid_of(AUDITS, sample_rows.SMALL_OWNER),
    'with many plans': sample_rows.uuid_of(AUDITS, sample_rows.LARGE_AUDIT),
}
_ENDED = {state: state for state in ('SUCCEEDED', 'FAILED')}
_STATES = {**_ENDED, 'DELETED': 'DELETED'}
#: (noun, filter) -> label in tables -> value
VALUES: Mapping[tuple[str, str], Mapping[str, str]] = {
    (AUDITS, 'goal'): _NAMES,
    (AUDITS, 'strategy'): _NAMES,
    (AUDITS, 'state'): _STATES,
    (PLANS, 'audit_uuid'): _AUDITS,
    (PLANS, 'strategy'): _NAMES,
    (PLANS, 'state'): _STATES,
    (ACTIONS, 'action_plan_uuid'): {
        'rare': sample_rows.uuid_of(PLANS, sample_rows.SMALL_OWNER),
        'large': sample_rows.uuid_of(PLANS, sample_rows.LARGE_PLAN),
    },
    (ACTIONS, 'audit_uuid'): {
        **_AUDITS,
        'with one large plan': sample_rows.uuid_of(AUDITS, sample_rows.LARGE_PLAN),
    },
    # This filter does not accept DELETED.
    (ACTIONS, 'state'): _ENDED,
    (ACTIONS, 'action_type'): {
        'usual': sample_rows.USUAL_TYPE,
        'rare': sample_rows.RARE_TYPE,
    },
    (ACTIONS, 'target'): _NAMES,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """A request for a page of 100 rows.

    :param what: label in tables, after the noun
    :param arguments: query parameters besides limit and marker
    :param deleted: whether soft-deleted rows are included
    :param further: whether the page starts after a marker in the middle
    """

    noun: str
    what: str = ''
    arguments: tuple[tuple[str, str], ...] = ()
    detail: bool = False
    deleted: bool = False
    further: bool = False

    @property
    def name(self) -> str:
        """Return the label in tables."""
        words = [f'{self.noun}{"/detail" * self.detail}', self.what]
        words += ['with deleted'] * self.deleted + ['after a marker'] * self.further
        return ' '.join(word for word in words if word)

    def address(self, count: int) -> tuple[str, str]:
        """Return the path and the query for tables of `count` rows."""
        arguments = [*self.arguments, ('limit', str(LIMIT))]
        if self.further:
            middle = sample_rows.middle(count)
            if ('sort_key', 'uuid') in self.arguments:
                middle = sample_rows.middle_of_uuids(self.noun, count)
            arguments.append(('marker', sample_rows.uuid_of(self.noun, middle)))
        path = f'/v1/{self.noun}{"/detail" * self.detail}'
        return path, parse.urlencode(arguments)


def pages() -> list[Page]:
    """Return all pages: plain, with deleted rows, by each filter and sort key."""
    return [
        page
        for noun in NOUNS
        for first in _first(noun)
        for page in (first, dataclasses.replace(first, further=True))
    ]


def _first(noun: str) -> Iterator[Page]:
    yield Page(noun)
    yield Page(noun, detail=True)
    yield Page(noun, deleted=True)
    for name in FILTERS[noun]:
        for word, value in VALUES[noun, name].items():
            yield Page(noun, f'{name}={word}', ((name, value),))
    for key in SORT_KEYS[noun]:
        for direction in ('asc', 'desc'):
            if (key, direction) != ('id', 'asc'):
                arguments = (('sort_key', key), ('sort_dir', direction))
                what = f'by {key} {direction}'
                yield Page(noun, what, arguments)
                yield Page(noun, what, arguments, deleted=True)
