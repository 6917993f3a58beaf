"""The supported versions of templates."""

import dataclasses
from typing import Any

from watcherlite.domain.templates.formats import CFN, FORMATS, HOT, Format


@dataclasses.dataclass(frozen=True, slots=True)
class Version:
    """A version of a template format; versions of HOT sort by date.

    :param date: its name in templates
    :param alias: its other name
    :param key: the key of the version in templates
    """

    date: str
    alias: str | None = None
    format: Format = HOT
    key: str = HOT.version_keys[0]

    @property
    def name(self) -> str:
        """Return its name in the API."""
        return f'{self.key}.{self.date}'

    @property
    def has_conditions(self) -> bool:
        """Return whether its templates may have conditions."""
        if self.format is HOT:
            return self.date >= CONDITIONS
        return self.key == AWS_KEY

    @property
    def conditions_since(self) -> str:
        """Return the first version of its format with conditions, for messages."""
        if self.format is HOT:
            return f'{KEY} {CONDITIONS} and later; this one is {self.date}'
        return f'{AWS_KEY} {CFN_VERSIONS[0].date}'


#: The versions of HOT.
VERSIONS = (
    Version('2013-05-23'),
    Version('2014-10-16'),
    Version('2015-04-30'),
    Version('2015-10-15'),
    Version('2016-04-08'),
    Version('2016-10-14', 'newton'),
    Version('2017-02-24', 'ocata'),
    Version('2017-09-01', 'pike'),
    Version('2018-03-02', 'queens'),
    Version('2018-08-31', 'rocky'),
    Version('2021-04-16', 'wallaby'),
)
HEAT_KEY, AWS_KEY = CFN.version_keys
#: The versions of the format of AWS.
CFN_VERSIONS = (
    Version('2010-09-09', format=CFN, key=AWS_KEY),
    Version('2012-12-12', format=CFN, key=HEAT_KEY),
)
#: The first version of HOT with conditions.
CONDITIONS = '2016-10-14'
#: The first version of HOT in which `if` may lack its alternative.
OPEN_IF = '2021-04-16'
LATEST = VERSIONS[-1]
NEWEST = LATEST.date
#: The key of the version of a template in HOT.
KEY = LATEST.key
#: The keys of the version of a template in all formats.
KEYS = tuple(key for one in FORMATS for key in one.version_keys)


def of_key(key: str) -> tuple[Version, ...]:
    """Return the versions with a key."""
    return tuple(v for v in (*VERSIONS, *CFN_VERSIONS) if v.key == key)


def find(key: str, written: object) -> Version | None:
    """Return a version by its key and its name in templates; None: unknown."""
    for version in of_key(key):
        if isinstance(written, str) and written in (version.date, version.alias):
            return version
    return None


def named(name: str) -> Version | None:
    """Return a version by its name in the API; None: unknown.

    Versions of HOT may lack the key.
    """
    key, dot, written = name.rpartition('.')
    return find(key if dot else KEY, written)


def list_versions() -> list[dict[str, Any]]:
    """Return the body of `GET /template_versions`."""
    return [
        {
            'version': v.name,
            'type': v.format.type,
            'aliases': [f'{v.key}.{v.alias}'] if v.alias else [],
        }
        for v in (*VERSIONS, *CFN_VERSIONS)
    ]
