"""The hooks and restricted actions of environments, as Heat documents them."""

from typing import Any

from testtools import matchers

from tests.stack_worlds import TENANT, Nothing, StackWorldCase, res
from watcherlite import exceptions
from watcherlite.db.query import EventQuery
from watcherlite.domain import bearer_tokens
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.queries import StackQueries
from watcherlite.engine.stacks.resolution import Blueprints
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.engine.stacks.tree import StackTree
from watcherlite.notifications.rules import subjects
from watcherlite.states import stack as states

#: The reasons of events that `openstack stack hook poll` compares.
PAUSED = '{} paused until Hook {} is cleared'
CLEARED = 'Hook {} is cleared'
AB = {'a': res(value='1'), 'b': res(_depends_on='a')}
AB_CHANGED = {'a': res(value='2'), 'b': res(_depends_on='a')}
NO_UPDATE = {'restricted_actions': 'update'}
NO_REPLACEMENT = {'restricted_actions': ['replace']}


def environment(**entries: Any) -> dict[str, Any]:
    """Return an environment with entries for resources."""
    return {'resource_registry': {'resources': entries}}


def hooks(*names: str) -> dict[str, Any]:
    """Return an entry with hooks."""
    return {'hooks': list(names)}


class HookCase(StackWorldCase):
    """A stack whose operations wait at hooks."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.world.worker()

    def make(self, resources: dict[str, Any], **entries: Any) -> Stack:
        """Create a stack with an environment; it does not wait."""
        return self.world.make(resources, environment=environment(**entries))

    def start(self, resources: dict[str, Any], **entries: Any) -> Stack:
        """Request a stack with an environment."""
        return self.world.start_creation(resources, environment=environment(**entries))

    def start_update(
        self, stack: Stack, resources: dict[str, Any], **entries: Any
    ) -> Stack:
        """Request an update of a stack with an environment."""
        return self.world.start_update(
            stack, resources, environment=environment(**entries)
        )

    def clear(self, stack: Stack, name: str, hook: Any) -> None:
        self.world.stacks.signal(stack.uuid, TENANT, name, {'unset_hook': hook})

    def wait_for(self, stack: Stack, **desired: str) -> None:
        """Wait until these resources of a stack, and no others, wait at hooks."""
        self.world.wait_until(
            lambda: self.waiting(stack) == desired,
            lambda: f'{self.waiting(stack)}\n{self.world.full_report()}',
        )

    def waiting(self, stack: Stack) -> dict[str, str | None]:
        """Return the hooks at which the resources of a stack wait."""
        rows = self.world.store.waiting_resources([stack.id])
        return {row.name: row.hook for row in rows}

    def settled(self, stack: Stack) -> tuple[str, str]:
        """Wait for the end of the operation; return state and reason."""
        found = self.world.wait_until_settled(stack)
        return found.state.name, found.status_reason

    def reasons(self, stack: Stack, name: str) -> list[tuple[str | None, str | None]]:
        """Return state and reason of the events of a resource, in order."""
        query = EventQuery({'stack_id': [stack.id]}, descending=False)
        return [
            (stored.event.new_status, stored.event.message)
            for stored in self.world.store.list_stack_events(query)
            if (stored.event.detail or {}).get('name') == name
        ]

    def hook_events(
        self, stack: Stack, name: str
    ) -> list[tuple[str | None, str | None]]:
        """Return state and reason of the events of the hooks of a resource."""
        return [
            event for event in self.reasons(stack, name) if 'Hook' in (event[1] or '')
        ]

    def notifications(self, stack: Stack, name: str) -> list[tuple[str, Any]]:
        """Return the notifications about the hooks of a resource: name and hook."""
        query = EventQuery({'stack_id': [stack.id]}, descending=False)
        found = []
        for stored in self.world.store.list_stack_events(query):
            event = stored.event
            detail = event.detail or {}
            if detail.get('name') == name and 'hook' in detail:
                matched = subjects.match(event)
                assert matched is not None
                found += [(one.name, detail['hook']) for one in matched.notifications]
        return found

    def passed(self, state: str, hook: str) -> list[tuple[str, str]]:
        """Return the events of a hook that was cleared."""
        action = hook.partition('-')[2].upper()
        return [(state, PAUSED.format(action, hook)), (state, CLEARED.format(hook))]

    def refusal(self, stack: Stack, name: str, hook: Any) -> str:
        error = self.assertRaises(
            exceptions.InvalidBreakPointHook, self.clear, stack, name, hook
        )
        return str(error)


class CreationTest(HookCase):
    """A hook pauses the creation of its resource only."""

    def test_others_go_on_and_dependents_wait_until_the_hook_is_cleared(self) -> None:
        world = self.world
        stack = self.start({**AB, 'c': res()}, a=hooks('pre-create'))
        self.wait_for(stack, a='pre-create')
        world.wait_until(lambda: world.states(stack)['c'] == 'CREATE_COMPLETE')

        self.assertEqual('CREATE_IN_PROGRESS', world.reload(stack).state.name)
        self.assertEqual(
            {'a': 'INIT_COMPLETE', 'b': 'INIT_COMPLETE', 'c': 'CREATE_COMPLETE'},
            world.states(stack),
        )
        self.clear(stack, 'a', 'pre-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(['c', 'a', 'b'], world.external.of('create'))
        self.assertEqual(
            self.passed('INIT_COMPLETE', 'pre-create'), self.hook_events(stack, 'a')
        )
        self.assertEqual({}, self.waiting(stack))
        self.assertEqual(
            [('hook.start', 'pre-create'), ('hook.end', 'pre-create')],
            self.notifications(stack, 'a'),
        )

    def test_the_hook_after_the_creation_holds_the_dependents(self) -> None:
        world = self.world
        stack = self.start(AB, a=hooks('pre-create', 'post-create'))
        self.wait_for(stack, a='pre-create')
        self.clear(stack, 'a', 'pre-create')
        self.wait_for(stack, a='post-create')
        self.assertEqual(
            {'a': 'CREATE_COMPLETE', 'b': 'INIT_COMPLETE'}, world.states(stack)
        )
        self.clear(stack, 'a', 'post-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(
            [
                *self.passed('INIT_COMPLETE', 'pre-create'),
                *self.passed('CREATE_COMPLETE', 'post-create'),
            ],
            self.hook_events(stack, 'a'),
        )

    def test_a_name_may_have_wildcards(self) -> None:
        stack = self.start(
            {'app_server': res(), 'db_server': res(), 'server': res()},
            **{'*_server': {'hooks': 'pre-create'}},
        )

        self.wait_for(stack, app_server='pre-create', db_server='pre-create')
        for name in ('app_server', 'db_server'):
            self.clear(stack, name, 'pre-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])

    def test_an_entry_of_a_group_has_the_hooks_of_its_members(self) -> None:
        world = self.world
        stack = self.start(
            {'g': res('Group', count=3)}, g={'m[01]': hooks('pre-create')}
        )
        world.wait_until(lambda: len(world.store.stack_tree(stack.tree_id)) == 2)
        inner = world.nested(stack, 'g')
        self.wait_for(inner, m0='pre-create', m1='pre-create')
        for name in ('m0', 'm1'):
            self.clear(inner, name, 'pre-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])

    def test_a_group_waits_before_its_members_are_created(self) -> None:
        world = self.world
        stack = self.start({'g': res('Group', count=1)}, g=hooks('pre-create'))
        self.wait_for(stack, g='pre-create')
        self.assertEqual(1, len(world.store.stack_tree(stack.tree_id)))
        self.clear(stack, 'g', 'pre-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])

    def test_a_hook_that_is_not_cleared_times_out_with_the_operation(self) -> None:
        world = self.world = self.create_stack_world(limits=StackLimits(timeout=1))
        stack = world.make(AB, environment=environment(a=hooks('pre-create')))

        self.assertEqual(
            (
                'CREATE_FAILED',
                'Timed out: Resource action failed: resources.a: Timed out: the hook '
                'pre-create was not cleared.',
            ),
            (stack.state.name, stack.status_reason),
        )
        self.assertEqual(
            {'a': 'INIT_COMPLETE', 'b': 'INIT_COMPLETE'}, world.states(stack)
        )
        self.assertEqual([], world.store.waiting_resources([stack.id]))
        self.assertEqual(
            [('hook.start', 'pre-create'), ('hook.error', 'pre-create')],
            self.notifications(stack, 'a'),
        )

    def test_a_failed_creation_has_no_hook_after_it(self) -> None:
        self.world.external.fails.add(('create', 'a'))
        stack = self.make(AB, a=hooks('post-create'))

        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual([], self.hook_events(stack, 'a'))

    def test_a_resource_that_an_update_adds_is_created_without_its_hooks(self) -> None:
        stack = self.make({'a': res()}, b=hooks('pre-create', 'pre-update'))
        self.start_update(stack, AB, b=hooks('pre-create', 'pre-update'))

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual([], self.hook_events(stack, 'b'))


class UpdateTest(HookCase):
    """A hook pauses the update of its resource."""

    def test_the_update_waits_before_and_after(self) -> None:
        world, entry = self.world, hooks('pre-update', 'post-update')
        stack = self.make(AB, a=entry)
        self.start_update(stack, AB_CHANGED, a=entry)
        self.wait_for(stack, a='pre-update')
        self.assertEqual([], world.external.of('update'))
        self.clear(stack, 'a', 'pre-update')
        self.wait_for(stack, a='post-update')
        self.assertEqual(['a'], world.external.of('update'))
        self.clear(stack, 'a', 'post-update')

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(
            [
                *self.passed('CREATE_COMPLETE', 'pre-update'),
                *self.passed('UPDATE_COMPLETE', 'post-update'),
            ],
            self.hook_events(stack, 'a'),
        )

    def test_an_unchanged_resource_waits_before_the_update_only(self) -> None:
        entry = hooks('pre-update', 'post-update')
        stack = self.make(AB, a=entry)
        self.start_update(stack, AB, a=entry)
        self.wait_for(stack, a='pre-update')
        self.clear(stack, 'a', 'pre-update')

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(
            self.passed('CREATE_COMPLETE', 'pre-update'), self.hook_events(stack, 'a')
        )

    def test_a_replacement_waits_before_the_update_and_not_as_a_creation(self) -> None:
        world = self.world
        entry = hooks('pre-create', 'pre-update', 'post-update', 'pre-delete')
        stack = world.make({'a': res(fixed='1')})
        self.start_update(stack, {'a': res(fixed='2')}, a=entry)
        self.wait_for(stack, a='pre-update')
        self.clear(stack, 'a', 'pre-update')

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(
            self.passed('CREATE_COMPLETE', 'pre-update'), self.hook_events(stack, 'a')
        )

    def test_a_resource_that_is_marked_while_it_waits_is_replaced(self) -> None:
        world = self.world
        stack = self.make(AB, a=hooks('pre-update'))
        before = world.ids(stack)
        self.start_update(stack, AB, a=hooks('pre-update'))
        self.wait_for(stack, a='pre-update')
        world.mark(stack, 'a', reason='disk errors')
        self.assertEqual({'a': 'pre-update'}, self.waiting(stack))
        self.clear(stack, 'a', 'pre-update')

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        after = world.ids(stack)
        self.assertEqual(
            [True, False], [before[name] != after[name] for name in ('a', 'b')]
        )

    def test_members_of_an_unchanged_group_wait(self) -> None:
        world, entry = self.world, {'*': hooks('pre-update')}
        stack = self.make({'g': res('Group', count=1)}, **{'g*': entry})
        self.start_update(stack, {'g': res('Group', count=1)}, **{'g*': entry})
        inner = world.nested(stack, 'g')
        self.wait_for(inner, m0='pre-update')
        self.clear(inner, 'm0', 'pre-update')

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])

    def test_a_cancelled_update_rolls_back_without_waiting_again(self) -> None:
        world, entry = self.world, hooks('pre-update')
        resources = {**AB, 'g': res('Group', count=1, value='1')}
        changed = {**AB_CHANGED, 'g': res('Group', count=1, value='2')}
        stack = self.make(resources, a=entry, g={'m0': entry})
        self.start_update(stack, changed, a=entry, g={'m0': entry})
        inner = world.nested(stack, 'g')
        self.wait_for(stack, a='pre-update')
        self.wait_for(inner, m0='pre-update')
        self.clear(inner, 'm0', 'pre-update')
        world.wait_until(lambda: not world.nested(stack, 'g').state.busy)
        world.stacks.cancel(stack.uuid, TENANT, rollback=True)

        self.assertEqual('ROLLBACK_COMPLETE', self.settled(stack)[0])
        self.assertEqual({}, self.waiting(stack))
        self.assertEqual(
            [
                ('CREATE_COMPLETE', PAUSED.format('UPDATE', 'pre-update')),
                (
                    'CREATE_COMPLETE',
                    'Hook pre-update was not cleared: Action was cancelled while it '
                    'ran.',
                ),
            ],
            self.hook_events(stack, 'a'),
        )
        self.assertEqual('1', world.resource(inner, 'm0').properties['value'])

    def test_a_cancelled_update_fails_without_rollback(self) -> None:
        stack = self.make(AB, a=hooks('pre-update'))
        self.start_update(stack, AB_CHANGED, a=hooks('pre-update'))
        self.wait_for(stack, a='pre-update')
        self.world.stacks.cancel(stack.uuid, TENANT, rollback=False)

        self.assertEqual('UPDATE_FAILED', self.settled(stack)[0])
        self.assertEqual({}, self.waiting(stack))
        self.assertEqual(
            {'a': 'CREATE_COMPLETE', 'b': 'CREATE_COMPLETE'}, self.world.states(stack)
        )

    def test_an_update_supersedes_one_that_waits(self) -> None:
        stack = self.make(AB, a=hooks('pre-update'))
        self.start_update(stack, AB, a=hooks('pre-update'))
        self.wait_for(stack, a='pre-update')
        self.start_update(stack, AB_CHANGED)

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual({}, self.waiting(stack))
        self.assertEqual(['a'], self.world.external.of('update'))


class DeletionTest(HookCase):
    """A hook pauses the deletion of its resource, with that of its stack."""

    def test_the_deletion_waits_before_and_after(self) -> None:
        world = self.world
        stack = self.make(AB, b=hooks('pre-delete', 'post-delete'))
        world.stacks.delete(stack.uuid, TENANT)
        self.wait_for(stack, b='pre-delete')
        self.clear(stack, 'b', 'pre-delete')
        self.wait_for(stack, b='post-delete')
        self.assertEqual(['b'], world.external.of('delete'))
        reading = StackQueries(world.store, world.types, Blueprints(world.store))
        listed = reading.resources(world.reload(stack))
        self.assertEqual(
            [('a', 'CREATE_COMPLETE', None), ('b', 'DELETE_COMPLETE', 'post-delete')],
            [(view.row.name, view.row.state.name, view.row.hook) for view in listed],
        )
        self.assertEqual('b', reading.resource(world.reload(stack), 'b').row.name)
        self.clear(stack, 'b', 'post-delete')

        self.assertEqual('DELETE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(['b', 'a'], world.external.of('delete'))
        self.assertEqual(
            [
                *self.passed('CREATE_COMPLETE', 'pre-delete'),
                *self.passed('DELETE_COMPLETE', 'post-delete'),
            ],
            self.hook_events(stack, 'b'),
        )

    def test_a_resource_that_an_update_removes_is_deleted_without_its_hooks(
        self,
    ) -> None:
        stack = self.make(AB, b=hooks('pre-delete'))
        self.start_update(stack, {'a': res(value='1')}, b=hooks('pre-delete'))

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual([], self.hook_events(stack, 'b'))

    def test_a_deletion_ends_a_creation_that_waits(self) -> None:
        stack = self.start(AB, a=hooks('pre-create', 'pre-delete'))
        self.wait_for(stack, a='pre-create')
        self.world.stacks.delete(stack.uuid, TENANT)

        # A resource that was never created has nothing to delete.
        self.assertEqual('DELETE_COMPLETE', self.settled(stack)[0])
        self.assertEqual({}, self.waiting(stack))


class ClearingTest(HookCase):
    """A hook is cleared by a signal, which the type of the resource does not see."""

    def test_a_signal_before_the_hook_or_after_it_is_rejected(self) -> None:
        stack = self.start(AB, a=hooks('pre-create'), b=hooks('pre-create'))
        self.wait_for(stack, a='pre-create')

        what = f'Sample "b" Stack "s" [{stack.uuid}]'
        absent = f'The "pre-create" hook is not defined on {what}'
        self.assertEqual(
            f'{absent}: it does not wait there.', self.refusal(stack, 'b', 'pre-create')
        )
        for hook in ('create', 5, None, ['pre-create'], {'a': 'x' * 10**6}):
            refusal = self.refusal(stack, 'b', hook)
            self.assertThat(refusal, matchers.StartsWith('Invalid hook type "'))
            self.assertIn(f'" for {what}; there are pre-create, ', refusal)
            self.assertLess(len(refusal), 400)
        self.assertIn('"post-create" hook', self.refusal(stack, 'a', 'post-create'))
        self.clear(stack, 'a', 'pre-create')
        self.assertIn('"pre-create" hook', self.refusal(stack, 'a', 'pre-create'))
        self.wait_for(stack, b='pre-create')
        self.clear(stack, 'b', 'pre-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual([], self.world.external.of('signal'))

    def test_a_resource_whose_type_accepts_no_signals_is_cleared(self) -> None:
        stack = self.start({'a': res('Nothing')}, a=hooks('pre-create'))
        self.wait_for(stack, a='pre-create')
        self.assertFalse(Nothing.supports('signal'))
        self.clear(stack, 'a', 'pre-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])

    def test_other_projects_do_not_find_the_resource(self) -> None:
        stack = self.start({'a': res()}, a=hooks('pre-create'))
        self.wait_for(stack, a='pre-create')

        self.assertRaises(
            exceptions.StackNotFound,
            self.world.stacks.signal,
            *(stack.uuid, 'another-project', 'a', {'unset_hook': 'pre-create'}),
        )
        self.assertEqual({'a': 'pre-create'}, self.waiting(stack))
        self.clear(stack, 'a', 'pre-create')
        self.settled(stack)

    def test_a_token_for_signals_to_the_handler_does_not_clear_a_hook(self) -> None:
        world, token = self.world, bearer_tokens.new_token()
        stack = self.make({'a': res()}, a=hooks('pre-update'))
        self.start_update(stack, {'a': res()}, a=hooks('pre-update'))
        self.wait_for(stack, a='pre-update')
        with world.store.transaction() as tx:
            StackTree.lock(tx, stack)
            (row,) = tx.resources_of([stack.id])
            digest = bearer_tokens.digest_of(token)
            data = {bearer_tokens.SIGNAL_DIGEST: digest}
            tx.save_resources([row.evolve(data=data)])

        world.stacks.signal_with_token(
            stack.uuid, 'a', token, {'unset_hook': 'pre-update'}
        )
        self.assertEqual({'a': 'pre-update'}, self.waiting(stack))
        self.clear(stack, 'a', 'pre-update')

        # The handler gets the signal after the operation that it would modify.
        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(['a'], world.external.of('signal'))

    def test_a_locked_stack_ignores_signals_and_answers_about_hooks(self) -> None:
        world = self.world
        stack = self.make({'a': res()}, a=hooks('pre-update'))
        world.act(stack, states.LOCK)
        world.stacks.signal(stack.uuid, TENANT, 'a', {'value': 'x'})

        self.assertIn('not defined', self.refusal(stack, 'a', 'pre-update'))
        self.assertEqual(
            ['SIGNAL_COMPLETE'],
            [
                state
                for state, text in self.reasons(stack, 'a')
                if 'ignored' in (text or '')
            ],
        )

    def test_a_hook_outlives_the_worker_that_waits(self) -> None:
        world = self.world
        (first,) = world.workers
        stack = self.start(AB, a=hooks('pre-create', 'post-create'))
        self.wait_for(stack, a='pre-create')
        world.kill(first)
        # No worker is alive: the request ends the action itself.
        self.clear(stack, 'a', 'pre-create')
        self.assertEqual({}, self.waiting(stack))
        second = world.worker()
        self.wait_for(stack, a='post-create')
        world.kill(second)
        world.worker()
        self.assertEqual({'a': 'post-create'}, self.waiting(stack))
        self.clear(stack, 'a', 'post-create')

        self.assertEqual('CREATE_COMPLETE', self.settled(stack)[0])
        self.assertEqual(['a', 'b'], world.external.of('create'))
        self.assertEqual(
            [
                *self.passed('INIT_COMPLETE', 'pre-create'),
                *self.passed('CREATE_COMPLETE', 'post-create'),
            ],
            self.hook_events(stack, 'a'),
        )


class RestrictionTest(HookCase):
    """An update does not do what the environment forbids for a resource."""

    def assert_restricted(
        self, stack: Stack, action: str, state: str = 'CREATE_COMPLETE'
    ) -> None:
        why = f'{action} is restricted for resource.'
        self.assertEqual(
            ('UPDATE_FAILED', f'Resource action failed: resources.a: {why}'),
            self.settled(stack),
        )
        self.assertEqual(state, self.world.states(stack)['a'])
        self.assertEqual(('UPDATE_FAILED', why), self.reasons(stack, 'a')[-1])

    def test_an_update_in_place_may_be_restricted(self) -> None:
        stack = self.make(AB)
        self.start_update(stack, AB_CHANGED, a=NO_UPDATE)

        self.assert_restricted(stack, 'update')
        self.assertEqual('1', self.world.resource(stack, 'a').properties['value'])
        self.start_update(stack, AB_CHANGED, a=NO_REPLACEMENT)
        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])

    def test_a_replacement_may_be_restricted(self) -> None:
        stack = self.world.make({'a': res(fixed='1')})
        before = self.world.ids(stack)
        self.start_update(stack, {'a': res(fixed='2')}, **{'?': NO_REPLACEMENT})

        self.assert_restricted(stack, 'replace')
        self.assertEqual(before, self.world.ids(stack))
        self.start_update(stack, {'a': res(fixed='2')}, a=NO_UPDATE)
        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])

    def test_an_unhealthy_resource_is_not_replaced_and_stays_unhealthy(self) -> None:
        stack = self.make(AB)
        self.world.mark(stack, 'a')
        self.start_update(stack, AB, a=NO_REPLACEMENT)

        self.assert_restricted(stack, 'replace', 'CHECK_FAILED')

    def test_an_unchanged_resource_is_not_restricted(self) -> None:
        both = {'restricted_actions': ['update', 'replace']}
        resources = {**AB, 'g': res('Group', count=1)}
        stack = self.make(resources, a=both, g=both)
        self.start_update(stack, {**resources, 'c': res()}, a=both, g=both)

        self.assertEqual('UPDATE_COMPLETE', self.settled(stack)[0])

    def test_a_group_and_its_members_may_be_restricted(self) -> None:
        before = {'a': res('Group', count=1, value='1')}
        after = {'a': res('Group', count=1, value='2')}
        stack = self.make(before)
        self.start_update(stack, after, a=NO_UPDATE)

        self.assert_restricted(stack, 'update')
        self.start_update(stack, after, a={'*': NO_UPDATE})
        state, reason = self.settled(stack)
        self.assertEqual('UPDATE_FAILED', state)
        self.assertIn('resources.m0: update is restricted for resource.', reason)

    def test_a_rollback_is_not_restricted(self) -> None:
        world = self.world
        stack = self.make(AB, a=NO_UPDATE)
        world.external.fails.add(('update', 'b'))
        changed = {**AB_CHANGED, 'b': res(value='2', _depends_on='a')}
        self.world.start_update(
            stack, changed, environment=environment(a={}), disable_rollback=False
        )

        self.assertEqual('ROLLBACK_COMPLETE', self.settled(stack)[0])
        self.assertEqual('1', world.resource(stack, 'a').properties['value'])
