"""The versions of an API: what each of them brought, and which one a request wants.

A client names one in the header `OpenStack-API-Version: infra-optim 1.5`. Every
answer below /v1 tells the range, and the version that it was made in.
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

_NUMBERS = re.compile(r'-?[0-9]{1,9}(\.-?[0-9]{1,9})*')


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one API.

    :param service_type: what the header calls it
    :param history: version -> what it brought; ascending, without a gap
    """

    service_type: str
    history: Mapping[Version, str]

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

        :raises NotAcceptable: there is no such version
        """
        if not header:
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
            return self.minimum
        numbers = [int(number) for number in asked.split('.')]
        if len(numbers) == 1:
            numbers.append(self.minimum[1])
        if tuple(numbers) not in self.history:
            raise exceptions.NotAcceptable(
                f'Version {asked} was requested and there is no such version; the '
                f'supported version range is: [{text(self.minimum)}, '
                f'{text(self.maximum)}].'
            )
        return numbers[0], numbers[1]

    def headers(self) -> dict[str, str]:
        """Return the headers of every answer, refusals included."""
        return {
            'Vary': HEADER,
            MINIMUM: text(self.minimum),
            MAXIMUM: text(self.maximum),
        }

    def used(self, version: Version) -> dict[str, str]:
        """Return the headers of an answer that was made in a version."""
        return {HEADER: f'{self.service_type} {text(version)}'}


def text(version: Version) -> str:
    """Return a version as it is written: '1.5'."""
    return f'{version[0]}.{version[1]}'


INFRA_OPTIM = Versions(
    'infra-optim',
    {
        (1, 0): 'The beginning: goals, strategies, audit templates, audits, action '
        'plans, actions, scoring engines, services.',
        (1, 1): 'Audits have start_time and end_time.',
        (1, 2): 'Audits have force: they run even while an action plan is executed.',
        (1, 3): 'The data model: GET /v1/data_model.',
        (1, 4): 'Webhooks: POST /v1/webhooks/{audit} triggers an EVENT audit.',
        (1, 5): 'PATCH /v1/actions/{uuid} skips an action; actions, action plans and '
        'audits show status_message.',
        (1, 6): 'The data model shows server_pinned_az and server_flavor_extra_specs.',
        (1, 7): 'Audit templates have default_parameters.',
    },
)
