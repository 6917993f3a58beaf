"""Needs what is not installed."""

import acme_library_that_is_not_there

Broken = acme_library_that_is_not_there.Broken
