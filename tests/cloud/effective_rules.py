"""A program for the Python of a service: the rules that allow a role, as JSON.

It is not imported: the service, with the rules that it registers, is installed in the
environment of the cloud.

    python effective_rules.py SERVICE CONFIGURATION ROLE
"""

import json
import logging
import sys
import warnings

import stevedore
from oslo_config import cfg
from oslo_policy import policy


class Target(dict):
    """An object of another project and user."""

    def __missing__(self, name):
        return 'other'


def is_allowed(enforcer, name, role, is_admin):
    """Return whether a rule allows a role; a check that fails allows nothing."""
    caller = {
        'roles': [role],
        'is_admin': is_admin,
        'is_admin_project': True,
        'user_id': 'me',
        'project_id': 'mine',
        'tenant_id': 'mine',
        'system_scope': None,
        'domain_id': None,
    }
    try:
        return bool(enforcer.enforce(name, Target(), caller))
    except Exception:
        return False


def main(service, configuration, role):
    """Print the names of the rules that allow a role what others may not.

    It acts on an object of another project, in a request that the service counts as
    one of an administrator.
    """
    warnings.simplefilter('ignore')
    logging.disable()
    options = cfg.ConfigOpts()
    options([f'--config-file={configuration}'], project=service)
    enforcer = policy.Enforcer(options)
    enforcer.suppress_deprecation_warnings = True
    # The checks that a service adds to those of the library.
    stevedore.NamedExtensionManager('oslo.policy.enforcer', [service])
    (extension,) = stevedore.NamedExtensionManager(
        'oslo.policy.policies', [service], invoke_on_load=True
    )
    registered = list(extension.obj)
    enforcer.register_defaults(registered)
    enforcer.load_rules()
    found = [
        rule.name
        for rule in registered
        if is_allowed(enforcer, rule.name, role, True)
        and not is_allowed(enforcer, rule.name, 'no such role', False)
    ]
    print(json.dumps(sorted(found)))


if __name__ == '__main__':
    main(*sys.argv[1:])
