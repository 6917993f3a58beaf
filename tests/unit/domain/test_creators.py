from tests import base
from watcherlite.domain import creators
from watcherlite.domain.creators import LOCAL, NO_AUTHORITY, Creator

A = Creator('a user', 'a')
B = Creator('another user', 'b')


class TestCreator(base.TestCase):
    def test_a_creator_may_act_on_its_project_on_all_or_on_none(self) -> None:
        self.assertEqual(
            [(True, False), (True, True), (False, False), (False, False)],
            [
                (creator.may_act_on('a'), creator.may_act_on(''))
                for creator in (A, LOCAL, NO_AUTHORITY, Creator(project_id=''))
            ],
        )

    def test_lookups_are_limited_to_the_project_of_the_creator(self) -> None:
        self.assertEqual(
            [('a', 'a', ''), (None, 'a', 'b'), ('', '', '')],
            [
                tuple(creator.lookup_project(name) for name in (None, 'a', 'b'))
                for creator in (A, LOCAL, NO_AUTHORITY)
            ],
        )

    def test_change_by_another_user_keeps_the_common_authority(self) -> None:
        self.assertEqual(
            [A, Creator('a user'), A, Creator(None, 'a'), LOCAL, NO_AUTHORITY],
            [
                before.limited_to(by)
                for before, by in (
                    *((A, A), (A, B), (A, LOCAL)),
                    *((LOCAL, A), (LOCAL, LOCAL), (NO_AUTHORITY, LOCAL)),
                )
            ],
        )

    def test_creator_round_trips_through_storage(self) -> None:
        for creator in (A, LOCAL, NO_AUTHORITY):
            context = {creators.CREATOR: creator.as_mapping()}
            self.assertEqual(creator, creators.of_context(context))

    def test_creator_of_old_rows_has_no_authority(self) -> None:
        old = {'project_id': 'a', 'user_id': 'x', 'everywhere': True}
        self.assertEqual(
            [NO_AUTHORITY] * 3,
            [
                creators.from_mapping(None),
                creators.of_context(old),
                creators.from_mapping({'everywhere': 'yes'}),
            ],
        )
