"""The plan document: the description of an action plan.

    name: nightly                  # optional
    on_failure: continue           # continue | stop | rollback
    max_parallel: 8                # optional
    actions:
    - name: drain                  # unique in the document
      action_type: http_request
      input_parameters: {method: POST, url: "http://127.0.0.1:8000/drain"}
    - name: restart
      action_type: command
      parents: [drain]
      timeout: 30                  # seconds; also target, not_before

All problems of a document are found in one pass, each with its path and line.
"""

import dataclasses
import datetime
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain import graph
from watcherlite.domain.documents import bounded_list
from watcherlite.domain.documents import plan_values as values
from watcherlite.domain.documents.bounded_list import BoundedList
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.markup import Markup, problem_line
from watcherlite.domain.documents.yaml_values import Path

T = TypeVar('T')

#: The path whose line to report, the path to show, the problem.
_Found = tuple[Path, Path, str]
#: Called with an action's type and inputs. Raises PluginError if there is no such type,
#: InvalidInput if the inputs are invalid.
Validate = Callable[[str, Mapping[str, Any]], None]
#: The prefix of the paths of invalid inputs in messages.
_INPUT_PATH = re.compile(r'input_parameters(\.[\w-]+)*(?=: )')

_PLAN_KEYS = ('name', 'on_failure', 'max_parallel', 'actions')
_ACTION_KEYS = (
    'name',
    'action_type',
    'input_parameters',
    'parents',
    'timeout',
    'target',
    'not_before',
)
#: Keys whose problems do not affect the inputs.
_ASIDE = frozenset(_ACTION_KEYS) - {'action_type', 'input_parameters'}


@dataclasses.dataclass(frozen=True, slots=True)
class ActionDocument:
    """An action, as written.

    :param timeout: whole seconds; 0: the option `default_action_timeout`
    :param not_before: aware, UTC
    """

    name: str
    action_type: str
    input_parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    parents: tuple[str, ...] = ()
    timeout: int = 0
    target: str | None = None
    not_before: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class PlanDocument:
    """A valid plan, as written.

    :param actions: in the order of the document
    :param markup: the source text, for the positions of problems that are found later;
        None if there is none
    """

    name: str | None
    on_failure: str
    max_parallel: int | None
    actions: tuple[ActionDocument, ...]
    markup: Markup | None = dataclasses.field(default=None, repr=False, compare=False)

    def parents(self) -> list[list[int]]:
        """Return the graph: for each action the indexes of its parents."""
        index = {action.name: i for i, action in enumerate(self.actions)}
        return [[index[name] for name in action.parents] for action in self.actions]

    def topological_order(self) -> list[ActionDocument]:
        """Return the actions in topological order, otherwise as written."""
        return [self.actions[i] for i in graph.order(self.parents())]


class Draft:
    """A parsed document, and its problems.

    :ivar document: None if it cannot be examined further
    """

    def __init__(
        self,
        document: PlanDocument | None,
        problems: Iterable[_Found] = (),
        markup: Markup | None = None,
        dropped: int = 0,
    ) -> None:
        self.document = document
        self._problems: BoundedList[_Found] = BoundedList()
        for problem in problems:
            self._problems.append(problem)
        self._problems.dropped += dropped
        self._markup = markup

    def check_inputs(self, validate: Validate) -> None:
        """Validate the types and inputs of all actions as far as possible.

        If keys are misspelt, inputs may be incomplete; then only the type is validated.
        """
        paths = [path for path, _, _ in self._problems]
        if self._markup is not None:
            paths += [path for _, path, _ in self._markup.problems]
        keys = {path[1:3] for path in paths if path[:1] == ('actions',)}
        spoilt = {key[0] for key in keys if len(key) == 2 and key[1] not in _ASIDE}
        for index, action in enumerate(self.document.actions if self.document else ()):
            if self._problems.is_full:
                # Further problems are not shown, and the search takes time.
                break
            if action.action_type and (index, 'action_type') not in keys:
                self._check(index, action, validate, typed_only=index in spoilt)

    def _check(
        self, index: int, action: ActionDocument, validate: Validate, typed_only: bool
    ) -> None:
        place: Path = ('actions', index)
        label = f'action {action.name}: ' if action.name else ''
        try:
            validate(action.action_type, {} if typed_only else action.input_parameters)
        except exceptions.InvalidInput as error:
            if not typed_only:
                text = str(error)
                path = (*place, *_path_of_error(text))
                self._problems.append((path, place, f'{label}{text}'))
        except exceptions.PluginError as error:
            path = (*place, 'action_type')
            self._problems.append((path, path, f'{label}{error}'))

    def finished(self) -> PlanDocument:
        """Return the document; raises InvalidDocument with all problems."""
        found = _located_lines(self._problems, self._markup)
        if found or self.document is None:
            raise exceptions.InvalidDocument(found)
        return self.document


def draft(text: str | bytes, source: str) -> Draft:
    """Return the plan in a YAML or JSON text, with its problems.

    :param source: the name of the text in messages: its file
    :raises InvalidDocument: it cannot be parsed
    """
    markup = Markup(text, source)
    return _make_draft(markup.value, markup)


def parse(text: str | bytes, source: str) -> PlanDocument:
    """Return the plan in a YAML or JSON text.

    :param source: the name of the text in messages: its file
    :raises InvalidDocument: with all problems, each `FILE:LINE: path: text`
    """
    return draft(text, source).finished()


def from_mapping(obj: object, validate: Validate | None = None) -> PlanDocument:
    """Return the plan in a mapping.

    :param validate: validates the types and inputs of its actions as well
    :raises InvalidDocument: with all problems, each `path: text`
    """
    found = _make_draft(obj, None)
    if validate is not None:
        found.check_inputs(validate)
    return found.finished()


def to_mapping(document: PlanDocument) -> dict[str, Any]:
    """Return a plan as users write it, in JSON; defaults are omitted."""
    found: dict[str, Any] = {
        'on_failure': document.on_failure,
        'actions': [_to_document(action) for action in document.actions],
    }
    for name in ('name', 'max_parallel'):
        if getattr(document, name) is not None:
            found[name] = getattr(document, name)
    return found


def _to_document(action: ActionDocument) -> dict[str, Any]:
    found: dict[str, Any] = {'name': action.name, 'action_type': action.action_type}
    if action.input_parameters:
        found['input_parameters'] = dict(action.input_parameters)
    if action.parents:
        found['parents'] = list(action.parents)
    if action.timeout:
        found['timeout'] = action.timeout
    if action.target is not None:
        found['target'] = action.target
    if action.not_before is not None:
        found['not_before'] = action.not_before.isoformat()
    return found


def check_inputs(document: PlanDocument, validate: Validate) -> None:
    """Validate every action's type and inputs.

    :raises InvalidDocument: with all problems, in the form of `parse`
    """
    checked = Draft(document, markup=document.markup)
    checked.check_inputs(validate)
    checked.finished()


def _path_of_error(text: str) -> Path:
    """Return the path at the start of an InvalidInput, for its line."""
    match = _INPUT_PATH.match(text)
    steps = match.group().split('.') if match else ['input_parameters']
    return tuple(int(step) if step.isdecimal() else step for step in steps)


def _make_draft(obj: object, markup: Markup | None) -> Draft:
    findings = values.Findings()
    document = _plan(findings, obj, markup)
    problems = ((path, path, text) for path, text in findings.problems)
    return Draft(document, problems, markup, findings.problems.dropped)


def _plan(
    findings: values.Findings, obj: object, markup: Markup | None
) -> PlanDocument | None:
    if obj is None:
        findings.add((), 'the document is empty; a plan has actions')
        return None
    if not isinstance(obj, dict):
        findings.add(
            (), f'the document is {kind(obj)}; a plan is a mapping with the key actions'
        )
        return None
    values.check_keys(findings, (), obj, _PLAN_KEYS)
    return PlanDocument(
        name=_read(findings, (), obj, 'name', values.name),
        on_failure=_read(findings, (), obj, 'on_failure', values.on_failure),
        max_parallel=_read(findings, (), obj, 'max_parallel', values.max_parallel),
        actions=tuple(_actions(findings, obj.get('actions'))),
        markup=markup,
    )


def _read(
    findings: values.Findings,
    place: Path,
    obj: Mapping[str, Any],
    key: str,
    reader: Callable[[values.Findings, Path, Any], T],
) -> T:
    """Return the value of a key, read by a function of `plan_values`."""
    return reader(findings, (*place, key), obj.get(key))


def _actions(findings: values.Findings, obj: object) -> list[ActionDocument]:
    path: Path = ('actions',)
    if obj is None or obj == []:
        findings.add(path, 'the plan has no actions; list at least one')
        return []
    if not isinstance(obj, (list, tuple)):
        findings.add(path, f'this is {kind(obj)}; it must be a list of actions')
        return []
    actions: list[ActionDocument] = []
    for i, item in enumerate(obj):
        actions.append(_action(findings, (*path, i), item))
        if findings.problems.is_full:
            # Problems of the others would not be shown.
            return actions
    index: dict[str, int] = {}
    for i, action in enumerate(actions):
        if action.name and index.setdefault(action.name, i) != i:
            findings.add(
                (*path, i, 'name'),
                f'{values.quote(action.name)} is the name of '
                f'actions[{index[action.name]}] already; each action needs its own',
            )
    _check_graph(findings, actions, index)
    return actions


def _action(findings: values.Findings, place: Path, obj: object) -> ActionDocument:
    if not isinstance(obj, dict):
        findings.add(
            place,
            f'this is {kind(obj)}; an action is a mapping with the keys name and '
            'action_type',
        )
        return ActionDocument('', '')
    values.check_keys(findings, place, obj, _ACTION_KEYS)
    for key in ('name', 'action_type'):
        if obj.get(key) is None:
            findings.add(place, f'this action has no {key}')
    read = functools.partial(_read, findings, place, obj)
    return ActionDocument(
        name=read('name', values.name) or '',
        action_type=read('action_type', values.name) or '',
        input_parameters=read('input_parameters', values.inputs),
        parents=read('parents', values.parents),
        timeout=read('timeout', values.timeout),
        target=read('target', values.name),
        not_before=read('not_before', values.not_before),
    )


def _check_graph(
    findings: values.Findings, actions: list[ActionDocument], index: dict[str, int]
) -> None:
    edges: list[list[int]] = []
    for i, action in enumerate(actions):
        edges.append([])
        for n, name in enumerate(action.parents):
            path: Path = ('actions', i, 'parents', n)
            if not name:
                continue
            if name not in index:
                near = findings.closest_name(name, index)
                hint = f'; did you mean {near}?' if near else ''
                findings.add(path, f'there is no action {values.quote(name)}{hint}')
            elif index[name] == i:
                findings.add(path, 'an action cannot wait for itself')
            else:
                edges[-1].append(index[name])
    for cycle in graph.find_cycles(edges):
        names = [actions[i].name for i in (*cycle, cycle[0])]
        findings.add(
            ('actions', cycle[0], 'parents'),
            f'these actions wait for each other: {" -> ".join(names)}; remove one of '
            'them from the parents of the next',
        )


def _located_lines(problems: BoundedList[_Found], markup: Markup | None) -> list[str]:
    """Return problems, including those of the text, sorted by line."""
    if markup is None:
        texts = [problem_line('', place, text) for _, place, text in problems]
        return bounded_list.truncate_lines(texts, problems.dropped)
    dropped = problems.dropped + markup.problems.dropped
    return bounded_list.truncate_lines(markup.located_lines(problems), dropped)
