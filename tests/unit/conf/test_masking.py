import time

from tests import base
from watcherlite.conf import masking

#: text with a secret -> masked text
MASKED = {
    # URLs
    'amqp://u:S3cret@h': 'amqp://u:***@h',
    'postgresql+psycopg://u:S3cret@h/db?sslmode=on': (
        'postgresql+psycopg://u:***@h/db?sslmode=on'
    ),
    'rabbit://u:S3cret@h1:5672,u:S3cret@h2:5672/v': (
        'rabbit://u:***@h1:5672,u:***@h2:5672/v'
    ),
    'amqp://u:S3cret@h1;amqp://u:S3cret@h2': 'amqp://u:***@h1;amqp://u:***@h2',
    'redis://:S3cret@h:6379/0': 'redis://:***@h:6379/0',
    'amqp://u:12345@h': 'amqp://u:***@h',
    'http://u:S3cret@[::1]:80/x': 'http://u:***@[::1]:80/x',
    "no answer from 'amqp://u:S3cret@h', next": "no answer from 'amqp://u:***@h', next",
    '{"url":"amqp://u:S3cret@h","to":"a@b"}': '{"url":"amqp://u:***@h","to":"a@b"}',
    # Invalid URLs with unquoted characters
    'rabbit://u:S3@cret@h/': 'rabbit://u:***@h/',
    'mysql+pymysql://u:S3/cret@h/db': 'mysql+pymysql://u:***@h/db',
    'amqp://a@b:S3cret@h/': 'amqp://a@b:***@h/',
    # Headers
    'X-Auth-Token: S3cret': 'X-Auth-Token: ***',
    "{'X-Auth-Token': 'S3cret', 'Accept': 'x'}": (
        "{'X-Auth-Token': '***', 'Accept': 'x'}"
    ),
    "[('X-Auth-Token', 'S3cret'), ('Accept', 'x')]": (
        "[('X-Auth-Token', '***'), ('Accept', 'x')]"
    ),
    'curl -H "X-Auth-Token: S3cret" -H "Accept: x"': (
        'curl -H "X-Auth-Token: ***" -H "Accept: x"'
    ),
    'Authorization: Bearer S3cret': 'Authorization: Bearer ***',
    'Authorization: Basic S3cret was refused': 'Authorization: Basic *** was refused',
    'Authorization: Digest username="x", response="S3cret"': 'Authorization: ***',
    '{"authorization": "Bearer S3cret"}': '{"authorization": "***"}',
    'Set-Cookie: sid=S3cret; Path=/\nnext': 'Set-Cookie: ***\nnext',
    # Assignments
    'api_key=S3cret': 'api_key=***',
    'apiKey: S3cret': 'apiKey: ***',
    'passphrase: S3cret': 'passphrase: ***',
    'password = S3cret': 'password = ***',
    "password='S3cret of all'": "password='***'",
    'admin_password="S3\\"cret"': 'admin_password="***"',
    'rabbit_pass=S3cret': 'rabbit_pass=***',
    'OS_PASSWORD=S3cret': 'OS_PASSWORD=***',
    'token=S3cret&user=x': 'token=***&user=x',
    'host=h password=S3cret,S3cret user=x': 'host=h password=*** user=x',
    'a=1,password=S3cret,b=2': 'a=1,password=***,b=2',
    "Config(password='S3cret', user='x')": "Config(password='***', user='x')",
    '(password=S3)cret)': '(password=***)',
    "password=ab'S3cret": 'password=***',
    'token="S3cret and no end': 'token=*** and no end',
    # Data
    '{"password": "S3cret", "user": "x"}': '{"password": "***", "user": "x"}',
    '{\\"password\\": \\"S3cret\\", \\"user\\": \\"x\\"}': (
        '{\\"password\\": \\"***\\", \\"user\\": \\"x\\"}'
    ),
    "{'adminPass': 'S3cret'}": "{'adminPass': '***'}",
    "{'client_secret': b'S3cret'}": "{'client_secret': b'***'}",
    "{'secret': ['S3cret', 'S3cret']}": "{'secret': [***]}",
    '<adminPass>S3cret</adminPass>': '<adminPass>***</adminPass>',
    # Command lines
    '--os-password S3cret --os-user x': '--os-password *** --os-user x',
    '--token=S3cret x': '--token=*** x',
    "['--password', 'S3cret', 'x']": "['--password', '***', 'x']",
    # Messages of oslo.config
    'Option x.api_token changed from [S3cret] to [S3cret2]': (
        'Option x.api_token changed from ***'
    ),
    # Keys
    '-----BEGIN RSA PRIVATE KEY-----\nS3cret\n-----END RSA PRIVATE KEY-----\n.': (
        '-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\n.'
    ),
    '-----BEGIN PRIVATE KEY-----\nS3cret': '-----BEGIN PRIVATE KEY-----***',
}

#: Texts that resemble secrets and are none.
KEPT = (
    '',
    'http://127.0.0.1:8000/notify/user@example.com',
    'http://example.com:8000',
    'GET http://h:80/a:b@c HTTP/1.1',
    'ssh://git@host:22/x@y',
    'git@host:organisation/repository',
    'postgresql://postgres@127.0.0.1/db',
    'see user@example.com: it works',
    'max_tokens=5 token_type=bearer',
    'secretary: bob',
    'passwordless: true',
    'password=None',
    "{'password': None, 'token': ''}",
    'password=***',
    'primary_key=uuid sort_key=name',
    'idempotency_key=5f9e',
    'compass: north; pass: 3, fail: 2',
    "keys ['name', 'password', 'email']",
    'the token expired',
    'authorization failed',
    'Resource action failed: resources.token: create of token does not work',
    'resources.db_password: the password is too short; resources.x: it is not there',
    'pre-secret meeting',
    'urn:uuid:5f9e',
    'action 5f9e READY -> RUNNING',
)

#: A careless pattern would try all ways to split each of these.
HOSTILE = (
    '-' * 20000,
    'password' * 5000,
    'password="' * 5000,
    "token='" + '\\' * 20000,
    "('token', " * 4000,
    'token=(' * 5000,
    'pwd=' + ',a' * 20000,
    'token>' * 5000,
    'cookie:' * 5000,
    'authorization: basic ' * 3000,
    'secret changed from [' * 3000,
    '-----BEGIN PRIVATE KEY-----' * 1000,
    '://' * 10000,
    '://a:' * 8000,
    '://a:' + '1' * 20000,
    '://a:' + '@' * 20000,
    '://' + 'a:b@,' * 8000,
)


class TestMaskText(base.TestCase):
    """Credentials are masked, and nothing else is changed."""

    def test_credentials_are_masked_once(self):
        for text, expected in MASKED.items():
            with self.subTest(text=text):
                self.assertEqual(expected, masking.mask_text(text))
                self.assertEqual(expected, masking.mask_text(expected))

    def test_other_texts_are_unchanged(self):
        for text in KEPT:
            with self.subTest(text=text):
                self.assertEqual(text, masking.mask_text(text))

    def test_hostile_texts_are_masked_in_time(self):
        for text in HOSTILE:
            with self.subTest(text=text[:30]):
                began = time.thread_time()

                masking.mask_text(text)

                # Trying all ways takes minutes; this takes at most 80 ms.
                self.assertLess(time.thread_time() - began, 5)


class TestMaskData(base.TestCase):
    """Structured data, where a name and its value are separate."""

    def test_values_of_secret_names_are_masked_and_texts_searched(self):
        data = {
            'user': 'x',
            'adminPass': 'S3cret',
            'X-Auth-Token': 'S3cret',
            'credentials': {'user': 'x', 'key': 'S3cret'},
            'token': None,
            'has_password': True,
            'private_parameters': {'greeting': 'S3cret', 'sizes': [1, 2]},
            'count': 3,
            'urls': ['amqp://u:S3cret@h', ('http://h', 'password=S3cret')],
        }

        self.assertEqual(
            {
                'user': 'x',
                'adminPass': '***',
                'X-Auth-Token': '***',
                'credentials': '***',
                'token': None,
                'has_password': True,
                'private_parameters': '***',
                'count': 3,
                'urls': ['amqp://u:***@h', ('http://h', 'password=***')],
            },
            masking.mask_data(data),
        )

    def test_in_a_list_the_value_behind_a_secret_argument_is_masked(self):
        for items, masked in (
            (['x', '--token', 'S3cret', 'y'], ['x', '--token', '***', 'y']),
            (['--os-password', 'S3cret'], ['--os-password', '***']),
            (['-password', 12], ['-password', '***']),
            (('--api-key', 'S3cret'), ('--api-key', '***')),
            (['--token', '--verbose', 'x'], ['--token', '--verbose', 'x']),
            (['--token=S3cret'], ['--token=***']),
            (['token', 'bucket', '--max-tokens', '5'],) * 2,
        ):
            with self.subTest(items=items):
                self.assertEqual(masked, masking.mask_data(items))
                shown = masking.mask_data({'argv': items})
                self.assertEqual({'argv': masked}, shown)

    def test_keys_named_private_are_masked(self):
        self.assertTrue(masking.is_suspicious('{"private_parameters": {"a": "b"}}'))
