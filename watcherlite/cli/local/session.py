"""The execution of a plan in this process."""

import time
from collections.abc import Callable, Mapping, Sequence

from watcherlite import bootstrap, conf, exceptions
from watcherlite.cli import input_files
from watcherlite.cli.local import summary
from watcherlite.cli.local.plan_follower import Follower
from watcherlite.cli.progress import Progress
from watcherlite.cli.wakeup import Interrupts, Wake
from watcherlite.db.query import Query
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER
from watcherlite.domain.creators import LOCAL
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.plugins.loader import Plugins
from watcherlite.states import action_plan as states

#: The name of the newest plan that has not ended.
LAST = 'last'
#: Seconds to write the results of ended actions.
CLOSING = 1.0


def create(
    configuration: conf.Configuration,
    plugins: Plugins,
    document: PlanDocument,
    skipped: Mapping[str, str | None],
) -> ActionPlan:
    """Store a plan, skip actions of it, and return it.

    :param skipped: name of an action -> reason or None
    :raises InvalidDocument: its inputs are invalid; nothing is stored
    """
    runtime = bootstrap.Runtime(configuration, lanes=(), plugins=plugins)
    try:
        runtime.store.check()
        plan = runtime.plans.create(document, creator=LOCAL)
        skip(runtime, plan, skipped)
        return runtime.store.get_plan(plan.uuid)
    finally:
        runtime.stop(0)


def skip(
    runtime: bootstrap.Runtime, plan: ActionPlan, skipped: Mapping[str, str | None]
) -> None:
    """Skip actions by name; raises Conflict if the plan has started."""
    if not skipped:
        return
    for action in summary.actions(runtime.store, plan, None):
        name = action.name or ''
        if name in skipped:
            runtime.plans.skip_action(action.uuid, skipped[name])


def skip_stored(
    configuration: conf.Configuration,
    plugins: Plugins,
    plan: ActionPlan,
    options: Sequence[str],
) -> None:
    """Skip actions of a stored plan that has not started.

    :param options: NAME or NAME=REASON
    :raises Invalid, Conflict: they cannot be skipped
    """
    runtime = bootstrap.Runtime(configuration, lanes=(), plugins=plugins)
    try:
        found = summary.actions(runtime.store, plan, None)
        skip(runtime, plan, input_files.skips(options, (a.name or '' for a in found)))
    finally:
        runtime.stop(0)


def find(configuration: conf.Configuration, text: str) -> ActionPlan:
    """Return the plan with a uuid, or for `last` the newest that has not ended.

    :raises NotFound: no such plan
    """
    store = bootstrap.open_store(configuration)
    try:
        store.check()
        if text != LAST:
            return store.get_plan(text.lower())
        found = [
            listed.plan
            for state in states.ACTIVE
            for listed in store.list_action_plans(
                Query({'state': state}, (('id', True),), limit=1)
            )
        ]
        newest = max(found, key=lambda plan: plan.id, default=None)
        if newest is None:
            raise exceptions.NotFound('all action plans have ended')
        return newest
    finally:
        store.close()


class Session:
    """Executes a plan and shows its progress.

    :param leave: exits at once; see Interrupts
    """

    def __init__(
        self,
        configuration: conf.Configuration,
        plugins: Plugins,
        plan: ActionPlan,
        leave: Callable[[int], None],
    ) -> None:
        self.wake = Wake()
        self.interrupts = Interrupts(self.wake, leave)
        self.leave = leave
        self.plan = plan
        self._lost = False
        self._cancel_requested = False
        self._lease = configuration.applier.lease
        self.runtime = bootstrap.Runtime(
            configuration,
            (APPLIER,),
            plugins=plugins,
            only_plan=plan.uuid,
            lost=self._on_lease_lost,
        )

    def execute(
        self, progress: Progress, details: bool | None, logs: bool = False
    ) -> tuple[ActionPlan, float]:
        """Start or continue the plan; return the ended plan and the duration in
        seconds.

        :param details: see Follower
        :param logs: see Follower
        :raises LeaseLost: this process must stop; another one can continue the plan
        """
        began = time.monotonic()
        follower = Follower(
            self.runtime.store,
            self.plan,
            progress,
            self.wake,
            time.monotonic,
            details=details,
            logs=logs,
            outage_timeout=self._lease,
        )
        follower.skip_earlier()
        self.runtime.expire_dead_workers()
        bootstrap.limit_garbage_collection()
        self.runtime.start()
        self.runtime.add_listener(follower.listen)
        if self.plan.state == states.RECOMMENDED:
            self.runtime.plans.start(self.plan.uuid)
        self.plan = follower.follow(lambda: self._handle_signals(progress))
        return self.plan, time.monotonic() - began

    def close(self) -> None:
        """Publish the remaining notifications, and close all connections.

        No action of the plan is running, or the process does not wait for it.
        """
        self.runtime.stop(CLOSING)

    def _handle_signals(self, progress: Progress) -> None:
        """Handle received signals, in the thread that follows the plan."""
        if self._lost:
            raise exceptions.LeaseLost(
                'this process could not renew its lease in time; other workers may '
                'have taken over its actions'
            )
        if self.interrupts.received is None or self._cancel_requested:
            return
        try:
            self.runtime.plans.cancel(self.plan.uuid)
        except exceptions.Conflict:
            # The plan has just ended.
            self._cancel_requested = True
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            progress.print_message(f'the action plan cannot be cancelled yet: {error}')
        else:
            self._cancel_requested = True
            progress.print_message(
                'Cancelling: running actions are signalled to stop, no further actions '
                'start. Interrupt again to terminate immediately.'
            )

    def _on_lease_lost(self) -> None:
        self._lost = True
        self.wake.now()
