"""The execution of `watcherlite run`, for a parsed command line and document."""

import contextlib
import dataclasses
import sys
import time
from collections.abc import Sequence

from watcherlite import bootstrap, conf, exceptions
from watcherlite.applier import creation, operations
from watcherlite.cli import input_files, wakeup
from watcherlite.cli.formatting import action_count, capitalized, plan_label
from watcherlite.cli.local import dry_run, logs, summary
from watcherlite.cli.local.plan_follower import MANY
from watcherlite.cli.local.session import Session, create, find, skip_stored
from watcherlite.cli.output import Output
from watcherlite.cli.progress import PlainProgress, Progress
from watcherlite.cmd import exits
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.documents.plan_document import PlanDocument, Validate
from watcherlite.plugins.loader import Plugins
from watcherlite.states import action_plan as states

COMMAND = 'watcherlite'


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """The request of the command line.

    :param skip: NAME or NAME=REASON
    :param debug: log to standard error, without live progress
    """

    skip: Sequence[str] = ()
    dry_run: bool = False
    as_json: bool = False
    verbose: bool = False
    debug: bool = False


def prepare(
    configuration: conf.Configuration, request: Request, document: PlanDocument
) -> 'Execution | None':
    """Store a plan for execution; return None after a dry run.

    :raises Invalid: with all problems; nothing is stored
    """
    console = _Console(configuration, request)
    plugins = bootstrap.load_plugins(configuration)
    skipped = input_files.skips(request.skip, (a.name for a in document.actions))
    for reason in skipped.values():
        operations.user_message(reason)
    if request.dry_run:
        creation.check(document, plugins)
        show = dry_run.print_json if request.as_json else dry_run.print_text
        show(document, skipped, console.out)
        return None
    plan = create(configuration, plugins, document, skipped)
    return Execution(configuration, plugins, console, request, plan)


def validator(configuration: conf.Configuration, debug: bool) -> Validate:
    """Return the validation of inputs of a plan that is not executed.

    :param debug: see Request
    """
    _Console(configuration, Request(debug=debug))
    return creation.validator(bootstrap.load_plugins(configuration))


def resume(
    configuration: conf.Configuration, request: Request, text: str
) -> 'Execution':
    """Find a stored plan to continue.

    :param text: the uuid of the plan, or `last`
    :raises NotFound: no such plan
    """
    console = _Console(configuration, request)
    plugins = bootstrap.load_plugins(configuration)
    plan = find(configuration, text)
    if request.skip:
        skip_stored(configuration, plugins, plan, request.skip)
    return Execution(configuration, plugins, console, request, plan)


class _Console:
    """The output: results on `out`, everything else on `err`.

    For programs, standard output contains only one document.
    """

    def __init__(self, configuration: conf.Configuration, request: Request) -> None:
        self.out = Output(sys.stdout)
        self.err = Output(sys.stderr)
        self.progress = self.err if request.as_json else self.out
        self.warnings = logs.set_up(configuration, request.debug, self.note)

    def note(self, text: str) -> None:
        """Show a line on standard error."""
        self.err.line(f'{COMMAND}: {text}')


class Execution:
    """An execution of a plan."""

    def __init__(
        self,
        configuration: conf.Configuration,
        plugins: Plugins,
        console: _Console,
        request: Request,
        plan: ActionPlan,
    ) -> None:
        self._plan = plan
        self._conf = configuration
        self._plugins = plugins
        self._console = console
        self._request = request

    def run(self) -> int:
        """Execute the plan; return the exit code."""
        console, plan = self._console, self._plan
        title = capitalized(plan_label(plan.uuid, plan.name))
        count = action_count(plan.total)
        hint = f'{COMMAND} run --resume {plan.uuid}'
        ended = plan.state in states.ENDED
        already = ', ended already' if ended else ''
        console.progress.line(f'{title}: {count}{already}')

        def leave(code: int) -> None:
            text = 'terminated' if ended else f'terminated; resume with: {hint}'
            wakeup.leave_at_once(code, f'{COMMAND}: {text}')

        try:
            session = Session(self._conf, self._plugins, plan, leave)
            with session.interrupts, contextlib.closing(session):
                seconds = 0.0
                resumed = plan.state != states.RECOMMENDED
                if not ended:
                    plan, seconds = self._follow(session, title)
                    ended = True
                if resumed:
                    seconds = summary.seconds_since_start(session.runtime.store, plan)
                return self._show(session, plan, seconds)
        except exceptions.StoreUnavailable as error:
            if ended:
                raise
            raise exceptions.StoreUnavailable(
                f'{error}. Resume with: {hint}'
            ) from error
        except Exception:
            if not ended:
                console.note(f'the plan is stored; resume with: {hint}')
            raise

    def _follow(self, session: Session, title: str) -> tuple[ActionPlan, float]:
        progress = self._progress(title, session)
        details = True if self._request.verbose else None
        with progress:
            if not isinstance(progress, PlainProgress):
                # Live progress and the log exclude each other on a terminal.
                self._console.warnings.show = progress.note
            try:
                return session.execute(progress, details)
            except exceptions.LeaseLost as error:
                # Running plugins cannot be stopped in any other way.
                self._console.note(str(error))
                session.leave(exits.UNAVAILABLE)
                raise
            finally:
                self._console.warnings.show = self._console.note

    def _progress(self, title: str, session: Session) -> Progress:
        stream = self._console.progress
        large = session.plan.total > MANY
        scrolls = self._request.debug or (self._request.verbose and large)
        if scrolls or not stream.is_terminal:
            return PlainProgress(stream, time.monotonic)
        # rich is slow to import, and only needed on terminals.
        from watcherlite.cli import live_progress

        # The actions of a large plan are counted, without a tree.
        found = (
            [] if large else summary.actions(session.runtime.store, session.plan, None)
        )
        members = {action.uuid: action for action in found}
        parents = {
            action.id: [members[u].id or 0 for u in action.parents if u in members]
            for action in members.values()
        }
        return live_progress.LiveTree(stream, title, parents)

    def _show(self, session: Session, plan: ActionPlan, seconds: float) -> int:
        store, out = session.runtime.store, self._console.out
        if self._request.as_json:
            summary.print_json(store, plan, out)
        else:
            every = self._request.verbose or plan.total <= MANY
            summary.print_text(store, plan, out, every=every, seconds=seconds)
        if plan.state == states.SUCCEEDED:
            return exits.SUCCESS
        self._console.note(summary.reason(store, plan))
        if plan.state == states.CANCELLED and session.interrupts.received:
            return wakeup.CODES[session.interrupts.received]
        return exits.FAILURE
