"""The members of a load balancer."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.unit.plugins.policies.case import PolicyCase, at, uuids
from tests.worlds import raises
from watcherlite import exceptions
from watcherlite.domain.clusters import Node
from watcherlite.domain.outcomes import Retry
from watcherlite.plugins.base import LoadBalancer
from watcherlite.plugins.policies.load_balance import LoadBalance
from watcherlite.testing.policies import (
    CLUSTER,
    POLICY,
    FakePolicyContext,
    fitted,
    make_cluster,
    make_node,
)

IN = 'CLUSTER_SCALE_IN'
NAME = f'{CLUSTER}-{POLICY}'
VIP = {'vip_address': '127.0.0.1'}
BUSY = Retry('it is PENDING_UPDATE', 2.0)


class Balancer(LoadBalancer):
    """Records its calls; each pops and calls a function of `meanwhile`.

    :ivar answers: of the next calls: values, or functions that raise
    """

    def __init__(self, usable: bool = True) -> None:
        super().__init__()
        self.usable = usable
        self.answers: list[Any] = []
        self.calls: list[Any] = []
        self.meanwhile: list[Any] = []

    def is_usable(self) -> bool:
        return self.usable

    def _answer(self, default: Any) -> Any:
        answer = self.answers.pop(0) if self.answers else default
        return answer() if callable(answer) else answer

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any] | Retry:
        self.calls.append([member['name'] for member in members])
        if self.meanwhile:
            self.meanwhile.pop()()
        self.last = (name, list(members))
        found: Mapping[str, Any] | Retry = self._answer(VIP)
        return found

    def remove(self, name: str) -> Retry | None:
        self.calls.append(f'remove {name}')
        found: Retry | None = self._answer(None)
        return found


def web(index: int, member: bool = True, **values: Any) -> Node:
    """Return a node with an address."""
    node = make_node(index, at(index), attributes={'address': f'10.0.0.{index}'})
    if member:
        node = node.evolve(data={'lb_member': node.uuid})
    return node.evolve(**values)


class LoadBalanceTest(PolicyCase):
    """Members."""

    def setUp(self) -> None:
        super().setUp()
        self.balancer = Balancer()

    def run_policy(
        self,
        action_type: str,
        nodes: Sequence[Node],
        properties: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> FakePolicyContext:
        drivers = {'haproxy': self.balancer}
        return self.context(
            *(LoadBalance(), action_type, properties),
            nodes=nodes,
            drivers=drivers,
            **values,
        )

    def members(self, context: FakePolicyContext) -> list[str]:
        return [node.name for node in context.nodes if 'lb_member' in node.data]

    def test_attaching_adds_the_healthy_nodes(self) -> None:
        there = [web(1, False), web(2, False, status='ERROR'), web(3, False)]
        context = self.run_policy('CLUSTER_ATTACH_POLICY', there)

        kept = LoadBalance().attach(context)

        self.assertEqual(
            {'driver': 'haproxy', 'loadbalancer': NAME, 'preexisting': False}, kept
        )
        self.assertEqual({'loadbalancers': {POLICY: VIP}}, context.cluster.data)
        self.assertEqual(['n1', 'n3'], self.members(context))
        self.assertEqual(
            (
                NAME,
                [
                    {'id': uuid, 'name': name, 'address': address, 'port': 80}
                    for uuid, name, address in zip(
                        *(uuids(1, 3), ('n1', 'n3'), ('10.0.0.1', '10.0.0.3')),
                        strict=True,
                    )
                ],
            ),
            self.balancer.last,
        )

    def test_a_failed_attach_leaves_no_members(self) -> None:
        context = self.run_policy('CLUSTER_ATTACH_POLICY', [web(1, False)])
        fails = raises(exceptions.WatcherliteError('no such port'))
        self.balancer.meanwhile = [fails]

        self.assertRaises(exceptions.WatcherliteError, LoadBalance().attach, context)
        self.assertEqual(([], {}), (self.members(context), context.cluster.data))

    def test_detaching_removes_all_members(self) -> None:
        shown = make_cluster(data={'loadbalancers': {POLICY: VIP}, 'k': 'v'})
        context = self.run_policy('CLUSTER_DETACH_POLICY', [web(1)], cluster=shown)

        LoadBalance().detach(context)

        self.assertEqual([f'remove {NAME}'], self.balancer.calls)
        self.assertEqual(
            ([], {'k': 'v'}), (self.members(context), context.cluster.data)
        )

    def test_nodes_are_removed_before_they_are_deleted_or_replaced(self) -> None:
        def deletion(*candidates: int) -> dict[str, Any]:
            found = {'count': len(candidates), 'candidates': uuids(*candidates)}
            return {'deletion': found}

        three, (first,) = [web(1), web(2), web(3)], uuids(1)
        replaced: Any = {'inputs': {'candidates': {first: 'another'}}}
        grows = {'inputs': {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 1}}
        for action_type, there, values, before, after, removed in (
            *(
                (action_type, three, {}, deletion(1, 3), deletion(1, 3), [['n2']])
                for action_type in (IN, 'CLUSTER_DEL_NODES', 'CLUSTER_RESIZE')
            ),
            # No preceding policy has chosen nodes.
            (
                *(IN, [web(1), web(2, status='ERROR'), web(3)]),
                *({'inputs': {'count': 1}}, {}, deletion(2), [['n1', 'n3']]),
            ),
            ('CLUSTER_REPLACE_NODES', three[:2], replaced, {}, {}, [['n2']]),
            ('NODE_DELETE', three[:2], {'node': first}, {}, {}, [['n2']]),
            # The driver was called before the loss of a worker.
            (IN, [web(1, False), web(2)], {}, deletion(1), deletion(1), [['n2']]),
            ('CLUSTER_RESIZE', three[:1], grows, {}, {}, []),
        ):
            self.balancer.calls.clear()
            context = self.run_policy(action_type, there, **values)

            LoadBalance().pre_op(context, before)

            self.assertEqual(
                (after, removed), (before, self.balancer.calls), action_type
            )
            members = removed[-1] if removed else ['n1']
            self.assertEqual(members, self.members(context))

    def test_new_nodes_are_added_and_unhealthy_ones_removed(self) -> None:
        new = [web(1), web(2, status='ERROR'), web(3, False)]
        failed = [web(1, False), web(2)]
        # Another action is about to delete the first, and has removed it from the pool.
        leaving = [web(1, False), web(2, False)]
        for action_type, nodes, node, candidates, members in (
            ('CLUSTER_SCALE_OUT', new, None, [], ['n1', 'n3']),
            # Nodes of a failed removal are added again.
            ('CLUSTER_SCALE_IN', failed, None, uuids(1), ['n1', 'n2']),
            ('NODE_CREATE', leaving, uuids(2)[0], [], ['n2']),
        ):
            self.balancer.calls.clear()
            context = self.run_policy(action_type, nodes, node=node)
            data: dict[str, Any] = {}
            if candidates:
                context.result = 'ERROR'
                data = {'deletion': {'candidates': candidates}}

            LoadBalance().post_op(context, data)

            self.assertEqual(
                (members, [members]), (self.members(context), self.balancer.calls)
            )

    def test_a_failing_driver_restores_the_members(self) -> None:
        there = [web(1), web(2), web(3, False, status='ERROR')]
        context = self.run_policy('CLUSTER_SCALE_IN', there)
        fails = raises(exceptions.WatcherliteError('it cannot be reloaded'))
        self.balancer.meanwhile = [fails]
        data = {'deletion': {'count': 2, 'candidates': uuids(1, 3)}}

        error = self.assertRaises(
            exceptions.WatcherliteError, LoadBalance().pre_op, context, data
        )

        self.assertEqual('it cannot be reloaded', str(error))
        self.assertEqual(
            ([['n2']], ['n1', 'n2']), (self.balancer.calls, self.members(context))
        )

    def test_changes_during_a_call_are_applied(self) -> None:
        context = self.run_policy('CLUSTER_SCALE_OUT', [web(1), web(2)])

        def leaves() -> None:
            context.save(node_data={uuids(1)[0]: {'lb_member': None}})

        self.balancer.meanwhile = [leaves]

        LoadBalance().post_op(context, {})

        self.assertEqual([['n1', 'n2'], ['n2']], self.balancer.calls)

    def test_addresses_and_ports_are_found_by_their_paths(self) -> None:
        for values, pool, address, port in (
            ({'attributes': {'address': 'a', 'port': 1}}, {}, 'a', 1),
            ({'metadata': {'address': 'b', 'port': '2'}}, {}, 'b', 2),
            ({'properties': {'health': {'host': 'c', 'port': 3}}}, {}, 'c', 3),
            (
                {'properties': {'health': {'url': 'http://[::1]:6/x', 'host': 'y'}}},
                {},
                '::1',
                6,
            ),
            ({'attributes': {'ip': 'd'}}, {'protocol_port': 4}, 'd', 4),
            (
                {'attributes': {'address': 'x', 'nets': {'in': 'e', 'at': 5}}},
                {
                    'member_address': 'attributes.nets.in',
                    'member_port': 'attributes.nets.at',
                },
                'e',
                5,
            ),
        ):
            there = make_node(1, at(1)).evolve(**values)
            context = self.run_policy('CLUSTER_SCALE_OUT', [there], {'pool': pool})

            LoadBalance().post_op(context, {})

            (member,) = self.balancer.last[1]
            self.assertEqual((address, port), (member['address'], member['port']))

    def test_a_node_without_an_address_gets_no_requests(self) -> None:
        context = self.run_policy(
            'CLUSTER_SCALE_OUT', [make_node(1, at(1)), web(2, False)]
        )

        with self.assertLogs('watcherlite.plugins.policies', 'WARNING'):
            LoadBalance().post_op(context, {})

        self.assertEqual(['n2'], self.members(context))

    def test_special_characters_are_rejected(self) -> None:
        for properties in (
            {'pool': {'session_persistence': {'cookie_name': 'a b'}}},
            {'health_monitor': {'url_path': '/ \nbackend x'}},
            {'health_monitor': {'expected_codes': '200\n'}},
            {'template': '../etc/passwd'},
            {'vip': {'address': '127.0.0.1 '}},
            {'pool': {'member_address': 'handler.name'}},
        ):
            self.assertRaises(
                exceptions.InvalidSpec, fitted, LoadBalance(), **properties
            )

    def test_a_driver_that_is_changing_the_load_balancer_is_called_again(self) -> None:
        context = self.run_policy('CLUSTER_ATTACH_POLICY', [web(1, False)])
        self.balancer.answers = [BUSY]

        delayed = LoadBalance().attach(context)
        pending = context.cluster.data
        kept = LoadBalance().attach(context)

        since = self.clock.now().isoformat()
        self.assertEqual(
            (
                BUSY,
                {
                    'loadbalancers': {
                        POLICY: {'driver': 'haproxy', 'pending_since': since}
                    }
                },
            ),
            (delayed, pending),
        )
        self.assertEqual('haproxy', (kept or {})['driver'])
        self.assertEqual({'loadbalancers': {POLICY: VIP}}, context.cluster.data)

    def test_a_change_that_takes_too_long_fails(self) -> None:
        context = self.run_policy(
            'CLUSTER_SCALE_OUT', [web(1)], {'lb_status_timeout': 60}
        )
        self.balancer.answers = [BUSY] * 3
        results = []
        for seconds in (60, 1):
            results.append(LoadBalance().post_op(context, {}))
            self.clock.advance(seconds)

        error = self.assertRaises(
            exceptions.WatcherliteError, LoadBalance().post_op, context, {}
        )

        self.assertEqual([BUSY, BUSY], results)
        self.assertEqual(
            'it is PENDING_UPDATE; that takes longer than the lb_status_timeout of 60 '
            'seconds',
            str(error),
        )
        # The next change has all of its time.
        self.balancer.answers = [BUSY]
        self.assertEqual(BUSY, LoadBalance().post_op(context, {}))

    def test_a_service_that_is_not_available_delays_without_a_limit(self) -> None:
        gone = exceptions.ServiceUnavailable('octavia does not respond')
        for hook, action_type, given in (
            ('attach', 'CLUSTER_ATTACH_POLICY', ()),
            ('pre_op', 'NODE_DELETE', ({},)),
            ('post_op', 'CLUSTER_SCALE_OUT', ({},)),
            ('detach', 'CLUSTER_DETACH_POLICY', ()),
        ):
            node = uuids(1)[0] if action_type == 'NODE_DELETE' else None
            context = self.run_policy(action_type, [web(1)], node=node)
            self.balancer.answers = [raises(gone)] * 2
            results = []
            with self.assertLogs('watcherlite.plugins.policies', 'WARNING') as logs:
                for _ in range(2):
                    results.append(getattr(LoadBalance(), hook)(context, *given))
                    self.clock.advance(86400)
            self.assertIn('is delayed by policy a policy: octavia', logs.output[0])

            self.assertEqual([Retry(str(gone), 10.0)] * 2, results, hook)
            self.assertEqual({}, context.cluster.data)

    def test_the_first_usable_driver_serves_a_cluster_that_names_none(self) -> None:
        for named, usable, expected in (
            (None, {'octavia', 'haproxy'}, 'octavia'),
            (None, {'haproxy'}, 'haproxy'),
            # Its error says what is missing.
            (None, set(), 'haproxy'),
            ('haproxy', {'octavia', 'haproxy'}, 'haproxy'),
        ):
            drivers = {
                name: Balancer(name in usable) for name in ('octavia', 'haproxy')
            }
            context = self.context(
                *(LoadBalance(), 'CLUSTER_ATTACH_POLICY'),
                {} if named is None else {'driver': named},
                nodes=[web(1, False)],
                drivers=drivers,
            )
            kept = LoadBalance().attach(context) or {}
            # It stays, whatever is usable later.
            for driver in drivers.values():
                driver.usable = True
            context.binding_data = kept
            LoadBalance().detach(context)

            self.assertEqual(expected, kept['driver'])
            self.assertEqual([['n1'], f'remove {NAME}'], drivers[expected].calls, named)

    def test_the_ids_of_the_driver_are_shown_with_the_binding(self) -> None:
        context = self.run_policy('CLUSTER_ATTACH_POLICY', [])
        ids = {'loadbalancer': 'lb', 'pool': 'p', 'preexisting': True}
        self.balancer.answers = [{**VIP, **ids}]

        self.assertEqual({'driver': 'haproxy', **ids}, LoadBalance().attach(context))

    def test_the_driver_gets_all_fixed_addresses_of_a_server(self) -> None:
        addresses = {
            'front': [
                {'addr': '10.0.0.1', 'version': 4, 'OS-EXT-IPS:type': 'fixed'},
                {'addr': '203.0.113.1', 'version': 4, 'OS-EXT-IPS:type': 'floating'},
            ],
            'back': [{'addr': '10.1.0.1', 'version': 4}],
        }
        given = {'addresses': addresses, 'first_address': '10.1.0.1'}
        context = self.run_policy(
            'CLUSTER_SCALE_OUT', [make_node(1, at(1), attributes=given)]
        )

        LoadBalance().post_op(context, {})

        (member,) = self.balancer.last[1]
        self.assertEqual('10.1.0.1', member['address'])
        self.assertEqual(
            [
                {'network': 'front', 'address': '10.0.0.1'},
                {'network': 'back', 'address': '10.1.0.1'},
            ],
            member['addresses'],
        )
