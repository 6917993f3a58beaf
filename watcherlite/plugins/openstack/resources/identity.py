"""Projects, domains, users, groups, roles, services, endpoints and regions."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field

_NAME = field(
    fields.TEXT, 'The name; the default is a unique one.', updatable=True, sent=OWN
)
_DOMAIN = field(
    fields.TEXT,
    'The name or id of its domain.',
    default='default',
    sent='domain_id',
    reference=references.DOMAIN,
)
_DESCRIPTION = field(fields.TEXT, 'The description.', default='', updatable=True)
_ROLES = field(
    fields.items(
        fields.mapping(
            {'role': fields.TEXT, 'project': fields.TEXT, 'domain': fields.TEXT},
            ['role'],
        )
    ),
    'Its roles: each a `role` for a `project` or a `domain`, by names or ids.',
    updatable=True,
    sent=OWN,
)
_ENABLED = field(fields.FLAG, 'Whether it is enabled.', default=True, updatable=True)


class LockableResource(CloudResource):
    """An object that keystone can make immutable."""

    service = 'identity'

    def lock(self, context: ResourceContext) -> Result:
        """Let keystone refuse changes and the deletion of the object."""
        return self._run(context, 'lock', lambda c: self._protect(context, c, True))

    def unlock(self, context: ResourceContext) -> Result:
        """Let keystone accept changes of the object again."""
        return self._run(context, 'unlock', lambda c: self._protect(context, c, False))

    def _protect(
        self, context: ResourceContext, connection: Any, protected: bool
    ) -> Result:
        physical_id = str(context.physical_id)
        if self.get(connection, physical_id) is None:
            if protected:
                self.existing(context, connection)
            return None
        context.fence()
        self.change(connection, physical_id, {'options': {'immutable': protected}})
        return None


class Project(LockableResource):
    """A project."""

    description = 'A project; for administrators.'
    noun = 'project'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'domain': _DOMAIN,
        'description': _DESCRIPTION,
        'enabled': _ENABLED,
        'parent': field(
            fields.TEXT,
            'The name or id of the project that contains it.',
            sent='parent_id',
            reference=references.PROJECT,
        ),
        'tags': field(fields.TEXTS, 'The tags.', default=[], updatable=True),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'parent_id': 'The id of the project or domain that contains it.',
        'domain_id': 'The id of its domain.',
        'enabled': 'Whether it is enabled.',
        'is_domain': 'Whether it is a domain.',
    }


class User(CloudResource):
    """A user, with its groups and roles."""

    description = 'A user; for administrators.'
    service = 'identity'
    noun = 'user'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'domain': _DOMAIN,
        'description': _DESCRIPTION,
        'enabled': _ENABLED,
        'email': field(fields.TEXT, 'The address for mail.', updatable=True),
        'password': field(fields.TEXT, 'The password.', updatable=True),
        'default_project': field(
            fields.TEXT,
            'The name or id of the default project.',
            updatable=True,
            sent='default_project_id',
            reference=references.PROJECT,
        ),
        'groups': field(
            fields.TEXTS, 'The names or ids of its groups.', updatable=True, sent=OWN
        ),
        'roles': _ROLES,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'default_project_id': 'The id of the default project.',
        'domain_id': 'The id of its domain.',
        'enabled': 'Whether it is enabled.',
        'password_expires_at': 'The time at which the password expires.',  # nosec B105
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return _role_problems(values)

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return not context.properties.get('groups') and not context.properties.get(
            'roles'
        )

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        self._join(context, connection, {})

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        if {'groups', 'roles'} & set(names):
            self._join(context, connection, context.before)
        return None

    def _join(
        self, context: ResourceContext, connection: Any, before: Mapping[str, Any]
    ) -> None:
        """Give the user its groups and roles, and take the former ones."""
        identity, user = connection.identity, str(context.physical_id)
        groups = _groups(connection, context.properties)
        for group in sorted(_groups(connection, before) - groups):
            identity.remove_user_from_group(user, group)
        for group in sorted(groups):
            identity.add_user_to_group(user, group)
        _assign(connection, context, before, 'user')


def _role_problems(values: Mapping[str, Any]) -> list[str]:
    """Return the problems of the roles of a user or a group."""
    return [
        f'properties.roles.{at}: either project or domain is required'
        for at, item in enumerate(values.get('roles') or ())
        if item and ('project' in item) == ('domain' in item)
    ]


def _assign(
    connection: Any, context: ResourceContext, before: Mapping[str, Any], noun: str
) -> None:
    """Assign the roles to a user or a group, and take the former ones."""
    identity, holder = connection.identity, str(context.physical_id)
    roles = _roles(connection, context.properties)
    for kind, target, role in sorted(_roles(connection, before) - roles):
        take = getattr(identity, f'unassign_{kind}_role_from_{noun}')
        take(target, holder, role)
    for kind, target, role in sorted(roles):
        getattr(identity, f'assign_{kind}_role_to_{noun}')(target, holder, role)


def _groups(connection: Any, properties: Mapping[str, Any]) -> set[str]:
    return set(references.GROUP.ids_of(connection, properties.get('groups') or []))


def _roles(connection: Any, properties: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    """Return the roles: project or domain, its id, and the id of the role."""
    found = set()
    for item in properties.get('roles') or ():
        role = references.ROLE.id_of(connection, item['role'])
        if item.get('project'):
            project = references.PROJECT.id_of(connection, item['project'])
            found.add(('project', project, role))
        else:
            domain = references.DOMAIN.id_of(connection, item['domain'])
            found.add(('domain', domain, role))
    return found


class Role(LockableResource):
    """A role."""

    description = 'A role; for administrators.'
    noun = 'role'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'domain': field(
            fields.TEXT,
            'The name or id of its domain; the default is none.',
            sent='domain_id',
            reference=references.DOMAIN,
        ),
    }


class Domain(LockableResource):
    """A domain, which is disabled before it is deleted."""

    description = 'A domain; for administrators.'
    noun = 'domain'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'enabled': _ENABLED,
    }

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        physical_id = str(context.physical_id)
        if self.get(connection, physical_id) is not None:
            self.change(connection, physical_id, {'enabled': False})
            super().destroy(connection, context)


class Group(CloudResource):
    """A group of users, with its roles."""

    description = 'A group of users; for administrators.'
    service = 'identity'
    noun = 'group'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'domain': _DOMAIN,
        'description': _DESCRIPTION,
        'roles': _ROLES,
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return _role_problems(values)

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return not context.properties.get('roles')

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        _assign(connection, context, {}, 'group')

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        if 'roles' in names:
            _assign(connection, context, context.before, 'group')
        return None


class Service(CloudResource):
    """A service in the catalog."""

    description = 'A service in the catalog; for administrators.'
    service = 'identity'
    noun = 'service'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'type': field(
            fields.TEXT,
            'The type, for example `compute`.',
            required=True,
            updatable=True,
        ),
        'enabled': _ENABLED,
    }


class Endpoint(CloudResource):
    """An endpoint of a service in the catalog."""

    description = 'An endpoint of a service in the catalog; for administrators.'
    service = 'identity'
    noun = 'endpoint'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'region': field(
            fields.TEXT,
            'The id of its region.',
            updatable=True,
            sent='region_id',
            reference=references.REGION,
        ),
        'service': field(
            fields.TEXT,
            'The name or id of its service.',
            required=True,
            updatable=True,
            sent='service_id',
            reference=references.SERVICE,
        ),
        'interface': field(
            fields.one_of('public', 'internal', 'admin'),
            'The interface.',
            required=True,
            updatable=True,
        ),
        'url': field(fields.TEXT, 'The URL.', required=True, updatable=True),
        'enabled': _ENABLED,
    }

    def search(self, connection: Any, filters: Mapping[str, Any]) -> Any:
        """Return all endpoints: keystone does not filter them by name."""
        return connection.identity.endpoints()


class Region(CloudResource):
    """A region of the catalog, found by its id."""

    description = 'A region of the catalog; for administrators.'
    service = 'identity'
    noun = 'region'
    properties: ClassVar[Mapping[str, Property]] = {
        'id': field(fields.TEXT, 'The id; the default is a unique one.', sent=OWN),
        'parent_region': field(
            fields.TEXT,
            'The id of the region that contains it.',
            updatable=True,
            sent='parent_region_id',
            reference=references.REGION,
        ),
        'description': _DESCRIPTION,
        'enabled': field(
            fields.FLAG,
            'Accepted for templates of Heat: keystone cannot disable a region.',
            default=True,
            updatable=True,
            sent=OWN,
        ),
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        desired = context.properties.get('id') or context.resource_uuid.replace('-', '')
        return {**body, 'id': desired}

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        body = self.body(context, connection)
        context.fence()
        return self._ready(connection, self.make(connection, body))

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return the region of this id, if it is as it was to be created."""
        body = self.body(context, connection)
        found = self.get(connection, body['id'])
        if found is None:
            return None
        record = record_of(found)
        names = ('description', 'parent_region_id')
        if any((record.get(n) or '') != (body.get(n) or '') for n in names):
            return None
        return ResourceInProgress({'step': 'wait'}, 0.0, body['id'])

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False
