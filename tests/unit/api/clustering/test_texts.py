"""The texts of rejected requests, which clients compare."""

from tests import base
from watcherlite import exceptions
from watcherlite.api.arguments import PATCH, Checker
from watcherlite.api.clustering.schemas import actions, clusters, nodes, specs
from watcherlite.api.clustering.texts import SenlinTexts
from watcherlite.api.operation import at

LATEST = (1, 15)


class TextCase(base.TestCase):
    def refusal(self, call, given):
        return str(self.assertRaises(exceptions.Invalid, call, given))


class TestArguments(TextCase):
    """The arguments of a URL."""

    def test_invalid_arguments_have_error_messages_of_senlin(self):
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
            list(wrong), [self.refusal(query, given) for given in wrong.values()]
        )

    def test_unknown_argument_error_depends_on_collection_and_version(self):
        for schemas, version, name, text in (
            (clusters.INDEX, LATEST, 'bogus', "Invalid parameter 'bogus'"),
            (actions.INDEX, (1, 13), 'cluster_id', 'Invalid parameter cluster_id'),
        ):
            query = Checker(at(schemas, version), texts=SenlinTexts()).query
            self.assertEqual(text, self.refusal(query, {name: 'x'}))


class TestBodies(TextCase):
    """The body of a request."""

    def of(self, schemas, given, *name, version=LATEST):
        checker = Checker(at(schemas, version), *name, texts=SenlinTexts())
        return self.refusal(checker.body, given)

    def test_invalid_bodies_have_error_messages_of_senlin(self):
        unmapped = 'The data provided is not a map'
        both = {'check': {}, 'recover': {}}
        new = {'name': 'c', 'profile_id': 'p'}
        more = 'Additional properties are not allowed'
        whole = 'The value for count must be an integer:'
        for schemas, text, given in (
            (clusters.NEW, "Request body missing 'cluster' key.", {}),
            (clusters.NEW, unmapped, {'cluster': 'x'}),
            (
                clusters.NEW,
                "'name' is a required property",
                {'cluster': {'profile_id': 'p'}},
            ),
            (
                clusters.NEW,
                f"{more} ('foo' was unexpected)",
                {'cluster': {**new, 'foo': 1}},
            ),
            (
                clusters.NEW,
                f"{more} ('bar', 'foo' were unexpected)",
                {'cluster': {**new, 'bar': 1, 'foo': 1}},
            ),
            (
                clusters.NEW,
                "The value for max_size must be an integer: 'many'.",
                {'cluster': {**new, 'max_size': 'many'}},
            ),
            (clusters.ACTIONS, 'No action specified', {}),
            (clusters.ACTIONS, 'Multiple actions specified', both),
            (clusters.ACTIONS, 'Multiple actions specified', {'a': 1, 'b': 2}),
            (clusters.ACTIONS, "Unrecognized action 'foo' specified", {'foo': {}}),
            (clusters.ACTIONS, unmapped, {'policy_attach': 'x'}),
            (
                clusters.ACTIONS,
                "'policy_id' is a required property",
                {'policy_attach': {}},
            ),
            (
                clusters.ACTIONS,
                'Field value FOO is invalid',
                {'resize': {'adjustment_type': 'FOO'}},
            ),
            (
                clusters.ACTIONS,
                "Invalid value 'perhaps' specified for 'check_capacity'",
                {'recover': {'check_capacity': 'perhaps'}},
            ),
            *(
                (clusters.ACTIONS, f'{whole} {text}.', {'scale_in': {'count': count}})
                for text, count in (
                    ("'many'", 'many'),
                    ("'1.5'", 1.5),
                    ("'True'", True),
                    ("'a list'", ['hush']),
                )
            ),
            (nodes.ACTIONS, 'No action specified.', {}),
            (nodes.ACTIONS, 'Multiple actions specified.', both),
            (nodes.ACTIONS, "Unrecognized action 'foo' specified", {'foo': {}}),
            (clusters.OPERATION, 'No operation specified', {}),
            (clusters.OPERATION, 'Multiple operations specified', both),
            (clusters.OPERATION, unmapped, {'reboot': 5}),
            (nodes.OPERATION, 'No operation specified.', {}),
            (nodes.OPERATION, 'Multiple operations specified.', both),
            (nodes.OPERATION, unmapped, {'reboot': 5}),
        ):
            with self.subTest(text=text, given=given):
                self.assertEqual(text, self.of(schemas, given))

    def test_errors_of_patches_and_earlier_versions_match_senlin(self):
        for schemas, minor, text, given, *name in (
            (
                *(specs.PROFILE.changed, 15),
                "Malformed request data, missing 'profile' key in request body.",
                *({}, PATCH),
            ),
            (
                *(clusters.ACTIONS, 2),
                "Unrecognized action 'replace_nodes' specified",
                {'replace_nodes': {'nodes': {}}},
            ),
            (
                *(actions.SIGNAL, 14, 'Field value SUSPENDED is invalid'),
                *({'action': {'status': 'SUSPENDED'}}, PATCH),
            ),
        ):
            self.assertEqual(text, self.of(schemas, given, *name, version=(1, minor)))

    def test_error_omits_nested_values(self):
        wrong = {'replace_nodes': {'nodes': {'a': {'password': 'hush'}}}}

        self.assertNotIn('hush', self.of(clusters.ACTIONS, wrong))

    def test_missing_body_has_error_message_of_its_operation(self):
        for schemas, text in (
            (clusters.ACTIONS, 'No action specified'),
            (nodes.ACTIONS, 'No action specified.'),
            (clusters.NEW, 'The request requires a body in JSON.'),
        ):
            checker = Checker(at(schemas, LATEST), texts=SenlinTexts())

            self.assertEqual(text, str(checker.no_body()))

    def test_numbers_and_booleans_may_be_sent_as_text(self):
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
