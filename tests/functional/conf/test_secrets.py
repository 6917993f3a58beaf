"""Processes that create the key file at the same time."""

import concurrent.futures
import threading

from tests.bounded import TIMEOUT
from tests.unit.conf.test_secrets import SecretsCase
from watcherlite import conf


class TestKeyFile(SecretsCase):
    def test_processes_that_start_concurrently_have_the_same_key(self):
        configuration, count = self.conf(), 16
        self.state.mkdir()
        together = threading.Barrier(count)

        def start(_):
            together.wait(TIMEOUT)
            return conf.sealing_keys(configuration).values

        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            found = set(pool.map(start, range(count)))

        self.assertEqual({conf.sealing_keys(configuration).values}, found)
        self.assertEqual([self.state / 'secrets.key'], list(self.state.iterdir()))
