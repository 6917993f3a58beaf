import base64
import os
import resource
import stat

from tests import base
from watcherlite import conf, exceptions
from watcherlite.conf import secrets

KEY, OTHER = (base64.b64encode(x * secrets.BYTES).decode() for x in (b'a', b'b'))


class SecretsCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.state = self.home / 'state'

    def conf(self, *lines):
        path = self.home / 'watcherlite.conf'
        text = f'[DEFAULT]\nstate_path = {self.state}\n[secrets]\n'
        path.write_text(text + '\n'.join(lines))
        return conf.new(config_files=[str(path)])

    def refusal(self, configuration, error=exceptions.ConfigurationError, **keys):
        caught = self.assertRaises(error, conf.sealing_keys, configuration, **keys)
        return str(caught).replace(str(self.state), 'STATE')


class TestOption(SecretsCase):
    """Options with secrets are applied, and never displayed."""

    def test_the_keys_that_are_set_are_used_and_not_shown_and_none_is_made(self):
        found = conf.sealing_keys(self.conf(f'encryption_keys = {KEY},{OTHER}'))

        self.assertEqual(secrets.Keys((KEY, OTHER), '[secrets] encryption_keys'), found)
        self.assertFalse(self.state.exists())
        self.assertNotIn(KEY, f'{found!r} {self.log.output}')

    def test_base64_for_urls_is_accepted(self):
        key = base64.urlsafe_b64encode(b'\xff' * secrets.BYTES).decode()

        self.assertIn('_', key)
        self.assertEqual(
            (key,), conf.sealing_keys(self.conf(f'encryption_keys = {key}')).values
        )

    def test_invalid_key_is_named_by_its_position(self):
        for bad in ('hunter2', 'YWJj', f'{KEY[:-4]}', 'žž'):
            text = self.refusal(self.conf(f'encryption_keys = {KEY},{bad}'))
            self.assertEqual(
                'Key 2 in [secrets] encryption_keys is not 32 bytes in base64; '
                'generate one with "openssl rand -base64 32"',
                text,
            )


class TestKeyFile(SecretsCase):
    """Without the option there is one key, in a file that is created once."""

    def path(self):
        return self.state / 'secrets.key'

    def test_key_file_is_created_private_and_reused(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)

        first = conf.sealing_keys(self.conf())
        again = conf.sealing_keys(self.conf())
        # As in a process that had checked before the file existed.
        secrets._make(self.path())

        self.assertEqual(0o600, stat.S_IMODE(self.path().stat().st_mode))
        self.assertEqual([self.path()], list(self.state.iterdir()))
        self.assertEqual([first] * 2, [again, conf.sealing_keys(self.conf())])
        self.assertEqual(f'the key file {self.path()}', first.source)
        (key,) = first.values
        self.assertEqual(secrets.BYTES, len(base64.urlsafe_b64decode(key)))

    def test_no_key_is_created_if_encrypted_data_exists(self):
        self.assertEqual(
            'The database contains encrypted secrets, and this host has no key: '
            'restore the key file STATE/secrets.key, or set [secrets] '
            'encryption_keys to the keys of the host that encrypted them',
            self.refusal(self.conf(), exceptions.KeyMissing, make=False),
        )
        self.assertFalse(self.path().exists())

    def test_full_disk_is_retried_later(self):
        configuration = self.conf()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))

        error = self.refusal(configuration, exceptions.StoreUnavailable)

        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertEqual(
            'The key file STATE/secrets.key cannot be created: File too large. Free '
            'space on its disk',
            error,
        )
        self.assertEqual([], list(self.state.iterdir()))
        self.assertEqual(1, len(conf.sealing_keys(configuration).values))

    def test_key_file_has_a_key_on_each_line_and_an_error_is_one_line(self):
        self.state.mkdir()
        self.path().write_text(f'{KEY}\n{OTHER}\n')
        self.assertEqual((KEY, OTHER), conf.sealing_keys(self.conf()).values)
        cases = {
            b'': 'There is no key in the key file STATE/secrets.key',
            b'x': 'Key 1 in the key file STATE/secrets.key is not 32 bytes in '
            'base64; generate one with "openssl rand -base64 32"',
            b'\xff': 'The key file STATE/secrets.key cannot be used: it is not text. '
            'Make it readable for this user, or set [secrets] encryption_keys',
        }
        for content, expected in cases.items():
            self.path().write_bytes(content)
            self.assertEqual(expected, self.refusal(self.conf()))
        self.path().unlink()
        self.path().mkdir()
        self.assertEqual(
            'The key file STATE/secrets.key cannot be used: Is a directory. Make it '
            'readable for this user, or set [secrets] encryption_keys',
            self.refusal(self.conf()),
        )
