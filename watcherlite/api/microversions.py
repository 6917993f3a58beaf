"""The versions of an API: what each of them brought, and which one a request wants.

A client names one in the header `OpenStack-API-Version: infra-optim 1.5`. Every
answer below /v1 tells the range, and the version that it was made in. An API that has
one version only may leave these headers out.
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
#: Of what was asked for, this much is repeated in a refusal.
_SHOWN = 40


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one API.

    :param service_type: what the header calls it
    :param history: version -> what it brought; ascending, without a gap
    :param in_headers: whether requests name one and answers tell it; without that
        there is one version
    :param is_strict: whether a header that names none is refused; else it stands for
        the first version
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
        """Return the version that a request wants.

        No header, one for another service and one without a number stand for the
        first version, as upstream has it.

        :raises NoSuchVersion: there is no such version
        :raises Invalid: `is_strict`, and it is none
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
                    f"The version '{asked[:_SHOWN]}' of {HEADER} is none: it should be "
                    f'{self.service_type} {text(self.maximum)}, for instance, or '
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
        """Return the headers of every answer, refusals included."""
        if not self.in_headers:
            return {}
        return {
            'Vary': HEADER,
            MINIMUM: text(self.minimum),
            MAXIMUM: text(self.maximum),
        }

    def used(self, version: Version) -> dict[str, str]:
        """Return the headers of an answer that was made in a version."""
        if not self.in_headers:
            return {}
        return {HEADER: f'{self.service_type} {text(version)}'}


def text(version: Version) -> str:
    """Return a version as it is written: '1.5'."""
    return f'{version[0]}.{version[1]}'
