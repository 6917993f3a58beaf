"""The generated files: the samples and the reference."""

import json

import jsonschema

from tests import base
from tests.notification_samples import documents, generator, reference
from watcherlite.conf import notifications as options
from watcherlite.notifications.rules import subjects
from watcherlite.objects import registry


class TestGenerated(base.TestCase):
    def test_all_files_are_current(self):
        self.assertEqual(
            [],
            [str(path) for path in generator.outdated()],
            'Run `python -m tests.notification_samples.generator`, and review it.',
        )

    def test_every_payload_of_the_rules_is_a_class(self):
        payloads = {
            notification.payload
            for subject in subjects.SUBJECTS.values()
            for notification in subject.notifications.values()
        }

        self.assertEqual(set(), payloads - set(registry.payload_classes()))


class TestPage(base.TestCase):
    def setUp(self):
        super().setUp()
        self.page = generator.PAGE.read_text(encoding='utf-8')

    def test_the_page_names_every_event_type_and_option(self):
        names = [*documents.samples(), *(option.name for option in options.OPTS)]

        self.assertEqual([], [name for name in names if f'``{name}``' not in self.page])

    def test_a_page_without_the_marks_is_refused(self):
        error = self.assertRaises(
            ValueError, reference.fill_page, self.page.replace('.. end samples', '')
        )

        self.assertIn('end samples', str(error))


class TestSamples(base.TestCase):
    def test_one_sample_for_each_notification(self):
        self.assertEqual(
            {
                f'{subject.prefix}.{name}'
                for subject in subjects.SUBJECTS.values()
                for name in subject.notifications
            },
            set(documents.samples()),
        )

    def test_the_payload_of_each_fits_the_json_schema_of_its_class(self):
        for event_type in documents.samples():
            path = generator.SAMPLES / documents.file_name(event_type)
            payload = json.loads(path.read_text(encoding='utf-8'))['payload']
            cls = registry.payload_classes()[payload['watcher_object.name']]
            jsonschema.Draft4Validator(cls.to_json_schema()).validate(payload)

    def test_an_invalid_payload_is_detected(self):
        payload = documents.samples()['action.update']['payload']
        cls = registry.payload_classes()['ActionUpdatePayload']
        validator = jsonschema.Draft4Validator(cls.to_json_schema())

        payload['watcher_object.data']['parents'] = ['not a uuid']

        self.assertEqual(
            ['parents'], [error.path[1] for error in validator.iter_errors(payload)]
        )
