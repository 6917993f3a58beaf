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


class LookaheadTest(base.TestCase):
    """Lookahead at the start of a pattern, as templates of Heat have it."""

    def test_the_conditions_at_the_start_hold_for_the_text(self):
        password = (
            r'(?=^.{6,255}$)((?=.*\d)(?=.*[A-Z])(?=.*[a-z])|(?=.*\d)(?=.*[^A-Za-z0-9])'
            r'(?=.*[a-z]))^.*'
        )
        for written, good, bad in (
            (password, ['Abcde1', 'abc1)a'], ['abcde1', 'Ab1', 'ABCDEF']),
            (r'^(?!.*["\r\n]).*$', ['ab', ''], ['a"b', 'a\r']),
            (r'[a-z]+(?=[.-][a-z])*\.[a-z]+', ['demo.local'], ['demo']),
            ('^[_a-z\\u4e00-\\u9fa5]+$', ['a\u4e01'], ['a-']),
            (r'(?=[)(]+$)(?:(?=\()|(?!.)).*', ['(', '()'], [')', 'a']),
        ):
            with self.subTest(written=written):
                pattern = patterns.compiled(written, lookahead=True)
                self.assertEqual(good, [t for t in good + bad if pattern.matches(t)])

    def test_it_costs_the_time_of_all_its_programs(self):
        pattern = patterns.compiled('(?=a+)(?!b+)a{500}', lookahead=True)

        self.assertGreater(pattern.size, pattern.program.programsize)
        self.assertRaises(patterns.TooLong, pattern.matches, 'a' * patterns.STEPS)

    def test_it_is_refused_elsewhere_in_a_pattern(self):
        for written in ('a(?=b)b', '(?<=a)b', '(?=a)+b', r'((?=a)|b)c'):
            self.assertRaises(
                patterns.InvalidPattern, patterns.compiled, written, lookahead=True
            )
