"""The layering rule: imports point down. Exceptions are listed with a reason."""

import ast
import collections
import dataclasses
import functools
import graphlib
import itertools
import pathlib
import textwrap

from tests import base

ROOT = pathlib.Path(__file__).parents[2]

#: Room -> layer. A module belongs to the room with the longest matching prefix. It may
#: import its own room, and every room of a lower layer.
ROOMS = {
    'watcherlite.exceptions': 0,
    'watcherlite.clock': 0,
    'watcherlite.destinations': 0,
    'watcherlite.conf': 0,
    'watcherlite.states': 0,
    'watcherlite.domain': 1,
    'watcherlite.plugins.base': 2,
    'watcherlite.db.clusters': 2,
    'watcherlite.db.credentials': 2,
    'watcherlite.db.query': 2,
    'watcherlite.db.locking': 2,
    'watcherlite.db.projects': 2,
    'watcherlite.db.request_keys': 2,
    'watcherlite.db.requests': 2,
    'watcherlite.db.sessions': 2,
    'watcherlite.db.action_logs': 2,
    'watcherlite.db.audits': 2,
    'watcherlite.db.stacks': 2,
    'watcherlite.db.software': 2,
    'watcherlite.db.api': 2,
    'watcherlite.db.database_clock': 2,
    'watcherlite.execution': 3,
    'watcherlite.applier': 4,
    'watcherlite.engine': 4,
    # Shared by the built-in plugins and the loader.
    'watcherlite.plugins': 4,
    'watcherlite.plugins.openstack': 4,
    'watcherlite.plugins.openstack.resources': 5,
    'watcherlite.plugins.openstack.profiles': 5,
    'watcherlite.plugins.loader': 5,
    'watcherlite.plugins.action_types': 5,
    'watcherlite.plugins.resource_handlers': 5,
    'watcherlite.plugins.policies': 5,
    'watcherlite.plugins.load_balancers': 5,
    'watcherlite.plugins.goals': 5,
    'watcherlite.plugins.strategies': 5,
    'watcherlite.plugins.planners': 5,
    'watcherlite.plugins.scoring_engines': 5,
    'watcherlite.db.sqlalchemy': 5,
    'watcherlite.objects': 5,
    'watcherlite.notifications': 5,
    'watcherlite.messaging': 5,
    'watcherlite.testing': 5,
    'watcherlite.bootstrap': 6,
    'watcherlite.settings': 6,
    'watcherlite.api': 7,
    'watcherlite.cli': 7,
    'watcherlite.dashboard': 7,
    'watcherlite.cmd': 7,
    'watcherlite.cmd.application': 7,
    'watcherlite.wsgi': 8,
}


def pairs(*rows):
    """Return (from, to) -> reason of all pairs of each row, below `watcherlite`."""
    return {
        (f'watcherlite.{source}', f'watcherlite.{target}'): reason
        for sources, targets, reason in rows
        for source, target in itertools.product(sources.split(), targets.split())
    }


#: Allowed imports of rooms in the same or a higher layer: (from, to) -> reason.
SIDEWAYS = pairs(
    ('conf states', 'exceptions', 'every room raises these errors'),
    ('conf', 'destinations', 'options and rules have the same defaults'),
    ('bootstrap', 'settings', 'bootstrap converts options to settings'),
    (
        'db.api',
        'db.clusters db.query db.locking db.projects db.request_keys db.audits '
        'db.stacks db.software db.sessions db.action_logs db.requests '
        'db.credentials',
        'part of the store interface',
    ),
    ('db.clusters', 'db.query', 'clusters are listed with queries'),
    ('db.stacks', 'db.query', 'stacks are listed with queries'),
    ('db.software', 'db.query', 'software configs are listed with queries'),
    ('db.projects', 'db.clusters', 'project names belong to cluster objects'),
    ('db.request_keys', 'db.clusters', 'cluster objects are created with request keys'),
    ('db.request_keys', 'db.requests', 'the objects of a request are recorded'),
    ('engine', 'applier', 'audits store and start plans with the operations on plans'),
    ('engine', 'plugins', 'both validate properties by schemas and mask URLs'),
    (
        'plugins.resource_handlers',
        'plugins.action_types',
        'both send HTTP requests and run allowed executables',
    ),
    (
        'plugins.openstack.resources',
        'plugins.resource_handlers',
        'both raise the same error, and have groups and signal URLs',
    ),
    (
        'plugins.openstack.profiles',
        'plugins.openstack.resources',
        'the servers of nodes are those of stacks with other properties',
    ),
    (
        'plugins.openstack.profiles',
        'plugins.resource_handlers',
        'both raise the same error',
    ),
    (
        'plugins.load_balancers',
        'plugins.action_types',
        'both run commands of the operator',
    ),
    (
        'notifications',
        'messaging',
        'the relay publishes with the notification publisher',
    ),
    ('notifications', 'objects', 'payload classes define the fields of notifications'),
    ('testing', 'db.sqlalchemy', 'the test store is SQLite in memory'),
    ('dashboard', 'api', 'pages show what the API returns'),
    ('cmd.application', 'api dashboard', 'pages are served only if they are enabled'),
    ('cmd', 'api cmd.application', 'daemons serve the API'),
    (
        'cli',
        'cmd',
        'commands share exit codes and options, and `watcherlite standalone` is a '
        'daemon',
    ),
)

#: Rooms that no module of the product may import -> reason.
FOR_OTHERS = {'watcherlite.testing': 'it is for the tests of plugin authors'}

#: (module, imported) -> reason for an import within a function. Loading less is a
#: reason, avoiding a cycle is not.
IN_FUNCTIONS = pairs(
    (
        'bootstrap',
        'messaging.connection',
        'only health checks of the broker need kombu',
    ),
    ('cli.http.access', 'cli.http.keystone', 'only keystone needs openstacksdk'),
    (
        'cli.commands.action_plans cli.commands.audit_templates cli.commands.audits '
        'cli.commands.clusters.specs',
        'cli.input_files',
        'only input files need YAML',
    ),
    (
        'cli.commands.action_plans',
        'domain.documents.plan_document',
        'only input files need YAML',
    ),
    ('cli.command', 'conf', 'help needs no oslo.config'),
    ('cmd.exits', 'conf.masking', 'help needs no oslo.config'),
    (
        'cli.local.execution cli.commands.plan_watch',
        'cli.live_progress',
        'only terminals need rich',
    ),
    ('cli.local.plugin_list', 'plugins.loader', 'help needs no plugins'),
    ('cli.commands.base', 'cli.http.client', 'help needs no requests'),
    (
        'cli.local.run',
        'cli.local.execution',
        'help and validation errors need no database',
    ),
    (
        'cli.commands.stacks.changes cli.commands.stacks.resources '
        'cli.commands.stacks.contents',
        'cli.commands.stacks.template_files',
        'help needs no YAML',
    ),
    (
        'execution.coroutines.event_loop',
        'execution.coroutines.loop_thread',
        'only coroutines need asyncio',
    ),
    (
        'execution.in_flight',
        'execution.coroutines.context',
        'only coroutines need asyncio',
    ),
    ('cmd.application', 'dashboard.deploy', 'an API without pages needs none of them'),
    ('cli.local.standalone', 'cmd.standalone', 'other commands need no daemons'),
    (
        'notifications.encoder',
        'objects.registry',
        'only processes that encode payloads need oslo.versionedobjects',
    ),
    (
        'messaging.factory',
        'messaging.amqp_bus messaging.notification_consumer',
        'in-process messaging needs no kombu',
    ),
    (
        'engine.clusters.actions.node_check',
        'plugins.http_client',
        'only HTTP checks of nodes need aiohttp',
    ),
    (
        'engine.clusters.actions.lifecycle_hooks',
        'plugins.http_client',
        'only lifecycle hooks need aiohttp',
    ),
    (
        'plugins.openstack.connections',
        'plugins.openstack.authentication',
        'only clouds need openstacksdk',
    ),
    (
        'plugins.action_types.http_request',
        'plugins.http_client',
        'plans without HTTP need no aiohttp',
    ),
    (
        'plugins.resource_handlers.health',
        'plugins.http_client',
        'only HTTP checks of processes need aiohttp',
    ),
    (
        'plugins.resource_handlers.http_resource',
        'plugins.http_client',
        'stacks without HTTP need no aiohttp',
    ),
)

#: Maximum number of modules in one folder.
MOST_MODULES = 20

#: Larger folders -> reason.
LARGE_FOLDERS = {
    'watcherlite/plugins/openstack/resources': 'a module for each kind of object',
    'watcherlite/domain': 'what all folders share: each module is one concept of it',
    'watcherlite/execution': 'the core: each module is one concept of it',
    'watcherlite/conf': 'one module for each option group',
    'watcherlite/db/sqlalchemy/statements': 'a module for each kind of rows or changes',
    'watcherlite/api': 'what all mounts share: each module is one concept of it',
}

#: Third-party package -> prefixes of the modules that may import it.
FENCES = {
    'sqlalchemy': ('watcherlite.db.sqlalchemy',),
    'oslo_db': ('watcherlite.db.sqlalchemy',),
    'alembic': ('watcherlite.db.sqlalchemy',),
    'psycopg': ('watcherlite.db.sqlalchemy',),
    'pymysql': ('watcherlite.db.sqlalchemy',),
    'kombu': ('watcherlite.messaging',),
    'amqp': ('watcherlite.messaging',),
    'oslo_messaging': (),
    'oslo_versionedobjects': ('watcherlite.objects',),
    'stevedore': ('watcherlite.plugins.loader',),
    'oslo_log': ('watcherlite.conf',),
    're2': ('watcherlite.domain.patterns',),
    'oslo_config': (
        'watcherlite.conf',
        # These declare options.
        'watcherlite.plugins',
        'watcherlite.bootstrap',
        'watcherlite.settings',
        # oslo.policy, oslo.middleware and keystonemiddleware require a ConfigOpts.
        'watcherlite.api',
        'watcherlite.cli',
        'watcherlite.cmd',
        'watcherlite.dashboard.logins',
    ),
    'oslo_policy': ('watcherlite.api',),
    'oslo_middleware': ('watcherlite.api',),
    'keystonemiddleware': ('watcherlite.api',),
    'falcon': ('watcherlite.api', 'watcherlite.dashboard.application'),
    'prometheus_client': ('watcherlite.api',),
    'bcrypt': ('watcherlite.api',),
    'waitress': ('watcherlite.cmd',),
    'cotyledon': ('watcherlite.cmd',),
    'rich': ('watcherlite.cli',),
    'cliff': ('watcherlite.cli',),
    'jinja2': ('watcherlite.dashboard', 'watcherlite.plugins.load_balancers'),
    'requests': ('watcherlite.plugins.openstack', 'watcherlite.cli.http.client'),
    'aiohttp': ('watcherlite.plugins.http_client',),
    'openstack': (
        'watcherlite.cli.http.keystone',
        'watcherlite.plugins.openstack',
        # Only the type of a result.
        'watcherlite.plugins.base',
    ),
    'keystoneauth1': (
        'watcherlite.cli.http.keystone',
        'watcherlite.dashboard.logins',
        'watcherlite.plugins.openstack',
    ),
    'tests': (),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Import:
    """An import statement and its position."""

    module: str
    path: str
    line: int
    imported: str
    in_function: bool

    def breaks(self, rule: str) -> str:
        return f'{self.path}:{self.line}: {self.module} imports {self.imported}: {rule}'


#: The functions that import a module.
IMPORTING = ('import_module', '__import__')
#: The nodes that contain statements.
BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


def imports_of(module, source, path, modules):
    """Return the imports of a module's source.

    :param modules: names of all modules of the product, to distinguish `from package
        import module` from `from module import name`
    """
    found = []
    package = path.endswith('__init__.py')
    in_expressions = any(name in source for name in IMPORTING)

    def visit(node, in_function):
        inside = in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        for name in _imported(node, module, package, modules):
            found.append(Import(module, path, node.lineno, name, in_function))
        for child in ast.iter_child_nodes(node):
            if in_expressions or isinstance(child, BLOCKS):
                visit(child, inside)

    visit(ast.parse(source), False)
    return found


def _imported(node, module, package, modules):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        begin = node.module or ''
        if node.level:
            parts = module.split('.')
            kept = len(parts) - node.level + (1 if package else 0)
            begin = '.'.join([*parts[:kept], *([begin] if begin else [])])
        names = [f'{begin}.{alias.name}' for alias in node.names]
        return [name if name in modules else begin for name in names]
    if isinstance(node, ast.Call) and node.args:
        # importlib.import_module('watcherlite.x') is an import as well
        called = getattr(node.func, 'attr', getattr(node.func, 'id', None))
        first = node.args[0]
        text = first.value if isinstance(first, ast.Constant) else None
        if called in IMPORTING and isinstance(text, str):
            return [text]
    return []


def room_of(module):
    """Return the room of a module of the product, None if it has none."""
    rooms = [r for r in ROOMS if module == r or module.startswith(f'{r}.')]
    return max(rooms, key=len, default=None)


def broken_rules(imports):
    """Return a line for each import that the tables do not allow."""
    lines = []
    for item in imports:
        top = item.imported.partition('.')[0]
        if top == 'watcherlite':
            rule = _direction(item) or _hidden(item)
        else:
            rule = _fence(item, top)
        if rule:
            lines.append(item.breaks(rule))
    return lines


def _direction(item):
    source, target = room_of(item.module), room_of(item.imported)
    if source is None or target is None:
        missing = item.module if source is None else item.imported
        return f'{missing} is in no room, add it to ROOMS'
    if target in FOR_OTHERS and source != target:
        return f'nothing may, {FOR_OTHERS[target]}'
    if source == target or ROOMS[target] < ROOMS[source]:
        return None
    if (source, target) in SIDEWAYS:
        return None
    return (
        f'imports point down, and {source} (layer {ROOMS[source]}) is not above '
        f'{target} (layer {ROOMS[target]})'
    )


def _hidden(item):
    if not item.in_function or (item.module, item.imported) in IN_FUNCTIONS:
        return None
    return 'an import in a function needs its reason in IN_FUNCTIONS'


def _fence(item, top):
    allowed = FENCES.get(top)
    if allowed is None:
        return None
    if any(item.module == a or item.module.startswith(f'{a}.') for a in allowed):
        return None
    return f'{top} is only for {", ".join(allowed) or "unknown"}'


def cycles(imports):
    """Return one line for each import cycle between parts of the product.

    A part is a module or package directly below `watcherlite`.
    """
    parts = {}
    for item in imports:
        if item.imported.startswith('watcherlite.'):
            source, target = (n.split('.')[1:2] for n in (item.module, item.imported))
            if source and source != target:
                parts.setdefault(source[0], set()).add(target[0])
    try:
        graphlib.TopologicalSorter(parts).prepare()
    except graphlib.CycleError as error:
        return [' -> '.join(reversed(error.args[1]))]
    return []


@functools.cache
def read_product():
    """Return the names of all modules of the product, and all their imports."""
    files = {
        _module_name(path.relative_to(ROOT)): path
        for path in sorted((ROOT / 'watcherlite').rglob('*.py'))
    }
    imports = []
    for module, path in files.items():
        name = str(path.relative_to(ROOT))
        imports += imports_of(module, path.read_text(), name, frozenset(files))
    return frozenset(files), imports


def _module_name(path):
    parts = path.with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


class TestProduct(base.TestCase):
    """The product follows the tables."""

    def setUp(self):
        super().setUp()
        self.modules, self.imports = read_product()

    def test_imports_point_down_and_stay_within_their_fences(self):
        self.assertEqual([], broken_rules(self.imports))

    def test_no_parts_import_each_other_in_a_circle(self):
        self.assertEqual([], cycles(self.imports))

    def test_every_module_has_a_layer(self):
        # These contain only their docstring.
        packages = {'watcherlite', 'watcherlite.db'}

        strays = {m for m in self.modules if room_of(m) is None}

        self.assertEqual(packages, strays)
        for package in packages:
            path = ROOT / package.replace('.', '/') / '__init__.py'
            self.assertEqual(1, len(ast.parse(path.read_text()).body), package)

    def test_folders_have_at_most_20_modules(self):
        folders = collections.Counter(
            str(path.parent.relative_to(ROOT))
            for path in (ROOT / 'watcherlite').rglob('*.py')
            if path.name != '__init__.py'
        )

        large = {name for name, count in folders.items() if count > MOST_MODULES}

        self.assertEqual(set(LARGE_FOLDERS), large)

    def test_every_entry_of_the_tables_is_used(self):
        pairs = {
            (room_of(item.module), room_of(item.imported)) for item in self.imports
        }
        hidden = {
            (item.module, item.imported) for item in self.imports if item.in_function
        }

        self.assertEqual(set(), set(SIDEWAYS) - pairs)
        self.assertEqual(set(), set(IN_FUNCTIONS) - hidden)


class TestChecks(base.TestCase):
    """The checks detect violations."""

    def check(self, module, source):
        modules = frozenset(
            {'watcherlite.domain.actions', 'watcherlite.exceptions', module}
        )
        path = f'{module.replace(".", "/")}.py'
        found = imports_of(module, textwrap.dedent(source), path, modules)
        return [line.partition(': ')[2] for line in broken_rules(found)]

    def test_down_is_allowed_in_every_form(self):
        self.assertEqual(
            [],
            self.check(
                'watcherlite.execution.runner',
                """
                import watcherlite.clock
                from watcherlite import exceptions
                from watcherlite.domain import actions
                from watcherlite.domain.actions import Action
                from . import results
                """,
            ),
        )

    def test_position_is_reported(self):
        found = imports_of(
            'watcherlite.states.x', '\n\nimport kombu', 'a/x.py', frozenset()
        )

        self.assertEqual(
            [
                'a/x.py:3: watcherlite.states.x imports kombu: '
                'kombu is only for watcherlite.messaging'
            ],
            broken_rules(found),
        )

    def test_relative_imports_are_followed(self):
        modules = frozenset({'watcherlite.domain.actions'})
        for module, source, path, imported in (
            ('domain.graph', 'from ..states import NAME', 'domain/graph.py', 'states'),
            ('domain', 'from . import actions', 'domain/__init__.py', 'domain.actions'),
        ):
            (found,) = imports_of(f'watcherlite.{module}', source, path, modules)

            self.assertEqual(f'watcherlite.{imported}', found.imported)

    def test_each_broken_rule_is_reported(self):
        for module, source, imported, rule in (
            (
                'domain.graph',
                'from watcherlite.execution.runner import Runner',
                'watcherlite.execution.runner',
                'imports point down, and watcherlite.domain (layer 1) is not above '
                'watcherlite.execution (layer 3)',
            ),
            (
                'applier.x',
                'import watcherlite.engine.y',
                'watcherlite.engine.y',
                'imports point down, and watcherlite.applier (layer 4) is not above '
                'watcherlite.engine (layer 4)',
            ),
            (
                'execution.runner',
                """
                class Runner:
                    def run(self):
                        from watcherlite.domain import actions
                """,
                'watcherlite.domain.actions',
                'an import in a function needs its reason in IN_FUNCTIONS',
            ),
            (
                'bootstrap',
                'import watcherlite.testing.memory_store',
                'watcherlite.testing.memory_store',
                'nothing may, it is for the tests of plugin authors',
            ),
            (
                'domain.x',
                'from oslo_config.cfg import StrOpt',
                'oslo_config.cfg',
                'oslo_config is only for watcherlite.conf, watcherlite.plugins, '
                'watcherlite.bootstrap, watcherlite.settings, watcherlite.api, '
                'watcherlite.cli, watcherlite.cmd, watcherlite.dashboard.logins',
            ),
            (
                'utils',
                'from watcherlite import exceptions',
                'watcherlite.exceptions',
                'watcherlite.utils is in no room, add it to ROOMS',
            ),
        ):
            self.assertEqual(
                [f'watcherlite.{module} imports {imported}: {rule}'],
                self.check(f'watcherlite.{module}', source),
            )

    def test_a_fence_does_not_apply_to_similar_names(self):
        self.assertEqual([], self.check('watcherlite.domain.x', 'import kombucha'))

    def test_a_function_does_not_hide_an_import_that_points_up(self):
        for source in (
            'def f():\n    from watcherlite.api import x',
            "def f():\n    importlib.import_module('watcherlite.api.x')",
            "x = __import__('watcherlite.api.x')",
            'if TYPE_CHECKING:\n    import watcherlite.api.x',
        ):
            (line,) = self.check('watcherlite.domain.x', source)

            self.assertIn('imports point down', line, source)

    def test_circle_of_parts_is_reported_with_its_path(self):
        imports = [
            Import('watcherlite.a.x', 'x', 1, 'watcherlite.b.y', False),
            Import('watcherlite.b.z', 'z', 1, 'watcherlite.a', False),
            Import('watcherlite.c', 'c', 1, 'watcherlite.a', False),
        ]

        (line,) = cycles(imports)

        self.assertIn(line, ('a -> b -> a', 'b -> a -> b'))
        self.assertEqual([], cycles(imports[:1] + imports[2:]))
