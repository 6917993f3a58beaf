"""The texts of rejected requests, which clients compare."""

from tests import base
from watcherlite import exceptions
from watcherlite.api.arguments import PATCH, Checker
from watcherlite.api.clustering.schemas import actions, clusters, nodes, specs
from watcherlite.api.clustering.texts import SenlinTexts
from watcherlite.api.operation import at

LATEST = (1, 15)


class TextCase(base.TestCase):
    def said(self, call, given):
        return str(self.assertRaises(exceptions.Invalid, call, given))


class TestArguments(TextCase):
    """Of an address."""

    def test_errors_of_arguments(self):
        wrong = {
            'Invalid parameter bogus': {'bogus': '1'},
            "The value for limit must be an integer: 'not-int'.": {'limit': 'not-int'},
            "Value must be >= 0 for field 'limit'.": {'limit': '-1'},
            "Invalid value 'x' specified for 'global_project'": {'global_project': 'x'},
            "The value for marker is not a valid UUID: 'x'.": {'marker': 'x'},
            'Field value FOO is invalid': {'status': ['ACTIVE', 'FOO']},
        }
        query = Checker(at(nodes.INDEX, LATEST), texts=SenlinTexts()).query

        self.assertEqual(
            list(wrong), [self.said(query, given) for given in wrong.values()]
        )

    def test_those_of_clusters_are_quoted(self):
        query = Checker(at(clusters.INDEX, LATEST), texts=SenlinTexts()).query

        self.assertEqual("Invalid parameter 'bogus'", self.said(query, {'bogus': '1'}))

    def test_a_filter_that_the_version_does_not_have_is_none(self):
        query = Checker(at(actions.INDEX, (1, 13)), texts=SenlinTexts()).query

        self.assertEqual(
            'Invalid parameter cluster_id', self.said(query, {'cluster_id': 'x'})
        )


class TestBodies(TextCase):
    """Of a request."""

    def of(self, schemas, given, *name, version=LATEST):
        checker = Checker(at(schemas, version), *name, texts=SenlinTexts())
        return self.said(checker.body, given)

    def test_errors_of_a_creation(self):
        wrong = {
            "Request body missing 'cluster' key.": {},
            'The data provided is not a map': {'cluster': 'x'},
            "'name' is a required property": {'cluster': {'profile_id': 'p'}},
            "Additional properties are not allowed ('foo' was unexpected)": {
                'cluster': {'name': 'c', 'profile_id': 'p', 'foo': 1}
            },
            "Additional properties are not allowed ('bar', 'foo' were unexpected)": {
                'cluster': {'name': 'c', 'profile_id': 'p', 'bar': 1, 'foo': 1}
            },
        }

        self.assertEqual(
            list(wrong), [self.of(clusters.NEW, given) for given in wrong.values()]
        )

    def test_one_that_changes_misses_its_key_otherwise(self):
        self.assertEqual(
            "Malformed request data, missing 'profile' key in request body.",
            self.of(specs.PROFILE.changed, {}, PATCH),
        )

    def test_errors_of_a_cluster_action(self):
        wrong = {
            'No action specified': {},
            'Multiple actions specified': {'check': {}, 'recover': {}},
            "Unrecognized action 'foo' specified": {'foo': {}},
            'The data provided is not a map': {'policy_attach': 'x'},
            "'policy_id' is a required property": {'policy_attach': {}},
            'Field value FOO is invalid': {'resize': {'adjustment_type': 'FOO'}},
        }

        self.assertEqual(
            list(wrong), [self.of(clusters.ACTIONS, given) for given in wrong.values()]
        )

    def test_errors_of_a_node_action(self):
        wrong = {
            'No action specified.': {},
            'Multiple actions specified.': {'check': {}, 'recover': {}},
            "Unrecognized action 'foo' specified": {'foo': {}},
        }

        self.assertEqual(
            list(wrong), [self.of(nodes.ACTIONS, given) for given in wrong.values()]
        )

    def test_errors_of_an_operation(self):
        for schema, dot in ((clusters.OPERATION, ''), (nodes.OPERATION, '.')):
            wrong = {
                f'No operation specified{dot}': {},
                f'Multiple operations specified{dot}': {'reboot': {}, 'rebuild': {}},
                'The data provided is not a map': {'reboot': 5},
            }

            self.assertEqual(
                list(wrong), [self.of(schema, given) for given in wrong.values()]
            )

    def test_errors_of_numbers_and_flags(self):
        wrong = {
            "The value for count must be an integer: 'many'.": {'count': 'many'},
            "The value for count must be an integer: '1.5'.": {'count': 1.5},
            "The value for count must be an integer: 'True'.": {'count': True},
            "The value for count must be an integer: 'a list'.": {'count': ['hush']},
        }

        self.assertEqual(
            list(wrong),
            [self.of(clusters.ACTIONS, {'scale_in': one}) for one in wrong.values()],
        )
        self.assertEqual(
            "Invalid value 'perhaps' specified for 'check_capacity'",
            self.of(clusters.ACTIONS, {'recover': {'check_capacity': 'perhaps'}}),
        )
        self.assertEqual(
            "The value for max_size must be an integer: 'many'.",
            self.of(
                clusters.NEW,
                {'cluster': {'name': 'c', 'profile_id': 'p', 'max_size': 'many'}},
            ),
        )

    def test_several_unknown_actions_are_several(self):
        self.assertEqual(
            'Multiple actions specified', self.of(clusters.ACTIONS, {'a': 1, 'b': 2})
        )

    def test_an_action_that_the_version_does_not_have_is_none(self):
        self.assertEqual(
            "Unrecognized action 'replace_nodes' specified",
            self.of(clusters.ACTIONS, {'replace_nodes': {'nodes': {}}}, version=(1, 2)),
        )

    def test_a_signal_that_the_version_does_not_have_is_none(self):
        self.assertEqual(
            'Field value SUSPENDED is invalid',
            self.of(
                *(actions.SIGNAL, {'action': {'status': 'SUSPENDED'}}, PATCH),
                version=(1, 14),
            ),
        )

    def test_nested_values_are_not_repeated(self):
        wrong = {'replace_nodes': {'nodes': {'a': {'password': 'hush'}}}}

        self.assertNotIn('hush', self.of(clusters.ACTIONS, wrong))

    def test_a_request_without_a_body(self):
        for schemas, text in (
            (clusters.ACTIONS, 'No action specified'),
            (nodes.ACTIONS, 'No action specified.'),
            (clusters.NEW, 'The request requires a body in JSON.'),
        ):
            checker = Checker(at(schemas, LATEST), texts=SenlinTexts())

            self.assertEqual(text, str(checker.no_body()))

    def test_numbers_and_flags_may_be_sent_as_text(self):
        right = {
            'resize': {
                'adjustment_type': 'CHANGE_IN_CAPACITY',
                'number': '-1',
                'min_step': '1',
                'strict': 'True',
                'max_size': None,
            }
        }
        checker = Checker(at(clusters.ACTIONS, LATEST), texts=SenlinTexts())

        self.assertEqual(right, checker.body(right))
