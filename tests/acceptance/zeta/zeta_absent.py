"""Needs what is not installed."""

import zeta_library_that_is_not_there

Absent = zeta_library_that_is_not_there.Absent
