"""Configuration files from templates of the operator and values of users."""

from tests import base
from watcherlite import exceptions
from watcherlite.plugins.load_balancers import template


class TemplateTest(base.TestCase):
    """The filters of a template."""

    def rendered(self, text: str, **values: object) -> str:
        (self.home / 't.cfg').write_text(text)
        return template.render(str(self.home), 't.cfg', values)

    def refusal(self, text: str, **values: object) -> str:
        error = self.assertRaises(
            exceptions.WatcherliteError, self.rendered, text, **values
        )
        return str(error)

    def test_a_template_of_the_operator_is_used(self) -> None:
        self.assertEqual(
            'server n1 10.0.0.1:80\n',
            self.rendered(
                'server {{ m.name }} {{ m.host }}:{{ m.port }}\n',
                m={'name': 'n1', 'host': '10.0.0.1', 'port': 80},
            ),
        )

    def test_no_value_can_be_more_than_a_value(self) -> None:
        values = ('n1 127.0.0.1:22', 'n1\nbackend other', 'n1#', '"n1', "n1'", 'n1\\')
        for value in (*values, '${HOME}', 'n1\t', '\x00', '\u2028'):
            self.assertEqual(
                f'{value!r} may not be part of the configuration of a load balancer',
                self.refusal('server {{ name }}', name=value),
            )
        # Concatenated values are also checked.
        joined = self.refusal("{{ name ~ ' ' ~ 'n2' }}", name='n1')
        self.assertIn("'n1 n2' may not be part", joined)

    def test_a_name_becomes_a_word(self) -> None:
        self.assertEqual('a_b_c.d-1', template.word('a b\n#c.d-1'))

    def test_a_missing_template_is_reported_with_the_existing_ones(self) -> None:
        (self.home / 'other.cfg').write_text('')
        error = self.assertRaises(
            exceptions.WatcherliteError,
            *(template.render, str(self.home), '../secret', {}),
        )

        self.assertEqual(
            'There is no template ../secret; there are haproxy.cfg, other.cfg.',
            str(error),
        )

    def test_an_invalid_template_is_reported(self) -> None:
        self.assertIn('The template t.cfg cannot be used: ', self.refusal('{% if %}'))
        self.assertIn("'unknown' is undefined", self.refusal('{{ unknown }}'))

    def test_a_template_of_the_built_in_name_takes_its_place(self) -> None:
        (self.home / template.HAPROXY).write_text('mine')

        self.assertEqual('mine', template.render(str(self.home), None, {}))
