"""Checks, recoveries and operations of nodes."""

from tests.cluster_worlds import machine
from tests.functional.engine.clusters.node_case import (
    NodeCase,
    describe_action,
    failure_of,
    operation_of,
    status_of,
)
from tests.stack_worlds import ExternalResources
from watcherlite import exceptions
from watcherlite.domain.resource_results import Ready, ResourceInProgress
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.action_types import (
    NODE_CHECK,
    NODE_CREATE,
    NODE_OPERATION,
    NODE_RECOVER,
)


class TestChecking(NodeCase):
    def test_a_check_that_finds_a_missing_resource_succeeds(self):
        """A node that has just changed may still be starting."""
        world, node = self.create_active_node()
        made = world.reload(node)
        del world.external.samples[made.physical_id]

        world.run_action(NODE_CHECK, node, {'detection': {'node_update_timeout': 3600}})
        status, reason = status_of(world.reload(node))
        action = world.run_action(NODE_CHECK, node)

        self.assertEqual('ACTIVE', status)
        self.assertIn('It may not be ready yet', reason)
        text = f'{made.physical_id} is not there'
        self.assertEqual(
            ('SUCCEEDED', {'status': 'ERROR', 'reason': text}), describe_action(action)
        )
        self.assertEqual(('ERROR', text), status_of(world.reload(node)))

    def test_a_check_restores_active_only_for_created_nodes(self):
        world = self.create_cluster_world()
        profile = world.profile()
        node = world.insert_node(profile, 'n')
        world.create_node(node)
        world.save(node, status='ERROR', status_reason='it was away')
        never = world.insert_node(profile, 'm', status='ERROR', status_reason='no room')

        for one, expected in (
            (node, ('ACTIVE', 'Check: Node is ACTIVE.')),
            (never, ('ERROR', 'no room')),
        ):
            world.run_action(NODE_CHECK, one)
            self.assertEqual(expected, status_of(world.reload(one)))

    def test_a_check_keeps_the_mark_of_a_user(self):
        world, node = self.create_active_node()
        world.save(
            node, status='ERROR', data={action_types.UNHEALTHY_MARK: 'it smells'}
        )

        checked = world.run_action(NODE_CHECK, node)
        marked = world.reload(node)
        world.run_action(NODE_RECOVER, node)

        self.assertEqual('SUCCEEDED', checked.status)
        self.assertEqual(('ERROR', 'it smells'), status_of(marked))
        row = world.reload(node)
        self.assertEqual(
            ('ACTIVE', None), (row.status, action_types.unhealthy_mark(row))
        )

    def test_a_defect_of_the_handler_is_inconclusive(self):
        def broken(self, context):
            raise KeyError('oops')

        kind = type('Odd', (machine(ExternalResources()),), {'check': broken})
        world = self.create_cluster_world(handlers={'Odd': kind})
        node = world.insert_node(world.profile(type_='odd'), 'n')
        world.create_node(node)

        action = world.run_action(NODE_CHECK, node)

        self.assertEqual('FAILED', action.status)
        self.assertEqual('ACTIVE', world.reload(node).status)

    def test_an_inconclusive_check_keeps_the_status(self):
        def unseen(self, context):
            raise exceptions.StateUnknown('n runs on the-other-host')

        kind = type('Far', (machine(ExternalResources()),), {'check': unseen})
        world = self.create_cluster_world(handlers={'Far': kind})
        node = world.insert_node(world.profile(type_='far'), 'n')
        before = world.create_node(node)

        checked = world.run_action(NODE_CHECK, node)
        recovered = world.run_action(NODE_RECOVER, node, {'check': True})

        after = world.reload(node)
        unknown = 'Its state is unknown: n runs on the-other-host'
        self.assertEqual(
            ('SUCCEEDED', unknown), (checked.status, checked.outputs['reason'])
        )
        self.assertEqual(('FAILED', unknown), failure_of(recovered))
        self.assertEqual(
            ('ACTIVE', before.physical_id), (after.status, after.physical_id)
        )

    def test_the_first_check_of_an_adopted_node_adopts_the_resource(self):
        calls = []

        def adopt(self, context):
            calls.append(('adopt', context.physical_id))
            return Ready(attributes={'output': 'taken over'}, data={'ours': True})

        def check(self, context):
            calls.append(('check', context.data))
            return Ready()

        members = {'adopt': adopt, 'check': check}
        kind = type('Taken', (machine(ExternalResources()),), members)
        world = self.create_cluster_world(handlers={'Taken': kind})
        node = world.insert_node(
            world.profile(type_='taken'), 'n', physical_id='x', kept={'adopted': True}
        )

        world.run_action(NODE_CHECK, node)
        taken = world.reload(node)
        world.run_action(NODE_CHECK, node)

        self.assertEqual(
            ('ACTIVE', {'output': 'taken over'}), (taken.status, taken.attributes)
        )
        self.assertEqual([('adopt', 'x'), ('check', {'ours': True})], calls)


class TestRecovering(NodeCase):
    def recovered(self, **inputs):
        world, node = self.create_active_node()
        world.save(node, status='ERROR', status_reason='broken')
        world.external.calls.clear()
        return world, node, world.run_action(NODE_RECOVER, node, inputs)

    def test_each_recovery_calls_its_operation(self):
        for operation, calls in (
            ('REBOOT', ['reboot']),
            ('REBUILD', ['rebuild']),
            ('RECREATE', ['delete', 'create']),
            (None, ['delete', 'create']),
        ):
            with self.subTest(operation=operation):
                world, node, action = self.recovered(operation=operation)

                done = operation or 'RECREATE'
                self.assertEqual(('SUCCEEDED', done), operation_of(action))
                self.assertEqual(calls, [call for call, _ in world.external.calls])
                row = world.reload(node)
                self.assertEqual(('ACTIVE', 'Recovery succeeded'), status_of(row))
                self.assertEqual({'recovery': done}, row.data)

    def test_a_recovery_continues_only_if_its_check_finds_the_node_unhealthy(self):
        needless = 'Recovery not needed: the node is healthy'
        succeeded = 'Recovery succeeded'
        for missing, inputs, calls, reason in (
            (False, {'operation': 'REBOOT'}, ['check'], needless),
            (True, {}, ['check', 'delete', 'create'], succeeded),
        ):
            with self.subTest(missing=missing):
                world, node = self.create_active_node()
                if missing:
                    world.external.samples.clear()
                else:
                    world.save(node, status='ERROR', status_reason='broken')
                world.external.calls.clear()

                action = world.run_action(NODE_RECOVER, node, {'check': True, **inputs})

                self.assertEqual(calls, [call for call, _ in world.external.calls])
                self.assertEqual(('ACTIVE', reason), status_of(world.reload(node)))
                self.assertEqual('SUCCEEDED', action.status)

    def test_a_fenced_recovery_deletes_the_resource_by_force(self):
        for params, data, fenced in (
            ({'fence_compute': True}, {}, True),
            ({}, {'health': {'fencing': ['COMPUTE']}}, True),
            ({}, {'health': {'fencing': []}}, False),
        ):
            with self.subTest(params=params, data=data):
                deletions = []

                def delete(self, context, deletions=deletions):
                    deletions.append(context.is_fenced)

                kind = type('Host', (machine(ExternalResources()),), {'delete': delete})
                world = self.create_cluster_world(handlers={'Host': kind})
                node = world.insert_node(world.profile(type_='host'), 'n')
                world.create_node(node)
                world.stop()
                action = world.request_action(
                    NODE_RECOVER, node, {'operation_params': params}
                )
                world.store_decisions(action, data)
                world.worker()
                ended = world.wait_for_end(action)

                self.assertEqual(('SUCCEEDED', [fenced]), (ended.status, deletions))

    def test_an_unsupported_recovery_fails_with_the_supported_ones(self):
        world, node = self.create_active_node(type_='plain')

        action = world.run_action(NODE_RECOVER, node, {'operation': 'REBOOT'})

        self.assertEqual(
            (
                'FAILED',
                'REBOOT is not supported by the profile type plain-1.0; RECREATE is, '
                'by all of them',
            ),
            failure_of(action),
        )

    def test_a_recovery_creates_a_node_that_was_never_created(self):
        world = self.create_cluster_world()
        world.external.fails.add(('create', 'n'))
        node = world.insert_node(world.profile(), 'n')
        world.run_action(NODE_CREATE, node)
        world.external.fails.clear()

        action = world.run_action(
            NODE_RECOVER, node, {'operation': 'REBOOT', 'check': True}
        )

        self.assertEqual(('SUCCEEDED', 'RECREATE'), operation_of(action))
        self.assertEqual(
            ['create', 'delete', 'create'], [call for call, _ in world.external.calls]
        )

    def test_a_failed_deletion_stops_an_unforced_recreation(self):
        for force, status, node_status in (
            (False, 'FAILED', 'ERROR'),
            (True, 'SUCCEEDED', 'ACTIVE'),
        ):
            with self.subTest(force=force):
                world, node = self.create_active_node()
                world.external.fails.add(('delete', 'n'))

                action = world.run_action(NODE_RECOVER, node, {'force_recreate': force})

                self.assertEqual(status, action.status)
                self.assertEqual(node_status, world.reload(node).status)

    def test_the_deletion_in_a_recreation_has_a_timeout(self):
        cancelled = []

        def delete(self, context):
            return ResourceInProgress({'for': 'ever'}, 3600.0)

        def cancel(self, context, operation, token):
            cancelled.append((operation, token))

        members = {'delete': delete, 'cancel': cancel}
        kind = type('Slow', (machine(ExternalResources()),), members)
        text = 'The resource of the node was not deleted in 0 s'
        for force, ended in ((False, ('FAILED', text)), (True, ('SUCCEEDED', None))):
            with self.subTest(force=force):
                world = self.create_cluster_world(handlers={'Slow': kind})
                node = world.insert_node(world.profile(type_='slow'), 'n')
                world.create_node(node)
                cancelled.clear()

                action = world.run_action(
                    NODE_RECOVER, node, {'delete_timeout': 0, 'force_recreate': force}
                )

                self.assertEqual(ended, failure_of(action))
                self.assertEqual([('delete', {'for': 'ever'})], cancelled)

    def test_the_recovery_of_a_health_policy_is_executed(self):
        world, node = self.create_pending_node()
        world.save(node, status='ERROR', physical_id='x')
        world.external.samples['x'] = {}
        asked = world.request_action(NODE_RECOVER, node)
        decided = [{'name': 'REBUILD', 'params': {}}]
        world.store_decisions(asked, {'health': {'recover_action': decided}})

        world.worker()

        self.assertEqual(
            ('SUCCEEDED', 'REBUILD'), operation_of(world.wait_for_end(asked))
        )


class TestOperating(NodeCase):
    def operated(self, inputs, type_='sample'):
        world, node = self.create_active_node(type_=type_)
        return world, node, world.run_action(NODE_OPERATION, node, inputs)

    def test_an_operation_of_the_profile_is_executed(self):
        world, node, action = self.operated(
            {'operation': 'patch', 'params': {'colour': 'red'}}
        )

        self.assertEqual(('SUCCEEDED', {'operation': 'patch'}), describe_action(action))
        row = world.reload(node)
        self.assertEqual(
            ('ACTIVE', 'Operation succeeded', {'output': 'red'}),
            (*status_of(row), row.attributes),
        )
        self.assertEqual(
            [
                ('n', 'create.start', 'CREATING'),
                ('n', 'create.end', 'ACTIVE'),
                ('n', 'operation.start', 'OPERATING'),
                ('n', 'operation.end', 'ACTIVE'),
            ],
            world.transitions(),
        )

    def test_unknown_and_invalid_operations_fail(self):
        for inputs, text in (
            ({'operation': 'fly'}, "The requested operation 'fly' is not supported"),
            ({'operation': 'patch', 'params': {}}, 'params.colour: is required'),
        ):
            with self.subTest(inputs=inputs):
                world, node, action = self.operated(inputs)

                self.assertEqual('FAILED', action.status)
                self.assertIn(text, action.status_message)
                self.assertEqual('ACTIVE', world.reload(node).status)

    def test_an_operation_on_a_missing_resource_leaves_the_node_in_error(self):
        world, node = self.create_pending_node()

        action = world.run_action(NODE_OPERATION, node, {'operation': 'reboot'})

        self.assertEqual(('FAILED', []), (action.status, world.external.calls))
        physical_id = world.create_node(node).physical_id
        del world.external.samples[physical_id]
        action = world.run_action(NODE_OPERATION, node, {'operation': 'reboot'})
        self.assertEqual(
            ('FAILED', 'ERROR', f'{physical_id} is not there'),
            (action.status, *status_of(world.reload(node))),
        )


class TestModes(NodeCase):
    """The modes of a detection call different hooks of the handler."""

    def create_modal_node(self, *failing):
        calls = []

        def hook(name):
            def check(self, context):
                calls.append(name)
                if name in failing:
                    raise exceptions.WatcherliteError(f'{name} failed')
                return Ready()

            return check

        members = {name: hook(name) for name in ('check_health', 'check_host')}
        kind = type('Modal', (machine(ExternalResources()),), members)
        world = self.create_cluster_world(handlers={'Modal': kind})
        node = world.insert_node(world.profile(type_='modal'), 'n')
        world.create_node(node)
        return world, node, calls

    def check(self, *failing, modes=(), condition='ANY_FAILED'):
        """Check a node; return its status and reason, and the called hooks."""
        world, node, calls = self.create_modal_node(*failing)
        detection = {
            'recovery_conditional': condition,
            'detection_modes': [
                {
                    'type': mode,
                    **({'options': {'event': 'x'}} if 'EVENT' in mode else {}),
                }
                for mode in modes
            ],
        }
        world.run_action(NODE_CHECK, node, {'detection': detection} if modes else {})
        return (*status_of(world.reload(node)), calls)

    def test_a_check_asks_whether_the_resource_works(self):
        self.assertEqual(
            ('ERROR', 'check_health failed', ['check_health']),
            self.check('check_health', 'check_host'),
        )

    def test_the_modes_are_combined_by_the_condition(self):
        polling, host = 'NODE_STATUS_POLLING', 'HYPERVISOR_STATUS_POLLING'
        both, names = (polling, host), ['check_health', 'check_host']
        for failing, condition, status, reason in (
            (['check_host'], 'ANY_FAILED', 'ERROR', 'check_host failed'),
            (['check_host'], 'ALL_FAILED', 'ACTIVE', 'Check: Node is ACTIVE.'),
            (names, 'ALL_FAILED', 'ERROR', 'check_health failed; check_host failed'),
        ):
            with self.subTest(failing=failing, condition=condition):
                self.assertEqual(
                    (status, reason, names),
                    self.check(*failing, modes=both, condition=condition),
                )

    def test_a_hypervisor_that_works_does_not_make_a_node_active(self):
        world, node, _ = self.create_modal_node()
        world.save(node, status='ERROR', status_reason='it was away')
        mode = {'type': 'HYPERVISOR_STATUS_POLLING'}

        world.run_action(NODE_CHECK, node, {'detection': {'detection_modes': [mode]}})

        self.assertEqual(('ERROR', 'it was away'), status_of(world.reload(node)))

    def test_an_event_is_a_finding_by_itself(self):
        self.assertEqual(('ERROR', 'x', []), self.check(modes=('LIFECYCLE_EVENTS',)))

    def test_a_recovery_with_a_check_asks_whether_the_resource_works(self):
        world, node, calls = self.create_modal_node('check_health')

        world.run_action(NODE_RECOVER, node, {'check': True})

        row = world.reload(node)
        self.assertEqual(
            (['check_health'], 'Recovery succeeded'), (calls, row.status_reason)
        )
