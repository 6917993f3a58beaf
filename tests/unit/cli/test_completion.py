"""Candidates for the word that a shell completes."""

import json
import shlex

from tests import base
from watcherlite.cli import completion, main
from watcherlite.cli.completion import Candidate

STACKS = [{'Stack Name': 'shop', 'Stack Status': 'CREATE_COMPLETE'}]


class CompletionTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.application = main.Application()
        self.listed = []

    def parser_of(self, name):
        if not name:
            return self.application.parser
        factory = self.application.command_manager.find_command(name.split())[0]
        return factory(self.application, None).get_parser(name)

    def complete(self, line, printed=''):
        """Return the candidates at the end of a line."""

        def run(words):
            self.listed.append(shlex.join(words))
            return printed

        words = shlex.split(line)
        if line.endswith(' '):
            words.append('')
        return completion.complete(words, self.parser_of, run)

    def candidate_words(self, line):
        return [found.word for found in self.complete(line)]

    def test_commands_are_completed_word_by_word(self):
        self.assertEqual(['action', 'actionplan'], self.candidate_words('act'))
        self.assertEqual(
            [
                Candidate('list', 'List the resources of a stack.'),
                Candidate(
                    'mark-unhealthy',
                    'Mark a resource as unhealthy; the next update replaces it.',
                ),
                Candidate('metadata', 'Show the metadata of a resource.'),
                Candidate('show', 'Show a resource.'),
                Candidate('signal', 'Send a signal to a resource.'),
                Candidate('type', ''),
            ],
            self.complete('stack resource '),
        )

    def test_options_and_choices_are_completed(self):
        for line, words in (
            ('--ver', ['--version']),
            ('--debug aud', ['audit', 'audittemplate']),
            ('--config-file ', []),
            ('action update --st', ['--state']),
            ('run --output ', ['text', 'json']),
            ('run --output = j', ['json']),
            ('audit update first a', ['add']),
        ):
            self.assertEqual(words, self.candidate_words(line))

    def test_names_are_requested_from_the_api_of_the_command_line(self):
        line = '--endpoint http://127.0.0.1:1 stack lock --wait s'

        found = self.complete(line, json.dumps(STACKS))

        self.assertEqual([Candidate('shop', 'CREATE_COMPLETE')], found)
        self.assertEqual(
            [
                '--endpoint http://127.0.0.1:1 --timeout 2 stack list -f json '
                "-c 'Stack Name' -c 'Stack Status' --limit 200"
            ],
            self.listed,
        )
        rows = [{'Resource Name': 'web', 'Resource Status': 'CREATE_COMPLETE'}]
        found = self.complete(
            'stack resource show --with-attr x shop w', json.dumps(rows)
        )
        self.assertEqual([Candidate('web', 'CREATE_COMPLETE')], found)
        self.assertTrue(self.listed[1].endswith(" -c 'Resource Status' shop"))

    def test_new_names_and_excess_arguments_have_no_candidates(self):
        for line in ('stack create ', 'cluster create ', 'stack show shop '):
            self.assertEqual([], self.complete(line))
        self.assertEqual([], self.listed)
        # An unavailable API yields no candidates.
        self.assertEqual([], self.complete('cluster show '))
        self.assertEqual(1, len(self.listed))

    def test_every_collection_is_read_by_a_command_with_its_columns(self):
        for found in (
            *completion.FIRST_ARGUMENTS.values(),
            *completion.VALUES.values(),
        ):
            factory = self.application.command_manager.find_command(
                found.command.split()
            )[0]
            columns = getattr(factory, 'listed', None) or factory.columns
            labels = {column.label for column in columns}

            desired = {found.word, found.description, found.version} - {''}
            self.assertEqual(set(), desired - labels, found.command)
            parser = self.parser_of(found.command)
            self.assertEqual(
                found.paged, '--limit' in parser._option_string_actions, found.command
            )
