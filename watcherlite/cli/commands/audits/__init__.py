"""The commands of audits, audit templates, goals and strategies."""
