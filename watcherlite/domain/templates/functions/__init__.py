"""The functions of templates."""
