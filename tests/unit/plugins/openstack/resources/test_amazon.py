"""Resource types with the names of AWS that are others with other names."""

from tests import base
from tests.unit.plugins.openstack.resources import case
from tests.unit.plugins.resource_handlers.group_world import Context
from watcherlite import exceptions
from watcherlite.domain.groups import Pace
from watcherlite.domain.resource_results import Batch, PassOn
from watcherlite.plugins import properties
from watcherlite.plugins.openstack.resources import (
    amazon,
    amazon_devices,
    amazon_scaling,
    amazon_stack,
)
from watcherlite.testing.resources import ResourceRun

UUID = '11111111-2222-3333-4444-555555555555'
OTHER = '66666666-2222-3333-4444-555555555555'
TEMPLATE = 'HeatTemplateFormatVersion: 2012-12-12\n'


class TestDevices(case.ResourceCase):
    def test_a_volume_has_the_size_the_zone_and_the_tags(self):
        storage = self.connection.block_storage
        storage.defaults['volume'] = {'status': 'available'}

        run = self.created(
            amazon_devices.EC2Volume,
            {
                'AvailabilityZone': 'nova',
                'Size': '2',
                'Tags': [{'Key': 'a', 'Value': 'b'}],
            },
        )

        (sent,) = [kw for n, _, kw in storage.calls if n == 'create_volume']
        self.assertEqual(
            ('nova', 2, 'b'),
            (sent['availability_zone'], sent['size'], sent['metadata']['a']),
        )
        self.assertEqual(['show'], list(run.attributes))
        self.assertEqual('COMPLETE', run.check().status)
        with self.assertRaisesRegex(exceptions.Invalid, 'required without a Snapshot'):
            run.fit({'AvailabilityZone': 'nova'})

    def test_a_volume_is_attached_to_an_instance(self):
        storage, compute = self.connection.block_storage, self.connection.compute
        storage.create_volume(
            id=OTHER, status='in-use', attachments=[{'server_id': UUID}]
        )

        run = self.created(
            amazon_devices.EC2VolumeAttachment,
            {'InstanceId': UUID, 'VolumeId': OTHER, 'Device': '/dev/vdb'},
        )

        (call,) = [
            (args, kw)
            for n, args, kw in compute.calls
            if n == 'create_volume_attachment'
        ]
        self.assertEqual(((UUID,), {'volume_id': OTHER, 'device': '/dev/vdb'}), call)
        self.assertEqual(f'{UUID}:{OTHER}', run.physical_id)

    def test_an_address_is_that_of_its_instance(self):
        network = self.connection.network
        network.create_network(id='n', name='public', is_router_external=True)
        network.create_port(id='p', device_id=UUID)
        network.defaults['ip'] = {'floating_ip_address': '203.0.113.5'}

        run = self.created(amazon_devices.ElasticIP, {'InstanceId': UUID})

        record = network.objects['ip'][run.physical_id]
        self.assertEqual(('n', 'p'), (record['floating_network_id'], record['port_id']))
        self.assertEqual('203.0.113.5', run.reference)
        self.assertEqual(run.physical_id, run.attributes['AllocationId'])
        run.update({})
        self.assertIsNone(record['port_id'])
        run.update({'InstanceId': UUID})
        self.assertEqual('p', record['port_id'])

    def test_an_address_is_associated_by_its_text_or_its_id(self):
        network = self.connection.network
        network.create_ip(id='f', floating_ip_address='203.0.113.5')
        network.create_port(id='p', device_id=UUID)
        network.create_port(id=OTHER)
        association = amazon_devices.ElasticIPAssociation

        run = self.created(association, {'InstanceId': UUID, 'EIP': '203.0.113.5'})
        self.assertEqual('f:p', run.physical_id)
        run.update({'AllocationId': 'f', 'NetworkInterfaceId': OTHER})

        self.assertEqual(f'f:{OTHER}', run.physical_id)
        self.assertEqual(OTHER, network.objects['ip']['f']['port_id'])
        settled = self.run_of(association).create(
            {'InstanceId': UUID, 'EIP': '203.0.113.9'}
        )
        self.assertIn('there is no floating IP 203.0.113.9', settled.reason)
        error = self.assertRaises(exceptions.StackValidationFailed, run.fit, {})
        self.assertEqual(
            [
                'properties.EIP: must be given, without AllocationId',
                'properties.InstanceId: is required',
            ],
            error.problems,
        )


class TestScaling(base.TestCase):
    def test_a_group_has_instances_of_its_launch_configuration(self):
        launch = ResourceRun(amazon.LaunchConfiguration)
        launch.create({'ImageId': 'i', 'InstanceType': 'small'})
        group = ResourceRun(
            amazon_scaling.AutoScalingGroup,
            dependencies={launch.physical_id: launch.attributes},
        )
        group.properties = group.fit(
            {
                'LaunchConfigurationName': launch.physical_id,
                'AvailabilityZones': ['nova'],
                'MinSize': '2',
                'MaxSize': '3',
                'VPCZoneIdentifier': ['subnet'],
                'Tags': [{'Key': 'a', 'Value': 'b'}],
            }
        )
        handler, context = group._instance(), group._context(group._action(1))
        member = {
            'type': 'AWS::EC2::Instance',
            'properties': {
                'ImageId': 'i',
                'InstanceType': 'small',
                'SubnetId': 'subnet',
                'Tags': [{'Key': 'a', 'Value': 'b'}],
            },
        }

        first = handler.expand(context, ()).batches
        details = {'adjustment_type': 'exact_capacity', 'scaling_adjustment': 9}
        grown = handler.adjust(context, (), details).batches

        self.assertEqual(
            [[member] * 2, [member] * 3],
            [list(b.template['resources'].values()) for b in (*first, *grown)],
        )

    def test_sizes_are_checked_under_their_names(self):
        handler = amazon_scaling.AutoScalingGroup()
        cases = [
            {'MinSize': 3, 'MaxSize': 2},
            {'MinSize': 1, 'MaxSize': 2, 'DesiredCapacity': 3},
        ]

        self.assertEqual(
            [
                ['properties.MinSize: 3 is more than MaxSize, 2'],
                [
                    'properties.DesiredCapacity: 3 is not between MinSize, 1, and '
                    'MaxSize, 2'
                ],
            ],
            [
                self.assertRaises(
                    exceptions.StackValidationFailed, handler.validate, case
                ).problems
                for case in cases
            ],
        )

    def test_the_update_policy_is_the_pace_of_changes(self):
        policy = {'MinInstancesInService': '1', 'MaxBatchSize': 2, 'PauseTime': 'PT1M'}
        handler = amazon_scaling.AutoScalingGroup()

        paces = [
            handler.pace(Context({}, update_policy))
            for update_policy in ({}, {'AutoScalingRollingUpdate': policy})
        ]

        self.assertEqual([None, Pace(1, 2, 60)], paces)

    def test_a_policy_forwards_its_adjustment_to_the_group(self):
        run = ResourceRun(amazon_scaling.ScalingPolicy)
        run.create(
            {
                'AutoScalingGroupName': 'group',
                'AdjustmentType': 'PercentChangeInCapacity',
                'ScalingAdjustment': '50',
                'MinAdjustmentStep': 2,
            }
        )

        self.assertEqual({'AlarmUrl': run.reference}, run.attributes)
        self.assertIn('/orchestration/v1/signals/', run.reference)
        self.assertEqual(
            PassOn(
                'group',
                {
                    'adjustment_type': 'percent_change_in_capacity',
                    'scaling_adjustment': 50,
                    'min_adjustment_step': 2,
                    'policy': 'resource',
                },
            ),
            run.signal({}).passed_on,
        )
        with self.assertRaisesRegex(
            exceptions.Invalid,
            'MinAdjustmentStep: only goes with the AdjustmentType Percent',
        ):
            run.fit({**run.properties, 'AdjustmentType': 'ExactCapacity'})


class TestStack(base.TestCase):
    def expand(self, files):
        handler = amazon_stack.Stack()
        given = {
            'TemplateURL': 'http://a/b.template',
            'Parameters': {'x': 1},
            'TimeoutInMinutes': '2',
        }
        fitted = properties.fit(handler, given)
        return handler.expand(Context(fitted, files=files), ())

    def test_the_template_is_among_the_files(self):
        (batch,) = self.expand({'http://a/b.template': TEMPLATE})

        self.assertEqual(
            Batch({'HeatTemplateFormatVersion': '2012-12-12'}, {'x': 1}, timeout=120),
            batch,
        )
        with self.assertRaisesRegex(exceptions.Invalid, 'submit its text'):
            self.expand({})

    def test_its_outputs_are_attributes(self):
        self.assertEqual(
            {'Outputs.a': 1}, amazon_stack.Stack().gather(Context({}), (), {'a': 1})
        )
