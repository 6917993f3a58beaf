"""Validation of a configuration: one line for each problem.

oslo.config ignores unknown names and detects an invalid value only when it is read.
Operators need to learn of both at the start, with the file and a suggested name.
"""

import difflib
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from oslo_config import cfg

from watcherlite.conf import masking

#: The similarity at which an unknown name is considered a typing error.
LIKENESS = 0.75
#: The prefix of all groups of plugins, reserved for them.
PLUGIN_GROUP = 'watcherlite.'

#: The exceptions for an invalid reference with a dollar sign in a value.
_NO_SUCH_VALUE = (
    cfg.TemplateSubstitutionError,
    cfg.NoSuchOptError,
    cfg.NoSuchGroupError,
)
_ENVIRONMENT = re.compile(r'OS_(?P<group>[A-Z0-9_.]+?)__(?P<option>[A-Z0-9_]+)')

Sections = Mapping[str, Mapping[str, list[str]]]


def explain(error: Exception) -> str:
    """Return one line for an exception of oslo.config, or of reading a file."""
    if isinstance(error, cfg.ConfigFileParseError):
        # The text after the last colon is the line itself: it may contain a password.
        what = re.sub(r": (?:'.*'|\".*\")$", '', str(error.msg), flags=re.DOTALL)
        text = f'The configuration file {error.config_file} is not valid: {what}'
    elif isinstance(error, cfg.ConfigFilesNotFoundError):
        text = f'There is no configuration file {", ".join(error.config_files)}'
    elif isinstance(error, cfg.ConfigFilesPermissionDeniedError):
        names = ', '.join(error.config_files)
        text = f'The configuration file {names} is not readable by this user'
    elif isinstance(error, cfg.ConfigDirNotFoundError):
        text = f'There is no configuration directory {error.config_dir}'
    elif isinstance(error, OSError):
        text = f'The configuration {error.filename} cannot be read: {error.strerror}'
    elif isinstance(error, UnicodeDecodeError):
        text = f'A configuration file is not text in UTF-8: {error.reason}'
    else:
        text = str(error)
    return masking.mask_text(' '.join(text.split()))


def bad_values(
    conf: cfg.ConfigOpts, namespace: Any = None, *, prefix: str = ''
) -> list[str]:
    """Return one line for every option with an invalid value.

    Call it again when plugins have registered their options, for their groups.

    :param namespace: read by oslo.config and not yet applied
    :param prefix: of the names of the groups
    """
    problems = []
    for option, group in _options(conf):
        if not _group_name(group).startswith(prefix):
            continue
        try:
            conf._do_get(option.dest, group, namespace)
        except _NO_SUCH_VALUE:
            # The text of these errors quotes a part of the value.
            problems.append(
                f'{_location(conf, option, group)}: the value refers with a dollar '
                'sign to an option that does not exist. Write a literal dollar sign as '
                '$$.'
            )
        except (cfg.Error, ValueError) as error:
            reason = str(error).rpartition('is not valid: ')[2]
            line = f'{_location(conf, option, group)} is not valid: {reason}'
            problems.append(masking.mask_text(' '.join(line.split())))
    return problems


def unknown_options(
    conf: cfg.ConfigOpts, environ: Mapping[str, str] | None = None
) -> list[str]:
    """Return one line for every setting that is never read.

    Call it when all groups are registered, including those of plugins. An unknown group
    is a problem if its name is similar to a known one, or is that of a plugin;
    otherwise it belongs to another program that shares the file.

    :param environ: the environment, if not the one of this process
    """
    known: dict[str, set[str]] = {'DEFAULT': set()}
    for option, group in _options(conf):
        known.setdefault(_group_name(group), set()).update(_names(option))
    problems = []
    for path, sections in parse_files(config_files(conf)):
        for group_name, keys in sections.items():
            problems += _unknown(f'{path}: ', group_name, keys, known)
    for name in sorted(os.environ if environ is None else environ):
        match = _ENVIRONMENT.fullmatch(name)
        if match and match['group'].lower() in {n.lower() for n in known}:
            group_name = match['group'].lower()
            group_name = 'DEFAULT' if group_name == 'default' else group_name
            option_name = match['option'].lower()
            problems += _unknown(f'{name}: ', group_name, [option_name], known)
    return problems


def config_files(conf: cfg.ConfigOpts) -> list[str]:
    """Return the paths of the files from which `conf` was read, in order."""
    paths = [os.path.expanduser(path) for path in conf.config_file or []]
    for directory in conf.config_dir or []:
        pattern = os.path.join(os.path.expanduser(directory), '*.conf')
        paths += sorted(glob.glob(pattern))
    return [path for path in paths if os.path.isfile(path)]


def _options(conf: cfg.ConfigOpts) -> Iterator[tuple[cfg.Opt, cfg.OptGroup | None]]:
    # Not public, but the only access to deprecated names.
    for info, group in conf._all_opt_infos():
        yield info['opt'], group


def _names(option: cfg.Opt) -> set[str]:
    """Return the names of an option in a file, including deprecated ones."""
    names = {option.dest, option.name}
    names |= {former.name for former in option.deprecated_opts if former.name}
    return names | {name.replace('-', '_') for name in names}


def _group_name(group: cfg.OptGroup | None) -> str:
    return 'DEFAULT' if group is None else group.name


def _unknown(
    place: str, group: str, keys: Iterable[str], known: Mapping[str, set[str]]
) -> list[str]:
    names = {name.lower(): name for name in known}
    name = names.get(group.lower())
    if name is None:
        near = _closest(group.lower(), names)
        if near is None and not group.startswith(PLUGIN_GROUP):
            return []
        meant = f'did you mean [{names[near]}]?' if near else 'no such plugin has any.'
        return [f'{place}there are no options in a group [{group}]; {meant}']
    problems = []
    for key in keys:
        if key not in known[name]:
            near = _closest(key, known[name])
            meant = f'did you mean {near}?' if near else 'remove it.'
            problems.append(f'{place}[{name}] has no option {key}; {meant}')
    return problems


def _closest(name: str, known: Iterable[str]) -> str | None:
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=LIKENESS)
    return found[0] if found else None


def parse_files(paths: Iterable[str]) -> Iterator[tuple[str, Sections]]:
    """Return the content of files: path, and group -> option -> values."""
    for path in paths:
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(path, sections).parse()
        yield path, sections


def _location(conf: cfg.ConfigOpts, option: cfg.Opt, group: cfg.OptGroup | None) -> str:
    """Return the origin of the value of an option, and the option."""
    group_name = _group_name(group)
    name = f'[{group_name}] {option.dest}'
    variable = f'OS_{group_name.upper()}__{option.dest.upper()}'
    if variable in os.environ:
        return f'{variable}: {name}'
    for path, sections in reversed(list(parse_files(config_files(conf)))):
        for section, keys in sections.items():
            if section.lower() == group_name.lower() and _names(option) & set(keys):
                return f'{path}: {name}'
    return name
