"""The supported versions of templates."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Version:
    """A version of the template language; versions sort by date.

    :param date: its name in templates
    :param alias: its other name
    """

    date: str
    alias: str | None = None


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
#: The first version with conditions.
CONDITIONS = '2016-10-14'
#: The first version in which `if` may lack its alternative.
OPEN_IF = '2021-04-16'
NEWEST = VERSIONS[-1].date
#: The key of the version of a template.
KEY = 'heat_template_version'
#: The keys of unsupported formats.
FOREIGN = ('HeatTemplateFormatVersion', 'AWSTemplateFormatVersion')

_DATES = {v.date: v.date for v in VERSIONS}
_DATES |= {v.alias: v.date for v in VERSIONS if v.alias}


def date_of(written: object) -> str | None:
    """Return the date of a version by its name; None: unknown."""
    return _DATES.get(written) if isinstance(written, str) else None


def list_versions() -> list[dict[str, Any]]:
    """Return the body of `GET /template_versions`."""
    return [
        {
            'version': f'{KEY}.{v.date}',
            'type': 'hot',
            'aliases': [f'{KEY}.{v.alias}'] if v.alias else [],
        }
        for v in VERSIONS
    ]
