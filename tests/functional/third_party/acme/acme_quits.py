"""A script in place of a plugin module."""

import sys

sys.exit('usage: acme_quits FILE')
