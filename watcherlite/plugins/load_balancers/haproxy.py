"""The load balancer driver that writes configuration files for HAProxy."""

import contextlib
import fcntl
import hashlib
import ipaddress
import os
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg, types

from watcherlite import exceptions
from watcherlite.conf.outgoing_http import Network
from watcherlite.plugins import base, options
from watcherlite.plugins.base import LoadBalancer
from watcherlite.plugins.load_balancers import commands, template

_GROUP = options.group_name(base.LOAD_BALANCERS, 'haproxy')
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]*')
_BALANCE = {
    'ROUND_ROBIN': 'roundrobin',
    'LEAST_CONNECTIONS': 'leastconn',
    'SOURCE_IP': 'source',
}
#: Defaults for the monitor of a policy without one, or with an incomplete one.
_NO_MONITOR: Mapping[str, Any] = {'admin_state_up': False, 'type': 'TCP'}
_MONITOR: Mapping[str, Any] = {
    'http_method': 'GET',
    'url_path': '/',
    'expected_codes': '200',
}


class Frontend(types.String):
    """The type of an option's value: an address with the allowed ports."""

    _SHAPE: ClassVar = re.compile(r'\[?([0-9A-Fa-f.:]+?)\]?:(\d+)(?:-(\d+))?')

    def __call__(self, value: Any) -> str:
        text = str(super().__call__(value))
        self.parts(text)
        return text

    def __repr__(self) -> str:
        return 'Frontend'

    @classmethod
    def parts(cls, text: str) -> tuple[str, int, int]:
        """Return the address, the first port and the last one; raises ValueError."""
        match = cls._SHAPE.fullmatch(text)
        if match is None:
            raise ValueError(f'{text!r} is not ADDRESS:PORT or ADDRESS:FIRST-LAST')
        address, first, last = match.groups()
        low, high = int(first), int(last or first)
        if not 1 <= low <= high <= 65535:
            raise ValueError(f'{text!r} has an invalid range of ports')
        return str(ipaddress.ip_address(address)), low, high


OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.StrOpt(
        'directory',
        mutable=True,
        help='The directory for the file of each load balancer, NAME.cfg; HAProxy is '
        'started with it, as by `haproxy -f /etc/haproxy/haproxy.cfg -f '
        'DIRECTORY`. All engines that run actions on clusters need the same '
        'directory. Without it this driver cannot be used.',
    ),
    cfg.StrOpt(
        'templates',
        mutable=True,
        help='A directory of Jinja2 templates that policies may select by name; '
        'haproxy.cfg in it replaces the built-in one. Only the operator may '
        'have write access.',
    ),
    cfg.MultiOpt(
        'frontends',
        item_type=Frontend(),
        sample_default='127.0.0.1:8000-8999',
        mutable=True,
        help='An address with the ports at which load balancers may listen: '
        'ADDRESS:PORT, or ADDRESS:FIRST-LAST. Repeat the option to allow '
        'several; nothing is allowed by default. A policy without an address '
        'uses the first.',
    ),
    cfg.ListOpt(
        'networks',
        item_type=Network(),
        default=['127.0.0.0/8', '::1/128'],
        mutable=True,
        help='The networks of permitted members. Users choose the addresses of their '
        'nodes: everything in these networks can be reached through the load '
        'balancer.',
    ),
    cfg.Opt(
        'validate',
        type=commands.CommandOption(),
        sample_default='/usr/sbin/haproxy -c -f {file}',
        mutable=True,
        help='The command whose exit code tells whether a file is valid, before it '
        'replaces the current one; `{file}` is replaced by the file. It starts '
        'with an absolute path and is run without a shell. Without it files are '
        'not checked.',
    ),
    cfg.Opt(
        'reload',
        type=commands.CommandOption(),
        sample_default='/usr/bin/systemctl reload haproxy',
        mutable=True,
        help='The command that reloads HAProxy after a file was written or deleted; '
        'likewise. Without it nothing is run.',
    ),
    cfg.FloatOpt(
        'command_timeout',
        default=30.0,
        min=1,
        max=600,
        mutable=True,
        help='The timeout of each of the two commands, in seconds.',
    ),
)


class HAProxy(LoadBalancer):
    """Write a configuration file for each load balancer, and reload HAProxy.

    Files are replaced atomically: an invalid file never replaces a valid one, and a
    file that cannot be loaded is replaced by the previous one.
    """

    description = 'Writes a file from a template, and reloads HAProxy.'

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return OPTIONS

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any]:
        """Write the file, unless it is loaded already."""
        address = self._frontend(properties['vip'])
        values = self._values(name, address, properties, members)
        text = template.render(
            self.options.templates, properties.get('template'), values
        )
        with self._files(name) as files:
            if not files.has_loaded(text):
                self._exchange(files, text)
        return {'vip_address': address}

    def remove(self, name: str) -> None:
        with self._files(name) as files:
            if files.delete():
                self._reload(files)
            # Last: it makes the next call repeat a failed reload.
            files.delete_record()

    def _exchange(self, files: '_Files', text: str) -> None:
        before = files.text()
        files.write_new(text)
        try:
            self._run('Checking the load balancer', self.options.validate, files.new)
        except BaseException:
            files.new.unlink(missing_ok=True)
            raise
        files.unload()
        files.activate_new()
        try:
            self._reload(files)
        except BaseException:
            # HAProxy cannot reload the directory while an invalid file is in it.
            files.restore(before)
            raise
        files.mark_loaded(text)

    def _reload(self, files: '_Files') -> None:
        self._run('Reloading the load balancer', self.options.reload, files.path)

    def _run(self, what: str, command: str | None, path: pathlib.Path) -> None:
        if command:
            commands.run(what, command, str(path), self.options.command_timeout)

    def _values(
        self,
        name: str,
        address: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        """Return the variables of templates."""
        monitor = properties.get('health_monitor')
        monitor = _NO_MONITOR if monitor is None else {**_MONITOR, **monitor}
        return {
            **properties,
            'name': name,
            'bind': _host(address),
            'balance': _BALANCE[properties['pool']['lb_method']],
            'health_monitor': monitor,
            'members': [
                {
                    **member,
                    'word': template.word(str(member['name'])),
                    'host': _host(self._member_address(member)),
                    'port': _port(member),
                }
                for member in members
            ],
        }

    def _frontend(self, vip: Mapping[str, Any]) -> str:
        """Return the listening address; raises unless allowed."""
        allowed = [Frontend.parts(text) for text in self.options.frontends or ()]
        desired, port = vip.get('address'), vip['protocol_port']
        if desired is not None:
            desired = str(_address(desired, 'vip.address'))
        for address, first, last in allowed:
            if desired in (None, address) and first <= port <= last:
                return address
        raise exceptions.WatcherliteError(
            f'The address {desired or "any"}, port {port}, is not allowed; an operator '
            f'may allow it by the option frontends in the group [{_GROUP}]'
        )

    def _member_address(self, member: Mapping[str, Any]) -> str:
        place = f'The address of the node {member["name"]}'
        address = _address(member['address'], place)
        networks = [ipaddress.ip_network(text) for text in self.options.networks]
        if not any(address in network for network in networks):
            raise exceptions.WatcherliteError(
                f'{place}, {address}, is in none of {", ".join(self.options.networks)} '
                f'(option networks in the group [{_GROUP}])'
            )
        return str(address)

    @contextlib.contextmanager
    def _files(self, name: str) -> Iterator['_Files']:
        """Lock and yield the files of a load balancer."""
        directory = self.options.directory
        if not directory:
            raise exceptions.WatcherliteError(
                'The driver haproxy cannot be used: an operator has to set the option '
                f'directory in the group [{_GROUP}]'
            )
        if not _NAME.fullmatch(name):
            raise exceptions.Invalid(f'{name!r} is not a valid name of a load balancer')
        try:
            lock = open(pathlib.Path(directory, '.lock'), 'a')  # noqa: SIM115
        except OSError as error:
            raise exceptions.WatcherliteError(
                f'{directory} cannot be written to: {error.strerror}'
            ) from error
        # Other workers, and other threads of this one, write there, too.
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                yield _Files(pathlib.Path(directory), name)
            except OSError as error:
                raise exceptions.WatcherliteError(
                    f'{directory}: {error.strerror} ({error.filename})'
                ) from error


class _Files:
    """The file of one load balancer, and the record of its state."""

    def __init__(self, directory: pathlib.Path, name: str) -> None:
        self._directory = directory
        self.path = directory / f'{name}.cfg'
        # Hidden, and without the suffix of files that HAProxy reads.
        self.new = directory / f'.{name}.new'
        self._loaded = directory / f'.{name}.loaded'

    def text(self) -> str | None:
        """Return the content of the file; None: it does not exist."""
        try:
            return self.path.read_text(encoding='utf-8')
        except FileNotFoundError:
            return None

    def has_loaded(self, text: str) -> bool:
        """Return whether this content was loaded."""
        try:
            noted = self._loaded.read_text(encoding='utf-8')
        except FileNotFoundError:
            return False
        return noted == _digest(text) and self.text() == text

    def mark_loaded(self, text: str) -> None:
        """Record that this content was loaded."""
        self._loaded.write_text(_digest(text), encoding='utf-8')

    def unload(self) -> None:
        """Record that the loaded content is unknown."""
        self._loaded.unlink(missing_ok=True)

    def write_new(self, text: str) -> None:
        """Write the new file next to the current one."""
        with open(self.new, 'w', encoding='utf-8') as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def activate_new(self) -> None:
        """Replace the current file by the new one atomically."""
        os.replace(self.new, self.path)
        self._sync()

    def restore(self, before: str | None) -> None:
        """Restore the previous file."""
        if before is None:
            self.delete()
            return
        self.write_new(before)
        self.activate_new()

    def delete(self) -> bool:
        """Delete the file; return whether its content may still be loaded."""
        there = self.path.exists() or self._loaded.exists()
        self.path.unlink(missing_ok=True)
        self._sync()
        return there

    def delete_record(self) -> None:
        """Delete the record of its state."""
        self.new.unlink(missing_ok=True)
        self._loaded.unlink(missing_ok=True)

    def _sync(self) -> None:
        descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _address(text: Any, place: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(str(text))
    except ValueError:
        raise exceptions.WatcherliteError(
            f'{place}: {str(text)[:80]!r} is not an IP address'
        ) from None


def _host(address: str) -> str:
    """Return an address as it is written before a port."""
    return f'[{address}]' if ':' in address else address


def _port(member: Mapping[str, Any]) -> int:
    port = int(member['port'])
    if not 1 <= port <= 65535:
        raise exceptions.WatcherliteError(
            f'The port of the node {member["name"]}: {port} is not a valid port'
        )
    return port
