# Append to the local_settings.py of Horizon, see doc/source/horizon.rst.
import pathlib

import watcher_dashboard
from openstack_dashboard.defaults import POLICY_FILES
from openstack_dashboard.settings import HORIZON_CONFIG
from watcherclient.common.apiclient import exceptions as watcher_exceptions

# The rules by which the panels hide buttons. Without this line all buttons are shown.
POLICY_FILES['infra-optim'] = str(
    pathlib.Path(watcher_dashboard.__file__).with_name('conf') / 'watcher_policy.yaml'
)
# Show the message of a refused request instead of the page of an internal error.
HORIZON_CONFIG['exceptions']['recoverable'] += (watcher_exceptions.ClientException,)
