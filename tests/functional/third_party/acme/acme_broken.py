"""A plugin module that needs a missing package."""

import acme_library_that_is_not_there

Broken = acme_library_that_is_not_there.Broken
