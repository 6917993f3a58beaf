"""Microversions: the history of an API, and their negotiation.

Clients request one by the header `OpenStack-API-Version: infra-optim 1.5`. All
responses below /v1 contain the range and the used version. An API with a single version
may omit these headers.
"""

import dataclasses
import re
from collections.abc import Mapping

import microversion_parse

from watcherlite import exceptions
from watcherlite.api.operation import Version

HEADER = 'OpenStack-API-Version'
MINIMUM = 'OpenStack-API-Minimum-Version'
MAXIMUM = 'OpenStack-API-Maximum-Version'
LATEST = 'latest'

_NUMBERS = re.compile(r'-?[0-9]{1,1000}(\.-?[0-9]{1,1000})*')
#: Maximum length of a version that an error repeats.
_SHOWN = 40


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one API.

    :param service_type: the service type in the header
    :param history: version -> description; ascending, without gaps
    :param in_headers: whether requests and responses have version headers; if not,
        there is one version
    :param is_strict: whether an invalid header is rejected instead of ignored
    """

    service_type: str
    history: Mapping[Version, str]
    in_headers: bool = True
    is_strict: bool = False

    @property
    def minimum(self) -> Version:
        """Return the first version."""
        return min(self.history)

    @property
    def maximum(self) -> Version:
        """Return the last version."""
        return max(self.history)

    def negotiate(self, header: str | None) -> Version:
        """Return the version of a request.

        Without a header, or with one of another service or without a number, the first
        version is used, as in upstream.

        :raises NoSuchVersion: the version is not supported
        :raises Invalid: `is_strict`, and the header is invalid
        """
        if not header or not self.in_headers:
            return self.minimum
        try:
            asked = microversion_parse.get_version(
                {HEADER: header}, service_type=self.service_type
            )
        except ValueError:
            asked = None
        if asked is None:
            return self.minimum
        if asked.lower() == LATEST:
            return self.maximum
        if not _NUMBERS.fullmatch(asked):
            if self.is_strict:
                raise exceptions.Invalid(
                    f"The version '{asked[:_SHOWN]}' of {HEADER} is invalid; use, for "
                    f'instance, {self.service_type} {text(self.maximum)} or '
                    f'{self.service_type} {LATEST}.'
                )
            return self.minimum
        numbers = [int(number) for number in asked.split('.')]
        if len(numbers) == 1:
            numbers.append(self.minimum[1])
        if tuple(numbers) not in self.history:
            raise exceptions.NoSuchVersion(
                f'Version {asked[:_SHOWN]} was requested and there is no such version; '
                f'the supported version range is: [{text(self.minimum)}, '
                f'{text(self.maximum)}].'
            )
        return numbers[0], numbers[1]

    def headers(self) -> dict[str, str]:
        """Return the headers of every response, errors included."""
        if not self.in_headers:
            return {}
        return {
            'Vary': HEADER,
            MINIMUM: text(self.minimum),
            MAXIMUM: text(self.maximum),
        }

    def response_headers(self, version: Version) -> dict[str, str]:
        """Return the headers of a response of a version."""
        if not self.in_headers:
            return {}
        return {HEADER: f'{self.service_type} {text(version)}'}


def text(version: Version) -> str:
    """Return a version as text: '1.5'."""
    return f'{version[0]}.{version[1]}'
