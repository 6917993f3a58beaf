"""The payloads of notifications of clusters and of their nodes."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


@base.register
class ClusteringActionPayload(base.Payload):
    """The constant fields of the action of a notification."""

    # Version 1.0: the first
    VERSION = '1.0'

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'action_type': fields.StringField(),
    }


class OwnedPayload(base.Payload):
    """The common fields of clusters and nodes.

    They have neither the properties of the profile nor the data of policies and
    handlers, which may have secrets.
    """

    # Version 1.0: the first
    VERSION = '1.0'
    obj_relationships = {'action': [('1.0', '1.0')], 'fault': [('1.0', '1.0')]}

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'tenant_id': fields.StringField(),
        'user_id': fields.StringField(nullable=True),
        'domain_id': fields.StringField(nullable=True),
        'profile_uuid': fields.UUIDField(nullable=True),
        'metadata': fields.FlexibleDictField(),
        'state': fields.StringField(),
        'status_reason': fields.StringField(nullable=True),
        'init_at': fields.DateTimeField(nullable=True),
        **base.TIMES,
        'action': fields.ObjectField('ClusteringActionPayload'),
        'fault': fields.ObjectField('ExceptionPayload', nullable=True),
    }


@base.register
class ClusterActionPayload(OwnedPayload):
    """The payload of cluster.ACTION.start, .end and .error."""

    # Version 1.0: the fields of OwnedPayload 1.0, and these
    VERSION = '1.0'

    fields = {
        'desired_capacity': fields.IntegerField(),
        'min_size': fields.IntegerField(),
        'max_size': fields.IntegerField(),
        'timeout': fields.IntegerField(),
    }


@base.register
class NodeActionPayload(OwnedPayload):
    """The payload of node.ACTION.start, .end and .error."""

    # Version 1.0: the fields of OwnedPayload 1.0, and these
    VERSION = '1.0'

    fields = {
        'cluster_uuid': fields.UUIDField(nullable=True),
        'index': fields.IntegerField(),
        'role': fields.StringField(),
        'physical_id': fields.StringField(nullable=True),
    }
