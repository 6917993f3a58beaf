"""The responses of the fake API conform to the schemas of the real API."""

import jsonschema

from tests import base
from tests.functional.cli import api_objects
from tests.functional.cli.clusters import cluster_objects
from tests.functional.cli.stacks import stack_objects
from watcherlite.api import operation
from watcherlite.api.clustering.schemas import actions as cluster_actions
from watcherlite.api.clustering.schemas import clusters, nodes, receivers, specs, types
from watcherlite.api.clustering.schemas import events as cluster_events
from watcherlite.api.infra_optim.schemas import (
    action_plans,
    actions,
    audit_templates,
    audits,
    events,
    goals,
    services,
    strategies,
)
from watcherlite.api.orchestration.schemas import events as stack_events
from watcherlite.api.orchestration.schemas import resources, stacks

LATEST = (1, 8)
LATEST_OF_CLUSTERS = (1, 15)


class ApiObjectsTest(base.TestCase):
    def test_objects_lists_and_stacks_match_the_schemas_of_the_api(self):
        for schema, value in (
            (goals.GOAL, {**api_objects.GOAL, **api_objects.TIMES}),
            (strategies.STRATEGY, api_objects.STRATEGY),
            (audit_templates.TEMPLATE, api_objects.TEMPLATE),
            (audits.AUDIT, api_objects.AUDIT),
            (action_plans.ACTION_PLAN, api_objects.PLAN),
            (actions.ACTION, {**api_objects.ACTION, 'outputs': None}),
            (services.SERVICE, api_objects.SERVICE),
            (strategies.STATE, api_objects.STATE),
            *(
                (module.COLLECTION, api_objects.page(noun, row))
                for module, noun, row in (
                    (goals, 'goals', api_objects.GOAL),
                    (strategies, 'strategies', api_objects.STRATEGY),
                    (audit_templates, 'audit_templates', api_objects.TEMPLATE),
                    (audits, 'audits', api_objects.AUDIT),
                    (action_plans, 'action_plans', api_objects.PLAN),
                    (actions, 'actions', api_objects.ACTION),
                    (services, 'services', api_objects.SERVICE),
                    (events, 'events', api_objects.EVENT),
                )
            ),
            (stacks.STACK, stack_objects.stack()),
            (stacks.COLLECTION, {'stacks': [stack_objects.LISTED]}),
            (resources.RESOURCE, {'resource': stack_objects.DETAILED_RESOURCE}),
            (resources.COLLECTION, {'resources': [stack_objects.RESOURCE]}),
            (stack_events.COLLECTION, {'events': [stack_objects.EVENT]}),
        ):
            jsonschema.Draft202012Validator(operation.at(schema, LATEST)).validate(
                value
            )

    def test_clusters_match_the_schemas_of_the_api(self):
        found = cluster_objects
        for schema, value in (
            (clusters.CLUSTER, {'cluster': found.CLUSTER}),
            (clusters.COLLECTION, {'clusters': [found.CLUSTER]}),
            (clusters.BINDINGS, {'cluster_policies': [found.BINDING]}),
            (nodes.NODE, {'node': found.NODE}),
            (nodes.COLLECTION, {'nodes': [found.NODE]}),
            (cluster_actions.ACTION, {'action': found.ACTION}),
            (cluster_events.COLLECTION, {'events': [found.EVENT]}),
            (receivers.RECEIVER, {'receiver': found.RECEIVER}),
            (specs.PROFILE.one, {'profile': found.PROFILE}),
            (specs.POLICY.one, {'policy': found.POLICY}),
            (types.listed('profile_types'), {'profile_types': [found.PROFILE_TYPE]}),
            (types.one('profile_type'), {'profile_type': found.SHOWN_TYPE}),
            (types.OPERATIONS, {'operations': found.OPERATIONS}),
        ):
            jsonschema.Draft202012Validator(
                operation.at(schema, LATEST_OF_CLUSTERS)
            ).validate(value)
