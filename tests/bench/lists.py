"""Which pages of collections are asked for."""

import dataclasses
from collections.abc import Iterator, Mapping
from urllib import parse

from tests.bench import filling
from watcherlite.db.query import FILTERS, SORT_KEYS

AUDITS, PLANS, ACTIONS = 'audits', 'action_plans', 'actions'
NOUNS = (AUDITS, PLANS, ACTIONS)
LIMIT = 100

_NAMES = {filling.USUAL_NAME: filling.USUAL_NAME, filling.RARE_NAME: filling.RARE_NAME}
_AUDITS = {
    'rare': filling.uuid_of(AUDITS, filling.SMALL_OWNER),
    'with many plans': filling.uuid_of(AUDITS, filling.LARGE_AUDIT),
}
_ENDED = {state: state for state in ('SUCCEEDED', 'FAILED')}
_STATES = {**_ENDED, 'DELETED': 'DELETED'}
#: (noun, filter) -> what the tables call a value -> the value
VALUES: Mapping[tuple[str, str], Mapping[str, str]] = {
    (AUDITS, 'goal'): _NAMES,
    (AUDITS, 'strategy'): _NAMES,
    (AUDITS, 'state'): _STATES,
    (PLANS, 'audit_uuid'): _AUDITS,
    (PLANS, 'strategy'): _NAMES,
    (PLANS, 'state'): _STATES,
    (ACTIONS, 'action_plan_uuid'): {
        'rare': filling.uuid_of(PLANS, filling.SMALL_OWNER),
        'large': filling.uuid_of(PLANS, filling.LARGE_PLAN),
    },
    (ACTIONS, 'audit_uuid'): {
        **_AUDITS,
        'with one large plan': filling.uuid_of(AUDITS, filling.LARGE_PLAN),
    },
    # Nobody can ask for DELETED here.
    (ACTIONS, 'state'): _ENDED,
    (ACTIONS, 'action_type'): {
        'usual': filling.USUAL_TYPE,
        'rare': filling.RARE_TYPE,
    },
    (ACTIONS, 'target'): _NAMES,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """One request for a list of 100.

    :param what: what the tables call it, besides the noun
    :param arguments: besides the limit and the marker
    :param deleted: softly deleted rows too
    :param further: whether it begins in the middle, after a marker
    """

    noun: str
    what: str = ''
    arguments: tuple[tuple[str, str], ...] = ()
    detail: bool = False
    deleted: bool = False
    further: bool = False

    @property
    def name(self) -> str:
        """Return what the tables call it."""
        words = [f'{self.noun}{"/detail" * self.detail}', self.what]
        words += ['with deleted'] * self.deleted + ['after a marker'] * self.further
        return ' '.join(word for word in words if word)

    def address(self, count: int) -> tuple[str, str]:
        """Return the path and the query of it in tables of so many rows."""
        arguments = [*self.arguments, ('limit', str(LIMIT))]
        if self.further:
            middle = filling.middle(count)
            if ('sort_key', 'uuid') in self.arguments:
                middle = filling.middle_of_uuids(self.noun, count)
            arguments.append(('marker', filling.uuid_of(self.noun, middle)))
        path = f'/v1/{self.noun}{"/detail" * self.detail}'
        return path, parse.urlencode(arguments)


def pages() -> list[Page]:
    """Return all of them: plain, with deleted rows, each filter, each sort key."""
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
