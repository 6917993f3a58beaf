"""Regular expressions of users: their features and their cost."""

from tests import base
from watcherlite.domain import patterns

#: Each keeps `re` busy for longer than any timeout.
HOSTILE = [
    ('(a+)+b', 'a' * 5000),
    ('(a|aa)+b', 'a' * 5000),
    ('(.*a){20}b', 'a' * 5000),
    (r'(\w+\s?)*!', 'word ' * 1000),
    ('(x+x+)+y', 'x' * 5000),
]


class PatternTest(base.TestCase):
    def refusal(self, written):
        return str(
            self.assertRaises(patterns.InvalidPattern, patterns.compiled, written)
        )

    def test_a_pattern_matches_the_complete_text_or_its_beginning(self):
        pattern = patterns.compiled('[a-z]+(-[0-9]{2,3})?')

        matches = [
            (pattern.matches(text), pattern.matches(text, whole=False))
            for text in ('web', 'web-12', 'web-1', 'Web', 'web\n', '')
        ]

        self.assertEqual(
            [
                *((True, True), (True, True), (False, True)),
                *((False, False), (False, True), (False, False)),
            ],
            matches,
        )

    def test_letters_are_of_any_language(self):
        self.assertTrue(patterns.compiled(r'\pL+.').matches('größe€'))

    def test_catastrophic_patterns_match_in_linear_time(self):
        self.assertEqual(
            [False] * len(HOSTILE),
            [patterns.compiled(written).matches(text) for written, text in HOSTILE],
        )

    def test_patterns_that_cannot_be_used_are_rejected_with_the_reason(self):
        for written, *texts in (
            *(
                (text, 'the syntax is that of RE2', 'write several constraints')
                for text in ('(?=.*[0-9])[a-z0-9]+', r'(a|b)\1', '(?!no).*', 'a++')
            ),
            ('\ud800', 'UTF-8'),
            *(
                (text, 'it is too large')
                for text in ('[a-z]' * 100_000, '(a{500}|b{500})' * 100, r'\pL{900}')
            ),
            ('a{1001}', 'invalid repetition size'),
            ('((a{1000}){1000}){1000}', 'invalid repetition size'),
        ):
            error = self.refusal(written)
            for text in texts:
                self.assertIn(text, error, written)
        self.assertEqual(
            ['missing ): (', 'missing ]: [', 'no argument for repetition operator: *'],
            [self.refusal(written) for written in ('(', '[', '*')],
        )

    def test_too_long_text_is_not_matched(self):
        pattern = patterns.compiled('(x{0,1000})*y')
        most = patterns.STEPS // pattern.program.programsize

        self.assertFalse(pattern.matches('x' * most))
        error = self.assertRaises(patterns.TooLong, pattern.matches, 'x' * (most + 1))

        self.assertEqual(
            f'{most + 1} characters are too many for the pattern {pattern.written}, '
            f'which can be compared with {most}',
            str(error),
        )
