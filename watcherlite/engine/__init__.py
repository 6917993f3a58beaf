"""What the engine does: audits, their templates, and the runs that propose plans."""
