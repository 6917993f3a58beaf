"""A script in place of a plugin module."""

import sys

sys.exit('usage: zeta_quits FILE')
