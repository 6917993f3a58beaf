"""Plans that a command finds by an argument."""

from tests import base, factories
from watcherlite import bootstrap, conf, exceptions
from watcherlite.cli.local import session


class TestFind(base.TestCase):
    """`--resume`: a uuid, or `last`."""

    def setUp(self):
        super().setUp()
        self.conf = conf.new([], [])
        self.store = bootstrap.open_store(self.conf)
        self.addCleanup(self.store.close)

    def store_plans(self, *states):
        """Store a plan in each state; return their uuids."""
        found = []
        for state in states:
            plan = factories.store_plan(self.store, state=state)[0]
            found.append(plan.uuid)
        return found

    def test_last_is_the_newest_plan_that_has_not_ended(self):
        for states, place in (
            (('PENDING', 'ONGOING', 'SUCCEEDED'), 1),
            (('ONGOING', 'CANCELLING', 'PENDING', 'FAILED'), 2),
            (('CANCELLING', 'CANCELLED', 'RECOMMENDED'), 0),
        ):
            expected = self.store_plans(*states)[place]

            self.assertEqual(expected, session.find(self.conf, 'last').uuid)

    def test_last_without_unfinished_plans_is_an_error_and_uuids_ignore_case(self):
        uuid, _ = self.store_plans('SUCCEEDED', 'RECOMMENDED')

        error = self.assertRaises(exceptions.NotFound, session.find, self.conf, 'last')

        self.assertEqual('all action plans have ended', str(error))
        self.assertEqual(uuid, session.find(self.conf, uuid.upper()).uuid)
