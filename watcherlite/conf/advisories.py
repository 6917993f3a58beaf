"""Warnings about a configuration that is valid but probably not intended.

They are logged at the start and after a reload, and shown by `watcherlite-status
upgrade check`.
"""

import os
import pathlib
import re
import stat
from collections.abc import Iterator

from oslo_config import cfg

from watcherlite.conf import database, secrets, validation

#: Groups of the services that watcherlite replaces -> the replacement.
UPSTREAM: tuple[tuple[str, str], ...] = (
    (r'oslo_messaging_notifications', 'notifications are set in [notifications]'),
    (r'oslo_messaging_\w+', 'the broker is set in [messaging]'),
    (r'watcher_applier|watcher_workflow_engines\..*', 'set [applier]'),
    (r'watcher_decision_engine|watcher_datasources', 'set [engine]'),
    (r'watcher_\w+(\..*)?', 'strategies and planners take parameters'),
    (r'heat_api\w*|senlin_api', 'set [api]'),
    (
        r'(cinder|glance|gnocchi|grafana|heat|ironic|keystone|maas|monasca|neutron|nova|'
        r'placement|prometheus|aetos|senlin)_client',
        'watcherlite calls no such service',
    ),
    (r'clients(_\w+)?', 'watcherlite calls no other service of OpenStack'),
    (r'collector', 'there is no collector of cluster data models'),
    (r'conductor|health_manager|dispatchers|zaqar', 'set [engine] and [clusters]'),
    (
        r'auth_password|trustee|ec2authtoken|paste_deploy|resource_finder_cache|'
        r'constraint_validation_cache|oslo_concurrency|oslo_reports|eventlet_opts',
        'it has no replacement',
    ),
)


def advisories(conf: cfg.ConfigOpts, keys: bool = True) -> list[str]:
    """Return one line for each advisory.

    :param keys: whether to check the location of the encryption key as well
    """
    found = [*_unread_groups(conf), *_writable_files(conf)]
    shared = not database.database_url(conf).startswith('sqlite')
    if keys and shared and not conf.secrets.encryption_keys:
        found.append(key_advice(conf))
    return found


def key_advice(conf: cfg.ConfigOpts) -> str:
    """Return the advice for a database that other hosts may share."""
    return (
        f'the encryption key exists on this host only, in {secrets.key_file(conf)}; '
        f'set {secrets.OPTION} to the same value on all hosts of the database, '
        'starting with this key, and keep a copy separate from the backups of the '
        'database'
    )


def _unread_groups(conf: cfg.ConfigOpts) -> Iterator[str]:
    registered = {name.lower() for name in conf._groups}
    for path, sections in validation.parse_files(validation.config_files(conf)):
        for group in sorted(sections):
            if group.lower() in registered:
                continue
            for pattern, instead in UPSTREAM:
                if re.fullmatch(pattern, group, re.IGNORECASE):
                    yield f'{path}: the group [{group}] is not used; {instead}'
                    break


def _writable_files(conf: cfg.ConfigOpts) -> Iterator[str]:
    """Return a line for each file that is world-writable or replaceable."""
    paths = [pathlib.Path(path) for path in validation.config_files(conf)]
    if conf.api.auth_strategy == 'http_basic':
        paths.append(pathlib.Path(conf.api.http_basic_auth_user_file))
    paths += _policy_files(conf)
    if not conf.secrets.encryption_keys:
        paths.append(secrets.key_file(conf))
    directories: set[pathlib.Path] = set()
    for path in dict.fromkeys(paths):
        if not path.is_file():
            continue
        if _mode(path) & stat.S_IWOTH:
            yield f'{path} is world-writable; run chmod o-w on it'
        directories.add(path.absolute().parent)
    for directory in sorted(directories):
        mode = _mode(directory)
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            yield (
                f'{directory}, which contains configuration files, is world-writable; '
                'run chmod o-w on it'
            )


def _policy_files(conf: cfg.ConfigOpts) -> Iterator[pathlib.Path]:
    """Return the policy file, as oslo.policy would find it."""
    group = conf.oslo_policy if 'oslo_policy' in conf else None
    name = getattr(group, 'policy_file', None) or 'policy.yaml'
    found = conf.find_file(name)
    if found is not None:
        yield pathlib.Path(found)


def _mode(path: pathlib.Path) -> int:
    try:
        return os.stat(path).st_mode
    except OSError:
        # Its users report the problem.
        return 0
