"""The texts and names of the project follow its language rules."""

import ast
import collections
import functools
import pathlib
import re

from tests import base

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = ROOT / 'doc/source'
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
#: Words that open a question, and imperatives that are one in disguise ("Say whether").
FORBIDDEN = frozenset(
    {
        *('how', 'what', 'whatever', 'when', 'where', 'whether', 'which', 'who'),
        *('whoever', 'why', 'say', 'says', 'tell', 'tells'),
    }
)
#: A turn of phrase -> the term to use instead. The glossary has the other terms. Pages
#: and the comments and docstrings of the code contain none of them.
BANNED = {
    r'\bheed(s|ed|ing)?\b': 'handle (a signal)',
    r'\b(is|are|was|were|be) told\b': 'be notified, be signalled, be reported',
    r'\bmade? anew\b': 'recreate',
    r'\blook(s|ed|ing)? at\b': 'check, read',
    r'\b(go|goes|went) on\b': 'continue',
    r'\bstands? for\b': 'is, represents, matches',
    r'\b(is|are) over\b': 'has ended, has expired',
    r'\btak(e|es|en) away\b': 'remove',
    r'\b(under way|in hand)\b': 'running, in progress',
    r'\bput(s)? to rest\b': 'suspend',
    r'\bunwell\b': 'unhealthy',
    r'\bended well\b': 'succeeded',
    r'\b(nobody|whoever)\b': 'no user, every user who',
    r'\bfor ever\b': 'permanently',
    r'\bfurther tr(y|ies)\b': 'retry',
    r'\bbecomes? of\b': 'the result of',
    r'\bsealed\b(?!:)': 'encrypted',
    r'\bcatalogues?\b': 'catalog',
    r'\banew\b': 'again, recreate',
    r'\ball the same\b': 'nevertheless',
    r'\bso many\b': 'this number of',
    r'\bof ours\b': 'of watcherlite',
    r'\bsomebody\b': 'a user, another process',
    r'\b(told|tells?) (of|about|nobody|what|who)\b': 'reports, notifies of',
    r'\bcomes? of\b': 'the result of',
    r'\bwhole stor(y|ies)\b': 'the complete run, all events',
    r'\bworld outside\b': 'external resources',
}
_ANY_BANNED = re.compile('|'.join(BANNED), re.IGNORECASE)
#: A pattern of helper names in tests -> the name to use instead.
UNCLEAR_HELPERS = {
    r'an?_\w+': 'create_..., insert_..., make_...',
    r'test_(what|how|where|who(ever|se)?)_\w+': 'a sentence with a noun as its subject',
    r'test_(\w+_)?(anew|goes?_on|told|for_ever|looked_at|nobody)(_\w+)?': 'plain terms',
    r'_?(told|asked|begun|wanted|seen|said|gone|looked)': 'a noun or a verb',
    r'_?(heed|hear|heard|tell|go_on|goes_on|begins|becomes?)': 'the term of the field',
    r'let_\w+|until(_\w+)?|assert_told\w*|whatever_\w+': 'an imperative verb',
}
#: A pattern of function names in the product -> the name to use instead. A function
#: is a verb or, if it only returns something, a noun.
UNCLEAR_FUNCTIONS = {
    **UNCLEAR_HELPERS,
    r'_?(found|made|kept|given|shown|held|known|written|counted)': 'a noun or a verb',
    r'_?(go|going|look|note|see|say|ask|lose|want|wish|put_to_rest)': 'a standard verb',
    r'_?(begin|begins|began)': 'start, create, request',
    r'_?(fits|cut|broken|thing|things|well|why|again|anything)': 'a standard term',
    r'_?(hindrance|refusal|unfit|complaint)': 'blocking_reason, rejection_reason',
    r'_?(take|drop)_(locks?|role)|_?give_back': 'acquire, release',
    r'_?leave_\w+|_?come_\w+': 'exit, on_...',
}
#: Names of variables, parameters and attributes: use a precise noun instead.
UNCLEAR_VARIABLES = re.compile(
    r'_?(told|said|ears?|hears?|heard|mortals?|wanted|things?|stor(y|ies)|rubbish)'
    r'|_?(\w+_)?patience|(\w+_)?PATIENCE'
)
#: Words in names of classes: use the standard term instead, such as Tests for a mixin,
#: Case for a base class of tests, and History for recorded changes.
UNCLEAR_CLASSES = re.compile(
    r'(Asking|Careless|Hear|Heed|Meddling|Moody|Nobody|Rubbish|Somebody|Stor(y|ies)'
    r'|Surprised|Tells?|Things?|Told|Whatever)(?![a-z])'
)
#: Functions that match such a pattern, and the reason.
CLEAR_FUNCTIONS = {
    'db/sqlalchemy/migration.py:_begin': 'the SQL statement',
    'db/sqlalchemy/store.py:_begin': 'the SQL statement',
    'domain/documents/yaml_values.py:_begin': 'the start event of the YAML parser',
    'testing/clock.py:until_waiting': 'the interface for authors of plugins',
}
#: Names with two meanings, and the reason.
SHARED = {
    'Cancelled': 'the exception, and the outcome of an action that raises it',
    'TimedOut': 'the exception, and the outcome of an action that raises it',
    'Goal': 'the plugin, and its row',
    'Strategy': 'the plugin, and its row',
    'ScoringEngine': 'the plugin, and its row',
    'Worker': 'the process, and its row',
    'Operation': 'one of the API, and one that a resource handler declares',
    'Checkpoints': 'the port of an attempt, and that of its context',
    'Server': 'the resource type, and an object of the compute model',
    'Volume': 'the resource type, and an object of the storage model',
    'VolumeType': 'the resource type, and an object of the storage model',
    'StackLock': 'of the command, and of the plugin of the openstack client',
    'StackUnlock': 'of the command, and of the plugin of the openstack client',
}


def documents():
    """Return the files that are written for readers."""
    return [
        *(ROOT / name for name in ('README.rst', 'CONTRIBUTING.rst')),
        ROOT / 'tests/README.rst',
        *sorted(SOURCE.glob('*.rst')),
        *sorted((ROOT / 'releasenotes/notes').glob('*.yaml')),
        *sorted((ROOT / 'etc').rglob('*.*')),
    ]


def statements(node):
    """Yield a node and all statements in it; expressions are not searched."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from statements(child)


def bound_names(node):
    """Return the names that a function or an assignment binds."""
    if isinstance(node, FUNCTIONS):
        args = node.args
        return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    targets = getattr(node, 'targets', [getattr(node, 'target', None)])
    if isinstance(node, ast.Delete) or targets == [None]:
        return []
    return [
        name
        for target in targets
        for part in ast.walk(target)
        for name in [getattr(part, 'id', getattr(part, 'attr', None))]
        if name is not None
    ]


@functools.cache
def read_sources():
    """Return four results.

    * all docstrings by place
    * the paths of the public classes of the product by name
    * all functions: (path, name)
    * the unclear names of variables and classes by place
    """
    docstrings, classes, functions = {}, collections.defaultdict(list), []
    unclear = {}
    for top in ('watcherlite', 'tests', 'doc'):
        for file in sorted((ROOT / top).rglob('*.py')):
            path, tree = file.relative_to(ROOT), ast.parse(file.read_text())
            for node in statements(tree):
                for name in filter(UNCLEAR_VARIABLES.fullmatch, bound_names(node)):
                    unclear[f'{path}:{node.lineno}'] = name
                if isinstance(node, ast.ClassDef) and UNCLEAR_CLASSES.search(node.name):
                    unclear[f'{path}:{node.lineno}'] = node.name
                if isinstance(node, ast.Module | ast.ClassDef | FUNCTIONS):
                    text = ast.get_docstring(node)
                    if text:
                        docstrings[f'{path}:{getattr(node, "lineno", 1)}'] = text
                if isinstance(node, FUNCTIONS):
                    functions.append((path, node.name))
            for node in tree.body if top == 'watcherlite' else ():
                if isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
                    classes[namespace(path), node.name].append(path)
    return docstrings, classes, functions, unclear


def namespace(path):
    """Return the part of the product within which a class name is unique.

    The command line is a program of its own, and plugins are named by their kind.
    """
    parts = path.parts[1:]
    if parts[0] == 'cli':
        return 'cli'
    return parts[1] if parts[0] == 'plugins' and len(parts) > 2 else ''


@functools.cache
def read_comments():
    """Return all blocks of comment lines, by place."""
    blocks = {}
    for top in ('watcherlite', 'tests', 'doc'):
        files = [f for kind in ('py', 'yaml') for f in (ROOT / top).rglob(f'*.{kind}')]
        for file in sorted(files):
            path, text = file.relative_to(ROOT), file.read_text()
            for block in re.finditer(r'(?m)(?:^[ ]*#.*\n)+', text):
                line = text.count('\n', 0, block.start()) + 1
                words = re.sub(r'(?m)^ *#:?', '', block[0]).split()
                blocks[f'{path}:{line}'] = ' '.join(words)
    return blocks


def banned_turns(text):
    """Return the banned turns in a text, with the term to use; quotes are ignored."""
    plain = ' '.join(re.sub('(`+)[^`]*\\1', '', text).split())
    if not _ANY_BANNED.search(plain):
        return []
    return [
        f'{match[0]}: use {term}'
        for turn, term in BANNED.items()
        for match in re.finditer(turn, plain, re.IGNORECASE)
    ]


def unclear_functions(top, patterns, allowed=()):
    """Return the unclear names of functions below a folder, with the name to use."""
    _, _, functions, _ = read_sources()
    any_unclear = re.compile('|'.join(patterns))
    return [
        f'{place}:{name}: use {instead}'
        for path, name in functions
        if path.parts[0] == top and any_unclear.fullmatch(name)
        for place in [path.relative_to(top)]
        if f'{place}:{name}' not in allowed
        for pattern, instead in patterns.items()
        if re.fullmatch(pattern, name)
    ]


def headings(text):
    """Return the titles of an RST page that are underlined."""
    return re.findall(r'(?m)^(\S.*)\n(?:=|-|~)\S{2,}$', text)


def first_word(text):
    return text.split()[0].strip('`:,.').lower()


class TestSources(base.TestCase):
    def test_no_docstring_opens_with_a_question_word(self):
        found, _, _, _ = read_sources()

        self.assertEqual(
            [],
            [
                f'{place}: {text.splitlines()[0]}'
                for place, text in found.items()
                if first_word(text) in FORBIDDEN
            ],
        )
        self.assertGreater(len(found), 5000)

    def test_docstrings_and_comments_use_the_terms_of_the_field(self):
        docstrings, _, _, _ = read_sources()
        comments = read_comments()

        self.assertEqual(
            [],
            [
                f'{place}: {turn}'
                for texts in (docstrings, comments)
                for place, text in texts.items()
                for turn in banned_turns(text)
            ],
        )
        self.assertGreater(len(comments), 2000)

    def test_functions_are_named_in_the_terms_of_the_field(self):
        unclear = [
            *unclear_functions('tests', UNCLEAR_HELPERS),
            *unclear_functions('watcherlite', UNCLEAR_FUNCTIONS, CLEAR_FUNCTIONS),
        ]

        self.assertEqual([], unclear)

    def test_variables_and_classes_are_named_by_their_content(self):
        _, _, _, unclear = read_sources()

        self.assertEqual({}, unclear)

    def test_each_exception_is_a_function_with_such_a_name(self):
        unclear = unclear_functions('watcherlite', UNCLEAR_FUNCTIONS)

        found = {line.partition(': use ')[0] for line in unclear}
        self.assertEqual(CLEAR_FUNCTIONS.keys(), found)

    def test_only_the_listed_names_have_two_meanings(self):
        _, found, _, _ = read_sources()

        shared = {name for (_, name), paths in found.items() if len(paths) > 1}

        self.assertEqual(SHARED.keys(), shared)
        self.assertGreater(len(found), 500)


class TestPages(base.TestCase):
    def test_no_heading_is_a_question(self):
        found = {
            (path.name, heading)
            for path in documents()
            if path.suffix == '.rst'
            for heading in headings(path.read_text())
        }

        self.assertEqual([], sorted(h for h in found if first_word(h[1]) in FORBIDDEN))
        self.assertGreater(len(found), 300)

    def test_the_terms_of_the_field_are_used(self):
        found = {path.name: banned_turns(path.read_text()) for path in documents()}

        self.assertEqual({}, {name: turns for name, turns in found.items() if turns})

    def test_a_banned_turn_is_found_across_lines_and_not_in_quotes(self):
        self.assertEqual(
            ['go on: use continue', 'anew: use again, recreate'],
            banned_turns('Let it go\n    on, and `heed` ``told of`` anew.'),
        )


class TestGlossary(base.TestCase):
    def setUp(self):
        super().setUp()
        page = (SOURCE / 'glossary.rst').read_text()
        self.entries = re.findall(r'(?m)^   (\S.*)\n((?:     .*\n)+)', page)
        self.terms = [term for term, _ in self.entries]

    def test_each_term_is_listed_once_in_order(self):
        self.assertEqual(sorted(set(self.terms)), self.terms)
        self.assertGreater(len(self.terms), 30)

    def test_each_definition_is_a_sentence(self):
        for term, definition in self.entries:
            self.assertRegex(' '.join(definition.split()), r'^[A-Z].*\.$', term)

    def test_each_term_is_used_on_another_page(self):
        text = ' '.join(
            ' '.join(path.read_text().split()).lower()
            for path in documents()
            if path.suffix == '.rst' and path.name != 'glossary.rst'
        )

        self.assertEqual([], [term for term in self.terms if term not in text])
