"""`watcherlite complete`: completion for bash, zsh and fish.

A shell passes the words of the line. The candidates for the next word are computed here
for all shells, from the table of commands and the parser of the command. Names of
objects are requested from the API.
"""

import argparse
import contextlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from watcherlite.cli.command import Command, argument, choice
from watcherlite.cli.command_table import COMMANDS
from watcherlite.cli.http import access
from watcherlite.cmd import exits

BASH = r"""# Completion of watcherlite for bash.
_watcherlite() {
    local IFS=$'\n'
    COMPREPLY=($(watcherlite complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null |
        cut -f 1))
}
complete -o default -F _watcherlite watcherlite
"""
ZSH = r"""#compdef watcherlite
_watcherlite() {
    local -a lines candidates
    local line
    lines=("${(@f)$(watcherlite complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#candidates )); then
        _describe watcherlite candidates
    else
        _files
    fi
}
if [ "${funcstack[1]}" = _watcherlite ]; then
    _watcherlite "$@"
else
    compdef _watcherlite watcherlite
fi
"""
FISH = r"""# Completion of watcherlite for fish.
function __watcherlite_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -e words[1]
    watcherlite complete -- $words (commandline --current-token --cut-at-cursor)
end
complete --command watcherlite --arguments '(__watcherlite_complete 2>/dev/null)'
"""
SCRIPTS = {'bash': BASH, 'zsh': ZSH, 'fish': FISH}
#: Timeout of API requests in seconds: the user waits at a prompt.
TIMEOUT = '2'
#: Maximum number of objects to request.
LIMIT = '200'


class Candidate(NamedTuple):
    """A candidate for the next word, and its description."""

    word: str
    description: str = ''


class Collection(NamedTuple):
    """A collection whose objects a word may name.

    :param command: the command that lists the objects
    :param word: the column with the name
    :param description: the column with the description, or ''
    :param version: the column that is appended to the name with a hyphen, or ''
    :param within: whether they belong to the object named by the first argument
    :param paged: whether the command has `--limit`
    """

    command: str
    word: str
    description: str = ''
    version: str = ''
    within: bool = False
    paged: bool = True


#: First words of a command -> the collection of its first argument.
FIRST_ARGUMENTS: Mapping[str, Collection] = {
    'action': Collection('action list', 'UUID', 'State'),
    'actionplan': Collection('actionplan list', 'UUID', 'State'),
    'audit': Collection('audit list', 'Name', 'State'),
    'audittemplate': Collection('audittemplate list', 'Name', 'Goal'),
    'cluster': Collection('cluster list', 'Name', 'Status'),
    'cluster action': Collection('cluster action list', 'ID', 'Name'),
    'goal': Collection('goal list', 'Name', 'Display name'),
    'node': Collection('node list', 'Name', 'Status'),
    'policy': Collection('policy list', 'Name', 'Type'),
    'policy type': Collection(
        'policy type list', 'Name', version='Version', paged=False
    ),
    'profile': Collection('profile list', 'Name', 'Type'),
    'profile type': Collection(
        'profile type list', 'Name', version='Version', paged=False
    ),
    'receiver': Collection('receiver list', 'Name', 'Action'),
    'stack': Collection('stack list', 'Stack Name', 'Stack Status'),
    'stack resource type': Collection(
        'stack resource type list', 'Resource Type', paged=False
    ),
    'strategy': Collection('strategy list', 'Name', 'Goal'),
}
#: Option or further argument -> the collection of its value.
VALUES: Mapping[str, Collection] = {
    'action-plan': FIRST_ARGUMENTS['actionplan'],
    'audit': FIRST_ARGUMENTS['audit'],
    'audit-template': FIRST_ARGUMENTS['audittemplate'],
    'cluster': FIRST_ARGUMENTS['cluster'],
    'goal': FIRST_ARGUMENTS['goal'],
    'node': FIRST_ARGUMENTS['node'],
    'output': Collection('stack output list', 'Output Key', within=True, paged=False),
    'policy': FIRST_ARGUMENTS['policy'],
    'profile': FIRST_ARGUMENTS['profile'],
    'resource': Collection(
        'stack resource list',
        'Resource Name',
        'Resource Status',
        within=True,
        paged=False,
    ),
    'strategy': FIRST_ARGUMENTS['strategy'],
}
#: The last words of commands whose argument names a new object.
_NEW = ('adopt', 'create')

Words = Sequence[str]
#: Return the parser of a command.
ParserOf = Callable[[str], argparse.ArgumentParser]
#: Run a command; return what it prints, '' if it fails.
Run = Callable[[Words], str]


def complete(words: Words, parser_of: ParserOf, run: Run) -> list[Candidate]:
    """Return the candidates for the last word.

    :param words: the words up to the cursor, without the program; the last one is
        incomplete or empty
    :param parser_of: '' returns the parser of the global options
    """
    *before, current = words or ['']
    # Shells split `--option=value`.
    before = [word for word in before if word != '=']
    current = '' if current == '=' else current
    start = access.index_of_command(before)
    name, arguments = _split(before[start:])
    if name in COMMANDS:
        parser = parser_of(name)
        found = _argument_candidates(name, parser, arguments, current)
    else:
        parser = parser_of('')
        found = _command_candidates(parser, before, ' '.join(before[start:]), current)
    candidates: Iterable[Candidate]
    if isinstance(found, Collection):
        line = [*_connection(parser_of(''), before), *_list_arguments(found)]
        if found.within:
            line += _positionals(parser, arguments)[:1]
        candidates = _rows(found, run(line))
    else:
        candidates = found
    return [one for one in candidates if one.word.startswith(current)]


def _split(words: Words) -> tuple[str, Words]:
    """Split words into the longest command name and the other words."""
    for count in range(len(words), 0, -1):
        name = ' '.join(words[:count])
        if name in COMMANDS:
            return name, words[count:]
    return '', words


def _command_candidates(
    parser: argparse.ArgumentParser, before: Words, begun: str, current: str
) -> Iterator[Candidate]:
    """Return the candidates for an incomplete command name."""
    if not begun and before and _takes_value(_option(parser, before[-1])):
        return
    if not begun:
        yield from _options(parser, current)
    prefix = f'{begun} ' if begun else ''
    seen = set()
    for command, (_, sentence) in COMMANDS.items():
        word, _, further = command.removeprefix(prefix).partition(' ')
        if command.startswith(prefix) and word not in seen:
            seen.add(word)
            yield Candidate(word, '' if further else sentence)


def _argument_candidates(
    name: str, parser: argparse.ArgumentParser, arguments: Words, current: str
) -> Iterable[Candidate] | Collection:
    """Return the candidates for a word after a command, or their collection."""
    option = _option(parser, arguments[-1]) if arguments else None
    if option is not None and _takes_value(option):
        names = [text.lstrip('-') for text in option.option_strings]
        found = [VALUES[text] for text in names if text in VALUES]
        return _choices(option) or (found[0] if found else [])
    if current.startswith('-'):
        return _options(parser, current)
    desired = parser._positionals._group_actions
    place = len(_positionals(parser, arguments))
    if not desired or (place >= len(desired) and desired[-1].nargs not in ('+', '*')):
        return []
    argument = desired[min(place, len(desired) - 1)]
    noun, _, verb = name.rpartition(' ')
    collection = VALUES.get(str(argument.metavar).lower())
    if argument is desired[0] and verb in _NEW:
        collection = None
    elif argument is desired[0]:
        while noun and noun not in FIRST_ARGUMENTS:
            noun = noun.rpartition(' ')[0]
        collection = FIRST_ARGUMENTS.get(noun)
        if str(argument.metavar) == 'STACK':
            collection = FIRST_ARGUMENTS['stack']
    return _choices(argument) or collection or []


def _option(parser: argparse.ArgumentParser, word: str) -> argparse.Action | None:
    return parser._option_string_actions.get(word)


def _takes_value(option: argparse.Action | None) -> bool:
    return option is not None and option.nargs != 0


def _choices(action: argparse.Action) -> list[Candidate]:
    return [Candidate(str(choice)) for choice in action.choices or ()]


def _options(parser: argparse.ArgumentParser, current: str) -> Iterator[Candidate]:
    """Return the long options, and the short ones if the word starts with one."""
    if not current.startswith('-'):
        return
    for text, action in parser._option_string_actions.items():
        if action.help != argparse.SUPPRESS:
            yield Candidate(text, (action.help or '').replace('\n', ' '))


def _positionals(parser: argparse.ArgumentParser, arguments: Words) -> list[str]:
    """Return the words that are neither options nor values of options."""
    found = []
    value_follows = False
    for word in arguments:
        if value_follows:
            value_follows = False
        elif word.startswith('-') and word != '-':
            value_follows = _takes_value(_option(parser, word))
        else:
            found.append(word)
    return found


def _connection(parser: argparse.ArgumentParser, before: Words) -> list[str]:
    """Return the words that are options of the connection."""
    found: list[str] = []
    known = access.value_options()
    for index, word in enumerate(before):
        if word in known and index + 1 < len(before) and word != '--timeout':
            found += [word, before[index + 1]]
        elif word.partition('=')[0] in known or word == f'--{access.INSECURE}':
            found.append(word)
    return found


def _list_arguments(collection: Collection) -> list[str]:
    line = ['--timeout', TIMEOUT, *collection.command.split(), '-f', 'json']
    for column in (collection.word, collection.description, collection.version):
        line += ['-c', column] if column else []
    return [*line, '--limit', LIMIT] if collection.paged else line


def _rows(collection: Collection, text: str) -> Iterator[Candidate]:
    for row in json.loads(text or '[]'):
        word = row.get(collection.word)
        if word and collection.version:
            word = f'{word}-{row.get(collection.version)}'
        if word:
            yield Candidate(str(word), str(row.get(collection.description) or ''))


class Complete(Command):
    """Print the shell completion script.

    Options, choices and the names of objects are completed as well: the
    script calls this command with the words of the line.
    """

    arguments = (
        choice('--shell', tuple(SCRIPTS), 'shell; default: bash', default='bash'),
        argument(
            'words',
            'WORD',
            'words of a command line, after `--`: print the completions of the '
            'last one',
            nargs='*',
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the script, or candidates with a tab before their description."""
        if not parsed_args.words:
            self.app.stdout.write(SCRIPTS[parsed_args.shell])
            return exits.SUCCESS
        found = complete(parsed_args.words, self._parser_of, self._run)
        for one in found:
            description = ' '.join(one.description.split())
            self.app.stdout.write(f'{one.word}\t{description}\n')
        return exits.SUCCESS

    def _parser_of(self, name: str) -> argparse.ArgumentParser:
        if not name:
            parser: argparse.ArgumentParser = self.app.parser
            return parser
        factory: Any = self.app.command_manager.find_command(name.split())[0]
        made: argparse.ArgumentParser = factory(self.app, None).get_parser(name)
        return made

    def _run(self, words: Words) -> str:
        """Return the output of a command; '' if it fails: a prompt shows no errors."""
        printed = io.StringIO()
        out, self.app.stdout = self.app.stdout, printed
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                code = self.app.run(list(words))
        except (Exception, SystemExit):
            return ''
        finally:
            self.app.stdout = out
        return '' if code else printed.getvalue()
