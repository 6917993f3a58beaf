"""The plugin of watcherlite for `openstack`, in the environment of a client."""

import configparser
import os
import pathlib

TOP = pathlib.Path(__file__).parents[3]
GROUP = 'openstack.orchestration.v1'


def write_plugin(directory):
    """Write the metadata of watcherlite as pip installs it.

    :param directory: which is made
    :returns: the variables of a client that finds the plugin there
    """
    desired = configparser.ConfigParser(delimiters=('=',))
    desired.optionxform = str
    desired.read(TOP / 'setup.cfg')
    points = desired['entry_points'][GROUP]
    metadata = directory / 'watcherlite-1.dist-info'
    metadata.mkdir(parents=True)
    (metadata / 'METADATA').write_text('Name: watcherlite\nVersion: 1\n')
    (metadata / 'entry_points.txt').write_text(f'[{GROUP}]{points}\n')
    return {'PYTHONPATH': os.pathsep.join((str(directory), str(TOP)))}
