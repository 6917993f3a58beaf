"""What the tests of the commands let an API answer is what the API answers."""

import jsonschema

from tests import base
from tests.functional.cli import shown, shown_clusters, shown_stacks
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

LATEST = (1, 7)
LATEST_OF_CLUSTERS = (1, 15)


class ShownTest(base.TestCase):
    def check(self, schema, value):
        jsonschema.validate(value, operation.at(schema, LATEST))

    def test_objects_fit_the_schemas_of_the_api(self):
        for schema, value in (
            (goals.GOAL, {**shown.GOAL, **shown.TIMES}),
            (strategies.STRATEGY, shown.STRATEGY),
            (audit_templates.TEMPLATE, shown.TEMPLATE),
            (audits.AUDIT, shown.AUDIT),
            (action_plans.ACTION_PLAN, shown.PLAN),
            (actions.ACTION, shown.ACTION),
            (services.SERVICE, shown.SERVICE),
            (strategies.STATE, shown.STATE),
        ):
            self.check(schema, value)

    def test_lists_fit_the_schemas_of_the_api(self):
        for module, noun, row in (
            (goals, 'goals', shown.GOAL),
            (strategies, 'strategies', shown.STRATEGY),
            (audit_templates, 'audit_templates', shown.TEMPLATE),
            (audits, 'audits', shown.AUDIT),
            (action_plans, 'action_plans', shown.PLAN),
            (actions, 'actions', shown.ACTION),
            (services, 'services', shown.SERVICE),
            (events, 'events', shown.EVENT),
        ):
            self.check(module.COLLECTION, shown.page(noun, row))

    def test_stacks_fit_the_schemas_of_the_api(self):
        for schema, value in (
            (stacks.STACK, shown_stacks.stack()),
            (stacks.COLLECTION, {'stacks': [shown_stacks.LISTED]}),
            (resources.RESOURCE, {'resource': shown_stacks.DETAILED_RESOURCE}),
            (resources.COLLECTION, {'resources': [shown_stacks.RESOURCE]}),
            (stack_events.COLLECTION, {'events': [shown_stacks.EVENT]}),
        ):
            self.check(schema, value)

    def test_clusters_fit_the_schemas_of_the_api(self):
        found = shown_clusters
        for schema, value in (
            (clusters.CLUSTER, {'cluster': found.CLUSTER}),
            (clusters.COLLECTION, {'clusters': [found.CLUSTER]}),
            (clusters.BINDINGS, {'cluster_policies': [found.BINDING]}),
            (nodes.NODE, {'node': found.NODE}),
            (nodes.COLLECTION, {'nodes': [found.NODE]}),
            (cluster_actions.ACTION, {'action': found.ACTION}),
            (cluster_events.COLLECTION, {'events': [found.EVENT]}),
            (receivers.RECEIVER, {'receiver': found.RECEIVER}),
            (specs.PROFILE, {'profile': found.PROFILE}),
            (specs.POLICY, {'policy': found.POLICY}),
            (types.listed('profile_types'), {'profile_types': [found.PROFILE_TYPE]}),
            (types.one('profile_type'), {'profile_type': found.SHOWN_TYPE}),
            (types.OPERATIONS, {'operations': found.OPERATIONS}),
        ):
            jsonschema.validate(value, operation.at(schema, LATEST_OF_CLUSTERS))
