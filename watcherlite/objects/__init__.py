"""The payloads of the notifications as versioned objects.

These classes are the only definition of the documents: names, fields, versions, and how
a document becomes an older one. `notifications.encoder` derives from them how payloads
are written. They take 0.2 s to import, so they are imported when the first payload is
needed, and not when a process starts.
"""

import importlib
import os
import warnings

# oslo.versionedobjects imports oslo.messaging, which imports eventlet. Nothing here
# uses it; it warns of its own end on standard error, and its DNS resolver takes as long
# to import as all other modules together.
_WITHOUT_RESOLVER = 'EVENTLET_NO_GREENDNS'
warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')
_is_set = _WITHOUT_RESOLVER in os.environ
if not _is_set:
    os.environ[_WITHOUT_RESOLVER] = 'yes'
importlib.import_module('oslo_versionedobjects.base')
if not _is_set:
    # The commands of actions inherit the environment.
    del os.environ[_WITHOUT_RESOLVER]
