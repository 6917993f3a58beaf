"""The loader of plugins from entry points. Nothing else imports stevedore.

A plugin that cannot be loaded is recorded with the reason and does not affect others:
its users get the reason, and the list of plugins shows it.
"""

import copy
import dataclasses
import difflib
import functools
import importlib.metadata
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import stevedore
from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.conf import masking
from watcherlite.destinations import Destinations
from watcherlite.plugins import (
    base,
    options,
    parameters,
    properties,
    schemas,
    scoring_engine_containers,
    specs,
)
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings

LOG = logging.getLogger(__name__)

#: Namespace -> the base class required of its plugins, and the noun for one.
KINDS: Mapping[str, tuple[type[Any], str]] = {
    base.ACTION_TYPES: (base.ActionType, 'action type'),
    base.RESOURCE_HANDLERS: (base.ResourceHandler, 'resource handler'),
    base.POLICIES: (base.Policy, 'policy'),
    base.LOAD_BALANCERS: (base.LoadBalancer, 'load balancer'),
    base.GOALS: (base.Goal, 'goal'),
    base.STRATEGIES: (base.Strategy, 'strategy'),
    base.PLANNERS: (base.Planner, 'planner'),
    base.DATA_MODELS: (base.DataModel, 'data model'),
    base.DATASOURCES: (base.DataSource, 'datasource'),
    base.SCORING_ENGINES: (base.ScoringEngine, 'scoring engine'),
    base.SCORING_ENGINE_CONTAINERS: (
        base.ScoringEngineContainer,
        'scoring engine container',
    ),
}
#: Those of a namespace that is not ours.
_OTHER: tuple[type[Any], str] = (object, 'plugin')
REASON_LENGTH = 300
#: Modules below this are built in: other distributions cannot take their names.
OURS = 'watcherlite.'
#: Cache size for the messages about plugins that are not installed. A list of actions
#: looks the same few up for every row, and users choose the names.
MOST_UNKNOWN = 256
#: The number of installed names that the message about an unknown one lists.
MOST_NAMED = 20


@dataclasses.dataclass(frozen=True, slots=True)
class PluginEntry:
    """An entry point as shown to operators.

    :param target: module:Class
    :param error: the reason why it cannot be used, or None
    """

    namespace: str
    name: str
    distribution: str
    version: str
    target: str
    description: str
    error: str | None


class _Candidate:
    """An entry point, imported at most once, on demand."""

    def __init__(
        self, namespace: str, name: str, target: str, load: Callable[[], Any]
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.target = target
        self.plugin: type | None = None
        self.options: Sequence[cfg.Opt] = ()
        self.reason: str | None = None
        self._load = load

    def load(self) -> type | None:
        """Return the class; None if there is a `reason` instead."""
        if self.plugin is None and self.reason is None:
            try:
                self._accept(self._load())
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self.reason = _reason(error)
        return self.plugin

    def _accept(self, plugin: Any) -> None:
        if not isinstance(plugin, type):
            self.reason = f'it is a {type(plugin).__name__}, not a class'
            return
        expected, _ = KINDS.get(self.namespace, _OTHER)
        if not issubclass(plugin, expected):
            self.reason = (
                f'it is no subclass of {expected.__module__}.{expected.__name__}'
            )
            return
        if self.namespace == base.ACTION_TYPES and self.name in base.RESERVED:
            self.reason = 'the name is reserved by watcherlite'
            return
        # Tests check built-in handlers: doing so takes half of the start of a process.
        is_built_in = self.target.startswith(OURS)
        if self.namespace == base.RESOURCE_HANDLERS and not is_built_in:
            self.reason = properties.declaration_problem(plugin)
        elif self.namespace == base.SCORING_ENGINES:
            self.reason = scoring_engine_containers.text_problem(plugin)
        if self.reason is not None:
            return
        self.options = options.of(plugin)
        self.plugin = plugin


class Plugins:
    """The installed plugins, by namespace and name.

    Created by `load`, or by `of` without entry points. Thread-safe.
    """

    def __init__(
        self,
        candidates: Iterable[_Candidate],
        conf: cfg.ConfigOpts | None = None,
        destinations: Callable[[], Destinations] = Destinations,
        clouds: Clouds | None = None,
    ) -> None:
        self.clouds = clouds or Clouds(OpenStackSettings())
        self._all = list(candidates)
        self._conf = conf
        self._destinations = destinations
        self._by_name = _unique(self._all)
        self._made: dict[tuple[str, str], tuple[type[Any], Any]] = {}
        self._not_found = functools.lru_cache(MOST_UNKNOWN)(self._find_similar)
        if conf is not None:
            self._register_options(conf)

    @classmethod
    def of(
        cls,
        *,
        action_types: Mapping[str, type] | None = None,
        resource_handlers: Mapping[str, type] | None = None,
        policies: Mapping[str, type] | None = None,
        load_balancers: Mapping[str, type] | None = None,
        goals: Mapping[str, type] | None = None,
        strategies: Mapping[str, type] | None = None,
        planners: Mapping[str, type] | None = None,
        data_models: Mapping[str, type] | None = None,
        datasources: Mapping[str, type] | None = None,
        scoring_engines: Mapping[str, type] | None = None,
        scoring_engine_containers: Mapping[str, type] | None = None,
        options: cfg.ConfigOpts | None = None,
        destinations: Callable[[], Destinations] = Destinations,
        clouds: Clouds | None = None,
    ) -> 'Plugins':
        """Return plugins from classes, for tests.

        :param destinations, clouds: see `load`
        """
        given = {
            base.ACTION_TYPES: action_types or {},
            base.RESOURCE_HANDLERS: resource_handlers or {},
            base.POLICIES: policies or {},
            base.LOAD_BALANCERS: load_balancers or {},
            base.GOALS: goals or {},
            base.STRATEGIES: strategies or {},
            base.PLANNERS: planners or {},
            base.DATA_MODELS: data_models or {},
            base.DATASOURCES: datasources or {},
            base.SCORING_ENGINES: scoring_engines or {},
            base.SCORING_ENGINE_CONTAINERS: scoring_engine_containers or {},
        }
        return cls(
            [
                _Candidate(
                    namespace,
                    name,
                    f'{plugin.__module__}:{plugin.__qualname__}',
                    functools.partial(_plugin_class, plugin),
                )
                for namespace, plugins in given.items()
                for name, plugin in plugins.items()
            ],
            options,
            destinations,
            clouds,
        )

    def action_type(self, name: str) -> type[base.ActionType]:
        """Return the class of an action type.

        :raises PluginNotFound: none of that name is installed
        :raises PluginError: it cannot be loaded
        """
        return self.plugin(base.ACTION_TYPES, name)

    def make(self, namespace: str, name: str) -> Any:
        """Return a new instance of any plugin; raises what `plugin` does."""
        made = self._made.get((namespace, name))
        if made is None:
            kind = self.plugin(namespace, name)
            made = (kind, self._group(namespace, name))
            self._made[(namespace, name)] = made
        plugin = made[0](made[1])
        if isinstance(plugin, base.Connecting):
            plugin.read_destinations = self._destinations
        if isinstance(plugin, base.CloudClient):
            plugin.clouds = self.clouds
        return plugin

    make_action_type = functools.partialmethod(make, base.ACTION_TYPES)
    make_resource_handler = functools.partialmethod(make, base.RESOURCE_HANDLERS)
    #: A policy is named by its type with the version: `senlin.policy.scaling-1.0`.
    make_policy = functools.partialmethod(make, base.POLICIES)
    make_load_balancer = functools.partialmethod(make, base.LOAD_BALANCERS)
    make_goal = functools.partialmethod(make, base.GOALS)
    make_strategy = functools.partialmethod(make, base.STRATEGIES)
    make_planner = functools.partialmethod(make, base.PLANNERS)
    make_data_model = functools.partialmethod(make, base.DATA_MODELS)
    make_datasource = functools.partialmethod(make, base.DATASOURCES)

    def make_scoring_engine(self, name: str) -> base.ScoringEngine:
        """Return a scoring engine, with an entry point or of a container.

        :raises PluginNotFound: none of that name is installed
        :raises PluginError: it cannot be loaded
        """
        own = self.names(base.SCORING_ENGINES)
        if name in own:
            engine: base.ScoringEngine = self.make(base.SCORING_ENGINES, name)
            return engine
        contained = self._contained_scoring_engines()
        if name in contained:
            return contained[name]
        raise exceptions.PluginNotFound(
            _not_found_text('scoring engine', sorted({*own, *contained}), name)
        )

    def scoring_engines(self) -> dict[str, base.ScoringEngine]:
        """Return the usable scoring engines, by name in alphabetical order."""
        found = self._contained_scoring_engines()
        for name in self.names(base.SCORING_ENGINES):
            # One that cannot be loaded keeps its name.
            found.pop(name, None)
        for name in self.loadable(base.SCORING_ENGINES):
            found[name] = self.make(base.SCORING_ENGINES, name)
        return dict(sorted(found.items()))

    def _contained_scoring_engines(self) -> dict[str, base.ScoringEngine]:
        return scoring_engine_containers.contained(
            {
                name: functools.partial(self.make, base.SCORING_ENGINE_CONTAINERS, name)
                for name in self.loadable(base.SCORING_ENGINE_CONTAINERS)
            }
        )

    def resource_types(self) -> dict[str, type[base.ResourceHandler]]:
        """Return the usable types of resources, by name."""
        return self.loadable(base.RESOURCE_HANDLERS)

    def loadable(self, namespace: str) -> dict[str, Any]:
        """Return the usable classes of a namespace, by name."""
        found = {}
        for name in self.names(namespace):
            plugin = self._by_name[(namespace, name)].load()
            if plugin is not None:
                found[name] = plugin
        return found

    def may_revert(self, name: str) -> bool:
        """Return whether an action type overrides `revert`, or may do so.

        The latter applies to one that is not installed here, or cannot be loaded: its
        execution then fails with the reason.
        """
        try:
            return self.action_type(name).supports('revert')
        except exceptions.PluginError:
            return True

    validate_inputs = staticmethod(schemas.validate_inputs)
    fill_parameters = staticmethod(parameters.fill)
    fit_properties = staticmethod(properties.fit)
    fit_policy = staticmethod(specs.fit)
    check_indicator = staticmethod(parameters.check_indicator)

    def plugin(self, namespace: str, name: str) -> Any:
        """Return a class; raises PluginNotFound or PluginError."""
        candidate = self._by_name.get((namespace, name))
        if candidate is None:
            raise exceptions.PluginNotFound(self._not_found(namespace, name))
        plugin = candidate.load()
        if plugin is None:
            _, noun = KINDS.get(namespace, _OTHER)
            raise exceptions.PluginError(
                f'The {noun} {name} ({candidate.target}) cannot be used: '
                f'{candidate.reason}'
            )
        return plugin

    def names(self, namespace: str) -> tuple[str, ...]:
        """Return the installed plugins, loadable or not, in alphabetical order."""
        return tuple(
            sorted(name for space, name in self._by_name if space == namespace)
        )

    def entries(self) -> list[PluginEntry]:
        """Return every entry point, loaded or not, by namespace and name."""
        origins = _Origins()
        found = []
        for candidate in self._all:
            plugin = candidate.load()
            distribution, version = origins.of(candidate)
            found.append(
                PluginEntry(
                    candidate.namespace,
                    candidate.name,
                    distribution,
                    version,
                    candidate.target,
                    _description(plugin),
                    candidate.reason,
                )
            )
        order = {name: place for place, name in enumerate(base.NAMESPACES)}
        return sorted(
            found, key=lambda e: (order.get(e.namespace, 99), e.name, e.distribution)
        )

    def list_opts(self) -> list[tuple[str, list[cfg.Opt]]]:
        """Return (group, options) of every plugin with options."""
        found = []
        for (namespace, name), candidate in sorted(self._by_name.items()):
            if candidate.load() is not None and candidate.options:
                group = options.group_name(namespace, name)
                # The generator modifies its argument.
                found.append((group, copy.deepcopy(list(candidate.options))))
        return found

    def _register_options(self, conf: cfg.ConfigOpts) -> None:
        for (namespace, name), candidate in self._by_name.items():
            if candidate.load() is not None:
                try:
                    options.register(conf, namespace, name, candidate.options)
                except (cfg.Error, ValueError) as error:
                    candidate.plugin, candidate.reason = None, _reason(error)
        for candidate in self._all:
            if candidate.reason is not None:
                LOG.warning(
                    'The %s %s (%s) cannot be used: %s. Its users will fail; other '
                    'plugins are not affected.',
                    KINDS.get(candidate.namespace, _OTHER)[1],
                    candidate.name,
                    candidate.target,
                    candidate.reason,
                )

    def _group(self, namespace: str, name: str) -> Any:
        if self._conf is not None:
            return self._conf[options.group_name(namespace, name)]
        return options.standalone_group(self.plugin(namespace, name))

    def _find_similar(self, namespace: str, name: str) -> str:
        _, noun = KINDS.get(namespace, _OTHER)
        return _not_found_text(noun, self.names(namespace), name)


def load(
    namespaces: Iterable[str] = base.NAMESPACES,
    options: cfg.ConfigOpts | None = None,
    destinations: Callable[[], Destinations] = Destinations,
    clouds: Clouds | None = None,
) -> Plugins:
    """Return the plugins of some namespaces; a broken one raises nothing.

    :param destinations: returns the servers that users may have connected to
    :param clouds: for plugins that use OpenStack; None: no cloud is configured
    :param options: where to register the plugins' options. With it, all plugins are
        imported now: the content of files can only be validated when all options are
        known. Without it each is imported on demand, and has the defaults of its
        options.
    """
    return Plugins(
        [
            _Candidate(namespace, point.name, point.value, point.load)
            for namespace in namespaces
            # No names: list the entry points without importing any of them.
            for point in stevedore.NamedExtensionManager(
                namespace, names=[]
            ).list_entry_points()
        ],
        options,
        destinations,
        clouds,
    )


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) of all plugins, for oslo-config-generator."""
    return load().list_opts()


def _not_found_text(noun: str, names: Sequence[str], name: str) -> str:
    """Return the message for a name that is not among the installed ones."""
    near = difflib.get_close_matches(name, names, n=1)
    meant = f' Did you mean {near[0]}?' if near else ''
    if len(names) > MOST_NAMED:
        installed = f'`watcherlite plugin list` shows all {len(names)}.'
    else:
        installed = f'Installed: {", ".join(names) or "none"}.'
    return f'There is no {noun} {name}.{meant} {installed}'


def _plugin_class(plugin: type) -> type:
    return plugin


def _unique(candidates: Sequence[_Candidate]) -> dict[tuple[str, str], _Candidate]:
    """Index candidates by name, and refuse those that share one.

    The result must not depend on the order of directories, so both are refused, except
    that built-in plugins always work.
    """
    same: dict[tuple[str, str], list[_Candidate]] = {}
    for candidate in candidates:
        same.setdefault((candidate.namespace, candidate.name), []).append(candidate)
    chosen = {}
    for key, group in same.items():
        ours = [c for c in group if c.target.startswith(OURS)]
        chosen[key] = (ours or group)[0]
        for candidate in group:
            if len(group) == 1 or ours == [candidate]:
                continue
            others = ', '.join(c.target for c in group if c is not candidate)
            candidate.plugin = None
            candidate.reason = f'the name is taken by {others} too; uninstall one'
    return chosen


def _reason(error: BaseException) -> str:
    """Return one line for the exception of an import."""
    if isinstance(error, SystemExit):
        return f'its module called sys.exit({error.code!r}) while it was imported'
    text = masking.mask_text(' '.join(f'{type(error).__name__}: {error}'.split()))
    return text if len(text) <= REASON_LENGTH else text[: REASON_LENGTH - 1] + '…'


def _description(plugin: type | None) -> str:
    if plugin is None:
        return ''
    description = getattr(plugin, 'description', None)
    if isinstance(description, str) and description:
        return description
    return (plugin.__doc__ or '').strip().partition('\n')[0]


class _Origins:
    """The distribution of each entry point.

    Read from the metadata of all distributions, and therefore used only for lists;
    stevedore's own cache, which makes the start fast, does not contain it.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], tuple[str, str]] = {}
        for distribution in importlib.metadata.distributions():
            points = [
                point
                for point in distribution.entry_points
                if point.group in base.NAMESPACES
            ]
            if points:
                # Each access parses the file.
                metadata = distribution.metadata
                origin = (metadata['Name'] or '', metadata['Version'] or '')
                for point in points:
                    key = (point.group, point.name, point.value)
                    self._known.setdefault(key, origin)

    def of(self, candidate: _Candidate) -> tuple[str, str]:
        key = (candidate.namespace, candidate.name, candidate.target)
        return self._known.get(key, ('', ''))
