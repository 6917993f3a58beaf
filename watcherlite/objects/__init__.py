"""The payloads of the notifications as versioned objects.

These classes are the only definition of the documents: names, fields, versions, and how
a document becomes an older one. `notifications.encoder` derives from them how payloads
are written. They take 0.4 s to import, so they are imported when the first payload is
needed, and not when a process starts.
"""

import warnings

# oslo.versionedobjects imports oslo.messaging, which imports eventlet, which warns of
# its own end on standard error. Nothing here uses eventlet.
warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')
