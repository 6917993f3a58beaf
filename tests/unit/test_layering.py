"""The layering rule: imports point down. Exceptions are listed with a reason."""

import ast
import collections
import dataclasses
import functools
import graphlib
import pathlib
import textwrap

from tests import base

ROOT = pathlib.Path(__file__).parents[2]

#: Room -> layer. A module belongs to the room with the longest name that it begins
#: with. It may import its own room, and every room of a lower layer.
ROOMS = {
    'watcherlite.exceptions': 0,
    'watcherlite.clock': 0,
    'watcherlite.destinations': 0,
    'watcherlite.conf': 0,
    'watcherlite.states': 0,
    'watcherlite.domain': 1,
    'watcherlite.plugins.base': 2,
    'watcherlite.db.clusters': 2,
    'watcherlite.db.query': 2,
    'watcherlite.db.locking': 2,
    'watcherlite.db.projects': 2,
    'watcherlite.db.request_keys': 2,
    'watcherlite.db.sessions': 2,
    'watcherlite.db.action_logs': 2,
    'watcherlite.db.audits': 2,
    'watcherlite.db.stacks': 2,
    'watcherlite.db.api': 2,
    'watcherlite.db.database_clock': 2,
    'watcherlite.execution': 3,
    'watcherlite.applier': 4,
    'watcherlite.engine': 4,
    # Shared by the built-in plugins and the loader.
    'watcherlite.plugins': 4,
    'watcherlite.plugins.loader': 5,
    'watcherlite.plugins.action_types': 5,
    'watcherlite.plugins.resource_handlers': 5,
    'watcherlite.plugins.policies': 5,
    'watcherlite.plugins.load_balancers': 5,
    'watcherlite.plugins.goals': 5,
    'watcherlite.plugins.strategies': 5,
    'watcherlite.plugins.planners': 5,
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
    'watcherlite.wsgi': 8,
}

#: Allowed imports of rooms in the same or a higher layer: (from, to) -> reason.
SIDEWAYS = {
    ('watcherlite.conf', 'watcherlite.exceptions'): 'every room raises these errors',
    ('watcherlite.conf', 'watcherlite.destinations'): (
        'options and rules have the same defaults'
    ),
    ('watcherlite.states', 'watcherlite.exceptions'): 'every room raises these errors',
    (
        'watcherlite.bootstrap',
        'watcherlite.settings',
    ): 'bootstrap converts options to settings',
    ('watcherlite.db.api', 'watcherlite.db.clusters'): 'part of the store interface',
    ('watcherlite.db.api', 'watcherlite.db.query'): 'part of the store interface',
    (
        'watcherlite.db.clusters',
        'watcherlite.db.query',
    ): 'clusters are listed with queries',
    ('watcherlite.db.stacks', 'watcherlite.db.query'): 'stacks are listed with queries',
    ('watcherlite.db.api', 'watcherlite.db.locking'): 'part of the store interface',
    ('watcherlite.db.api', 'watcherlite.db.projects'): 'part of the store interface',
    (
        'watcherlite.db.projects',
        'watcherlite.db.clusters',
    ): 'project names belong to cluster objects',
    (
        'watcherlite.db.api',
        'watcherlite.db.request_keys',
    ): 'part of the store interface',
    (
        'watcherlite.db.request_keys',
        'watcherlite.db.clusters',
    ): 'cluster objects are created with request keys',
    ('watcherlite.db.api', 'watcherlite.db.audits'): 'part of the store interface',
    ('watcherlite.db.api', 'watcherlite.db.stacks'): 'part of the store interface',
    ('watcherlite.engine', 'watcherlite.applier'): (
        'audits store and start plans with the operations on plans'
    ),
    ('watcherlite.engine', 'watcherlite.plugins'): (
        'both validate properties by schemas and mask URLs'
    ),
    ('watcherlite.plugins.resource_handlers', 'watcherlite.plugins.action_types'): (
        'both send HTTP requests and run allowed executables'
    ),
    ('watcherlite.plugins.load_balancers', 'watcherlite.plugins.action_types'): (
        'both run commands of the operator'
    ),
    ('watcherlite.notifications', 'watcherlite.messaging'): (
        'the relay publishes with the notification publisher'
    ),
    ('watcherlite.notifications', 'watcherlite.objects'): (
        'payload classes define the fields of notifications'
    ),
    ('watcherlite.testing', 'watcherlite.db.sqlalchemy'): (
        'the test store is SQLite in memory'
    ),
    ('watcherlite.db.api', 'watcherlite.db.sessions'): 'part of the store interface',
    ('watcherlite.db.api', 'watcherlite.db.action_logs'): 'part of the store interface',
    ('watcherlite.dashboard', 'watcherlite.api'): 'pages show what the API returns',
    ('watcherlite.cmd', 'watcherlite.dashboard'): 'daemons serve the dashboard',
    ('watcherlite.cmd', 'watcherlite.api'): 'daemons serve the API',
    ('watcherlite.cli', 'watcherlite.cmd'): (
        'commands share exit codes and options, and `watcherlite standalone` is a '
        'daemon'
    ),
}

#: Rooms that no module of the product may import -> reason.
FOR_OTHERS = {'watcherlite.testing': 'it is for the tests of plugin authors'}

#: (module, imported) -> reason for an import within a function. Loading less is a
#: reason, avoiding a cycle is not.
IN_FUNCTIONS = {
    ('watcherlite.bootstrap', 'watcherlite.messaging.connection'): (
        'only health checks of the broker need kombu'
    ),
    ('watcherlite.cli.http.access', 'watcherlite.cli.http.keystone'): (
        'only keystone needs openstacksdk'
    ),
    ('watcherlite.cli.commands.action_plans', 'watcherlite.cli.input_files'): (
        'only input files need YAML'
    ),
    (
        'watcherlite.cli.commands.action_plans',
        'watcherlite.domain.documents.plan_document',
    ): ('only input files need YAML'),
    ('watcherlite.cli.commands.audit_templates', 'watcherlite.cli.input_files'): (
        'only input files need YAML'
    ),
    (
        'watcherlite.cli.commands.audits',
        'watcherlite.cli.input_files',
    ): 'only input files need YAML',
    ('watcherlite.cli.commands.clusters.specs', 'watcherlite.cli.input_files'): (
        'only input files need YAML'
    ),
    ('watcherlite.cli.command', 'watcherlite.conf'): 'help needs no oslo.config',
    (
        'watcherlite.cli.local.execution',
        'watcherlite.cli.live_progress',
    ): 'only terminals need rich',
    ('watcherlite.cli.local.plugin_list', 'watcherlite.plugins.loader'): (
        'help needs no plugins'
    ),
    (
        'watcherlite.cli.commands.base',
        'watcherlite.cli.http.client',
    ): 'help needs no requests',
    ('watcherlite.cli.local.run', 'watcherlite.cli.local.execution'): (
        'help and validation errors need no database'
    ),
    (
        'watcherlite.cli.commands.stacks.changes',
        'watcherlite.cli.commands.stacks.template_files',
    ): ('help needs no YAML'),
    (
        'watcherlite.cli.commands.stacks.resources',
        'watcherlite.cli.commands.stacks.template_files',
    ): ('help needs no YAML'),
    (
        'watcherlite.cli.commands.stacks.contents',
        'watcherlite.cli.commands.stacks.template_files',
    ): ('help needs no YAML'),
    ('watcherlite.cli.local.standalone', 'watcherlite.cmd.standalone'): (
        'other commands need no daemons'
    ),
    ('watcherlite.cli.commands.plan_watch', 'watcherlite.cli.live_progress'): (
        'only terminals need rich'
    ),
    ('watcherlite.cmd.exits', 'watcherlite.conf.masking'): 'help needs no oslo.config',
    ('watcherlite.notifications.encoder', 'watcherlite.objects.registry'): (
        'only processes that encode payloads need oslo.versionedobjects'
    ),
    ('watcherlite.messaging.factory', 'watcherlite.messaging.amqp_bus'): (
        'in-process messaging needs no kombu'
    ),
    (
        'watcherlite.engine.clusters.actions.node_check',
        'watcherlite.plugins.http_exchange',
    ): 'only HTTP checks of nodes need requests',
    (
        'watcherlite.engine.clusters.actions.lifecycle_hooks',
        'watcherlite.plugins.http_exchange',
    ): 'only lifecycle hooks need requests',
    (
        'watcherlite.plugins.action_types.http_request',
        'watcherlite.plugins.http_exchange',
    ): 'plans without HTTP need no requests',
    (
        'watcherlite.plugins.action_types.http_parts',
        'watcherlite.plugins.http_exchange',
    ): 'plans without HTTP need no requests',
    (
        'watcherlite.plugins.resource_handlers.health',
        'watcherlite.plugins.http_exchange',
    ): 'only HTTP checks of processes need requests',
    (
        'watcherlite.plugins.resource_handlers.http_resource',
        'watcherlite.plugins.http_exchange',
    ): 'stacks without HTTP need no requests',
}

#: Maximum number of modules in one folder.
MOST_MODULES = 20

#: Larger folders -> reason.
LARGE_FOLDERS = {'watcherlite/execution': 'the core: each module is one concept of it'}

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
    'requests': (
        'watcherlite.plugins.http_exchange',
        'watcherlite.plugins.action_types',
        'watcherlite.cli.http.client',
    ),
    'openstack': ('watcherlite.cli.http.keystone',),
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


def imports_of(module, source, path, modules):
    """Return the imports of a module's source.

    :param modules: names of all modules of the product, to tell `from package
        import module` from `from module import name`
    """
    found = []
    package = path.endswith('__init__.py')

    def visit(node, in_function):
        inside = in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        for name in _imported(node, module, package, modules):
            found.append(Import(module, path, node.lineno, name, in_function))
        for child in ast.iter_child_nodes(node):
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
        called = ast.unparse(node.func).rpartition('.')[2]
        first = node.args[0]
        text = first.value if isinstance(first, ast.Constant) else None
        if called in ('import_module', '__import__') and isinstance(text, str):
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
    return f'{top} is only for {", ".join(allowed) or "nobody"}'


def cycles(imports):
    """Return one line if parts of the product import each other in a circle.

    A part is what stands directly below `watcherlite`.
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
    """The product keeps to the tables."""

    def setUp(self):
        super().setUp()
        self.modules, self.imports = read_product()

    def test_imports_point_down_and_stay_within_their_fences(self):
        self.assertEqual([], broken_rules(self.imports))

    def test_no_parts_import_each_other_in_a_circle(self):
        self.assertEqual([], cycles(self.imports))

    def test_every_module_has_a_room(self):
        # These hold nothing but their docstring.
        packages = {'watcherlite', 'watcherlite.db'}

        strays = {m for m in self.modules if room_of(m) is None}

        self.assertEqual(packages, strays)
        for package in packages:
            path = ROOT / package.replace('.', '/') / '__init__.py'
            with self.subTest(package=package):
                self.assertEqual(1, len(ast.parse(path.read_text()).body))

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
    """The checks find what they are for."""

    def check(self, module, source, path=None):
        modules = frozenset(
            {'watcherlite.domain.actions', 'watcherlite.exceptions', module}
        )
        path = path or f'{module.replace(".", "/")}.py'
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

    def test_upward_import_is_reported_with_both_layers(self):
        self.assertEqual(
            [
                'watcherlite.domain.graph imports watcherlite.execution.runner: '
                'imports point down, and watcherlite.domain (layer 1) is not above '
                'watcherlite.execution (layer 3)'
            ],
            self.check(
                'watcherlite.domain.graph',
                'from watcherlite.execution.runner import Runner',
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

    def test_sideways_needs_an_exception(self):
        self.assertEqual(
            [
                'watcherlite.applier.x imports watcherlite.engine.y: '
                'imports point down, and watcherlite.applier (layer 4) is not above '
                'watcherlite.engine (layer 4)'
            ],
            self.check('watcherlite.applier.x', 'import watcherlite.engine.y'),
        )

    def test_relative_imports_are_followed(self):
        self.assertEqual(
            ['watcherlite.states'],
            [
                item.imported
                for item in imports_of(
                    'watcherlite.domain.graph',
                    'from ..states import NAME',
                    'watcherlite/domain/graph.py',
                    frozenset(),
                )
            ],
        )
        self.assertEqual(
            ['watcherlite.domain.actions'],
            [
                item.imported
                for item in imports_of(
                    'watcherlite.domain',
                    'from . import actions',
                    'watcherlite/domain/__init__.py',
                    frozenset({'watcherlite.domain.actions'}),
                )
            ],
        )

    def test_an_import_in_a_function_needs_a_reason(self):
        self.assertEqual(
            [
                'watcherlite.execution.runner imports watcherlite.domain.actions: '
                'an import in a function needs its reason in IN_FUNCTIONS'
            ],
            self.check(
                'watcherlite.execution.runner',
                """
                class Runner:
                    def run(self):
                        from watcherlite.domain import actions
                """,
            ),
        )

    def test_a_function_does_not_hide_an_import_that_points_up(self):
        for source in (
            'def f():\n    from watcherlite.api import x',
            "def f():\n    importlib.import_module('watcherlite.api.x')",
            "x = __import__('watcherlite.api.x')",
            'if TYPE_CHECKING:\n    import watcherlite.api.x',
        ):
            with self.subTest(source=source):
                (line,) = self.check('watcherlite.domain.x', source)

                self.assertIn('imports point down', line)

    def test_rooms_for_others_are_not_imported(self):
        self.assertEqual(
            [
                'watcherlite.bootstrap imports watcherlite.testing.memory_store: '
                'nothing may, it is for the tests of plugin authors'
            ],
            self.check(
                'watcherlite.bootstrap', 'import watcherlite.testing.memory_store'
            ),
        )

    def test_a_fence_holds_for_submodules_and_not_for_like_names(self):
        self.assertEqual(
            [
                'watcherlite.domain.x imports oslo_config.cfg: oslo_config is only for '
                'watcherlite.conf, watcherlite.plugins, watcherlite.bootstrap, '
                'watcherlite.settings, watcherlite.api, watcherlite.cli, '
                'watcherlite.cmd, watcherlite.dashboard.logins'
            ],
            self.check('watcherlite.domain.x', 'from oslo_config.cfg import StrOpt'),
        )
        self.assertEqual([], self.check('watcherlite.domain.x', 'import kombucha'))

    def test_module_without_a_room_is_reported(self):
        self.assertEqual(
            [
                'watcherlite.utils imports watcherlite.exceptions: '
                'watcherlite.utils is in no room, add it to ROOMS'
            ],
            self.check('watcherlite.utils', 'from watcherlite import exceptions'),
        )

    def test_circle_of_parts_is_reported_with_its_path(self):
        imports = [
            Import('watcherlite.a.x', 'x', 1, 'watcherlite.b.y', False),
            Import('watcherlite.b.z', 'z', 1, 'watcherlite.a', False),
            Import('watcherlite.c', 'c', 1, 'watcherlite.a', False),
        ]

        (line,) = cycles(imports)

        self.assertIn(line, ('a -> b -> a', 'b -> a -> b'))
        self.assertEqual([], cycles(imports[:1] + imports[2:]))
