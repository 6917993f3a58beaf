"""Is a script, and no module."""

import sys

sys.exit('usage: acme_quits FILE')
