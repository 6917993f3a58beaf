"""The resource type OS::Heat::Stack."""

from typing import Any

from tests import base
from tests.unit.plugins.resource_handlers.group_world import Context
from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch
from watcherlite.plugins import properties
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack

TEXT = """\
heat_template_version: 2021-04-16
resources:
  one: {type: OS::Heat::None}
"""
SECRET = '9a0b4c1e-0000-4000-8000-000000000001'
DOCUMENT = {
    'heat_template_version': '2021-04-16',
    'resources': {'one': {'type': 'OS::Heat::None'}},
}


class NestedStackTest(base.TestCase):
    """The template, and the attributes of the stack."""

    def context(self, **desired: Any) -> Context:
        return Context(properties.fit(NestedStack, desired))

    def test_the_stack_gets_its_template_parameters_and_timeout(self) -> None:
        limits = {'parameters': {'a': 1}, 'timeout': '2'}
        for batch, desired in (
            (Batch(DOCUMENT), {'template': TEXT}),
            (Batch(DOCUMENT), {'template': DOCUMENT}),
            (Batch(DOCUMENT, {'a': 1}, timeout=120), {'template': TEXT, **limits}),
        ):
            found = NestedStack().expand(self.context(**desired), [])
            self.assertEqual((batch,), found, desired)

    def test_the_outputs_are_an_attribute(self) -> None:
        self.assertEqual(
            {'stack_name': 'around-group-1', 'outputs': {'a': 1}},
            NestedStack().gather(self.context(template=TEXT), [], {'a': 1}),
        )

    def test_an_invalid_template_is_rejected_with_its_line(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            NestedStack().validate,
            {'template': 'a: 1\nb: [\n'},
        )
        self.assertTrue(error.problems[0].startswith('properties.template:'))
        # The template is not known yet.
        self.assertIsNone(NestedStack().validate({'template': None}))


class Clouds:
    """The clouds, and the connection to them, of a user with one region."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.asked: list[tuple[str | None, ...]] = []
        self.session = self.auth = self.service_catalog = self
        self.catalog = [
            {'endpoints': [{'region_id': 'RegionOne'}, {'region': 'RegionOne'}]},
            {'endpoints': []},
        ]

    def connection_for(self, credential: str | None, region: str | None) -> Any:
        self.asked.append((credential, region))
        return self

    def remote_connection(
        self, credential: str | None, secret: str, region: str | None
    ) -> Any:
        self.asked.append((credential, secret, region))
        return self

    def get_access(self, session: Any) -> Any:
        if self.failure is not None:
            raise self.failure
        return self


class RegionTest(base.TestCase):
    """The region of the resources of the stack."""

    def expand(
        self, region: str | None, clouds: Clouds, secret: str | None = None, **context
    ) -> Any:
        handler = NestedStack()
        handler.clouds = clouds
        place = {'region_name': region, 'credential_secret_id': secret}
        desired = {
            'template': TEXT,
            'context': {name: value for name, value in place.items() if value},
        }
        fitted = properties.fit(NestedStack, desired)
        return handler.expand(Context(fitted, **context), [])

    def test_the_region_is_that_of_the_new_stack(self) -> None:
        clouds = Clouds()

        found = self.expand('RegionOne', clouds)

        self.assertEqual((Batch(DOCUMENT, region='RegionOne'),), found)
        self.assertEqual([('ann', 'RegionOne')], clouds.asked)

    def test_an_unknown_region_is_rejected_with_those_that_exist(self) -> None:
        error = self.assertRaises(exceptions.Invalid, self.expand, 'two', Clouds())

        self.assertEqual(
            'Cannot establish connection to Heat endpoint at region "two" due to "The '
            'service catalog has no such region; it has RegionOne"',
            str(error),
        )

    def test_a_validation_and_an_unavailable_keystone_do_not_check_it(self) -> None:
        clouds = Clouds(exceptions.ServiceUnavailable('keystone'))

        for context in ({'uuid': ''}, {}):
            (batch,) = self.expand('two', clouds, **context)
            self.assertEqual('two', batch.region)
        self.assertEqual(1, len(clouds.asked))

    def test_another_region_or_cloud_replaces_the_stack(self) -> None:
        for before, after in (
            ({'region_name': 'one'}, {'region_name': 'two'}),
            ({'region_name': 'one'}, {'credential_secret_id': SECRET}),
        ):
            fitted = [
                properties.fit(NestedStack, {'template': TEXT, 'context': place})
                for place in (before, after)
            ]

            self.assertEqual('replace', NestedStack().decide(*fitted, False))

    def test_the_secret_is_that_of_the_new_stack_in_another_cloud(self) -> None:
        for region in (None, 'RegionOne'):
            clouds = Clouds()

            (batch,) = self.expand(region, clouds, SECRET)

            self.assertEqual(Batch(DOCUMENT, region=region, cloud_secret=SECRET), batch)
            self.assertEqual([('ann', SECRET, region)], clouds.asked)

    def test_a_region_within_another_cloud_is_one_of_that_cloud(self) -> None:
        clouds = Clouds()

        (batch,) = self.expand('RegionOne', clouds, cloud_secret=SECRET)

        self.assertEqual([('ann', SECRET, 'RegionOne')], clouds.asked)
        self.assertEqual(('RegionOne', None), (batch.region, batch.cloud_secret))

    def test_unusable_secrets_are_rejected(self) -> None:
        for secret, context in (('../x', {}), (SECRET, {'cloud_secret': SECRET})):
            self.assertRaises(
                exceptions.Invalid, self.expand, None, Clouds(), secret, **context
            )
        self.assertRaises(exceptions.Invalid, self.expand, None, Clouds())
