"""The Sphinx configuration; warnings are errors, see tox.ini."""

import importlib.metadata
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'ext'))

project = 'watcherlite'
copyright = 'watcherlite contributors, Apache License 2.0'
release = importlib.metadata.version('watcherlite')
version = release

extensions = [
    'oslo_config.sphinxext',
    'reno.sphinxext',
    'cluster_states',
    'policy_types',
    'resource_types',
    'rest',
    'stacks',
    'states',
]
exclude_patterns = ['_generated']
highlight_language = 'none'

# One that comes with Sphinx: no network and no release of another project can
# break the build.
html_theme = 'alabaster'
html_theme_options = {
    'description': 'plans, executes and monitors changes to infrastructure',
    'fixed_sidebar': True,
    'page_width': '66em',
    'sidebar_width': '15em',
}
html_show_sourcelink = False
html_copy_source = False
