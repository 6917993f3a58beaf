from tests import base
from watcherlite import exceptions
from watcherlite.api.clustering.versions import CLUSTERING
from watcherlite.api.infra_optim.versions import INFRA_OPTIM


class TestNegotiation(base.TestCase):
    """The versions of version headers, as measured with Watcher."""

    def test_supported_version_is_returned(self):
        expected = {
            'infra-optim 1.0': (1, 0),
            'infra-optim 1.5': (1, 5),
            'infra-optim 1.7': (1, 7),
            'infra-optim 1': (1, 0),
            'infra-optim latest': (1, 8),
            'infra-optim LATEST': (1, 8),
            'compute 2.1, infra-optim 1.4': (1, 4),
        }

        self.assertEqual(
            expected, {header: INFRA_OPTIM.negotiate(header) for header in expected}
        )

    def test_invalid_header_selects_first_version(self):
        for header in (
            None,
            '',
            'compute 2.1',
            'infra-optim',
            'infra-optim abc',
            'infra-optim 1.5x',
            'infra-optim 1_5',
            'infra-optim 1.',
            '1.5',
        ):
            with self.subTest(header=header):
                self.assertEqual((1, 0), INFRA_OPTIM.negotiate(header))

    def test_invalid_header_is_rejected_by_strict_apis(self):
        for text in ('abc', '1.5x', '1_5', '1.'):
            with self.subTest(text=text):
                error = self.assertRaises(
                    exceptions.Invalid, CLUSTERING.negotiate, f'clustering {text}'
                )

                self.assertEqual(
                    f"The version '{text}' of OpenStack-API-Version is invalid; use, "
                    'for instance, clustering 1.15 or clustering latest.',
                    str(error),
                )
        self.assertEqual((1, 0), CLUSTERING.negotiate('compute abc'))

    def test_unsupported_version_is_rejected_with_supported_range(self):
        def refusal(version):
            header = f'infra-optim {version}'
            return str(
                self.assertRaises(
                    exceptions.NotAcceptable, INFRA_OPTIM.negotiate, header
                )
            )

        for text in ('1.9', '2.0', '0.9', '1.-1', '1.5.0', '2', '1.99999999'):
            with self.subTest(text=text):
                self.assertEqual(
                    f'Version {text} was requested and there is no such version; the '
                    'supported version range is: [1.0, 1.8].',
                    refusal(text),
                )
        self.assertLess(len(refusal(f'1.{"9" * 900}')), 200)


class TestHistory(base.TestCase):
    """The list of versions."""

    def test_versions_are_consecutive_and_described(self):
        versions = list(INFRA_OPTIM.history)

        self.assertEqual([(1, minor) for minor in range(len(versions))], versions)
        self.assertNotIn('', INFRA_OPTIM.history.values())
        self.assertEqual(((1, 0), (1, 8)), (INFRA_OPTIM.minimum, INFRA_OPTIM.maximum))
