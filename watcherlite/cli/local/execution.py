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
from watcherlite.cli.local.session import Session, create, find, skip_stored
from watcherlite.cli.output import Output
from watcherlite.cli.progress import MANY, PlainProgress, Progress
from watcherlite.cmd import exits
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.documents.plan_document import PlanDocument, Validate
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
    logs: bool = False
    debug: bool = False


class Execution:
    """An execution of a plan: results on `out`, everything else on `err`.

    For programs, standard output contains only one document.
    """

    def __init__(self, configuration: conf.Configuration, request: Request) -> None:
        self._conf = configuration
        self._request = request
        self._out = Output(sys.stdout)
        self._err = Output(sys.stderr)
        self._shown = self._err if request.as_json else self._out
        self._warnings = logs.set_up(configuration, request.debug, self._print_message)
        self._plugins = bootstrap.load_plugins(configuration)

    def validator(self) -> Validate:
        """Return the validation of inputs of a plan that is not executed."""
        return creation.validator(self._plugins)

    def prepare(self, document: PlanDocument) -> ActionPlan | None:
        """Store a plan and return it; return None after a dry run.

        :raises Invalid: with all problems; nothing is stored
        """
        names = (action.name for action in document.actions)
        skipped = input_files.skips(self._request.skip, names)
        for reason in skipped.values():
            operations.user_message(reason)
        if self._request.dry_run:
            creation.check(document, self._plugins)
            as_json = self._request.as_json
            show = dry_run.print_json if as_json else dry_run.print_text
            show(document, skipped, self._out)
            return None
        return create(self._conf, self._plugins, document, skipped)

    def resume(self, text: str) -> ActionPlan:
        """Return a stored plan to continue.

        :param text: the uuid of the plan, or `last`
        :raises NotFound: no such plan
        """
        plan = find(self._conf, text)
        if self._request.skip:
            skip_stored(self._conf, self._plugins, plan, self._request.skip)
        return plan

    def _print_message(self, text: str) -> None:
        """Show a line on standard error."""
        self._err.line(f'{COMMAND}: {text}')

    def run(self, plan: ActionPlan) -> int:
        """Execute the plan; return the exit code."""
        title = capitalized(plan_label(plan.uuid, plan.name))
        count = action_count(plan.total)
        hint = f'{COMMAND} run --resume {plan.uuid}'
        ended = plan.state in states.ENDED
        already = ', already ended' if ended else ''
        self._shown.line(f'{title}: {count}{already}')

        def exit_run(code: int) -> None:
            text = 'terminated' if ended else f'terminated; resume with: {hint}'
            wakeup.exit_at_once(code, f'{COMMAND}: {text}')

        try:
            session = Session(self._conf, self._plugins, plan, exit_run)
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
                self._print_message(f'the plan is stored; resume with: {hint}')
            raise

    def _follow(self, session: Session, title: str) -> tuple[ActionPlan, float]:
        progress = self._progress(title, session)
        details = True if self._request.verbose else None
        with progress:
            if not isinstance(progress, PlainProgress):
                # Live progress and the log exclude each other on a terminal.
                self._warnings.show = progress.print_message
            try:
                return session.execute(progress, details, self._request.logs)
            except exceptions.LeaseLost as error:
                # Running plugins cannot be stopped in any other way.
                self._print_message(str(error))
                session.leave(exits.UNAVAILABLE)
                raise
            finally:
                self._warnings.show = self._print_message

    def _progress(self, title: str, session: Session) -> Progress:
        stream = self._shown
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
            action.id: [members[u].id for u in action.parents if u in members]
            for action in members.values()
        }
        return live_progress.LiveTree(stream, title, parents)

    def _show(self, session: Session, plan: ActionPlan, seconds: float) -> int:
        store, out = session.runtime.store, self._out
        if self._request.as_json:
            summary.print_json(store, plan, out)
        else:
            every = self._request.verbose or plan.total <= MANY
            summary.print_text(store, plan, out, every=every, seconds=seconds)
        if plan.state == states.SUCCEEDED:
            return exits.SUCCESS
        self._print_message(summary.reason(store, plan))
        if plan.state == states.CANCELLED and session.interrupts.received:
            return wakeup.CODES[session.interrupts.received]
        return exits.FAILURE
