"""Authorisation by oslo.policy, with a cache of decisions.

A check by oslo.policy takes 0.5 ms. A decision depends only on the rule, the caller and
the policy file, so it is cached until the file changes.
"""

import logging
import threading
import time
from collections.abc import Callable

from oslo_config import cfg
from oslo_policy import opts, policy

from watcherlite import exceptions
from watcherlite.api import policies
from watcherlite.api.operation import Caller

LOG = logging.getLogger(__name__)

#: Maximum number of cached decisions.
KEPT = 10_000
#: Seconds between two checks of the policy file for changes.
LOOK = 5.0


class AccessPolicy:
    """Authorises callers by the default rules and the operator's policy file.

    :param conf: the group [oslo_policy] is registered in it if necessary
    :raises ConfigurationError: the policy file is invalid
    """

    def __init__(
        self, conf: cfg.ConfigOpts, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._enforcer = enforcer(conf)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._decisions: dict[tuple[str, Caller, str | None], bool] = {}
        self._look_at = monotonic() + LOOK
        self._rules: dict[str, str] = {}
        self._bad: str | None = None
        self._load()

    def check_name(self, rule: str) -> None:
        """Raise ValueError for an unknown rule."""
        if rule not in self._enforcer.registered_rules:
            raise ValueError(f'There is no policy rule {rule!r}')

    def check(self, rule: str, caller: Caller, project: str | None = None) -> None:
        """Raise Forbidden if a rule does not allow a caller.

        :param project: the project of the target: `%(project_id)s` in a rule
        """
        if not self.allows(rule, caller, project):
            raise exceptions.Forbidden(f"Policy doesn't allow {rule} to be performed.")

    def allows(self, rule: str, caller: Caller, project: str | None = None) -> bool:
        """Return whether a rule allows a caller."""
        if self._monotonic() >= self._look_at:
            self._reload_if_changed()
        key = (rule, caller, project)
        decision = self._decisions.get(key)
        if decision is None:
            with self._lock:
                decision = self._decide(rule, caller, project)
                if len(self._decisions) >= KEPT:
                    self._decisions.clear()
                self._decisions[key] = decision
        return decision

    def _decide(self, rule: str, caller: Caller, project: str | None) -> bool:
        target = {} if project is None else {'project_id': project}
        credentials = {
            'user_id': caller.user_id,
            'project_id': caller.project_id,
            'roles': sorted(caller.roles),
            'system_scope': caller.system_scope,
        }
        return bool(self._enforcer.authorize(rule, target, credentials))

    def _reload_if_changed(self) -> None:
        """Reload the policy file if it has changed; an invalid one changes nothing.

        An invalid file is logged once.
        """
        with self._lock:
            self._look_at = self._monotonic() + LOOK
            try:
                self._load()
                self._bad = None
            except exceptions.ConfigurationError as error:
                if self._bad != str(error):
                    LOG.error('The policies were not reloaded: %s', error)
                self._bad = str(error)

    def _load(self) -> None:
        """Load the policy file if it has changed, and clear the cache."""
        try:
            self._enforcer.load_rules()
        except (ValueError, TypeError, AttributeError, OSError) as error:
            # The exceptions of oslo.policy and its parser for an invalid file.
            raise exceptions.ConfigurationError(
                f'The policy file {self._enforcer.policy_file} of [oslo_policy] '
                f'policy_file cannot be used: {" ".join(str(error).split())}'
            ) from None
        rules = {name: str(check) for name, check in self._enforcer.rules.items()}
        if rules != self._rules:
            self._rules = rules
            self._decisions.clear()


def enforcer(conf: cfg.ConfigOpts) -> policy.Enforcer:
    """Return an enforcer with all rules."""
    opts._register(conf)
    made = policy.Enforcer(conf)
    made.suppress_default_change_warnings = True
    made.register_defaults(policies.list_rules())
    return made


def get_enforcer() -> policy.Enforcer:
    """Return an enforcer for the tools of oslo.policy, by an entry point.

    The tools parse their options into the global configuration object.
    """
    return enforcer(cfg.CONF)
