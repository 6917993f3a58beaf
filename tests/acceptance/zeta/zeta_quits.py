"""Is a script, and no module."""

import sys

sys.exit('usage: zeta_quits FILE')
