"""A plugin module that needs a missing package."""

import zeta_library_that_is_not_there

Absent = zeta_library_that_is_not_there.Absent
