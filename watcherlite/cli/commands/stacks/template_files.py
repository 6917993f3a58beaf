"""Templates and environments with all files that they refer to.

The API reads no files and fetches no URLs: the files of a template are read here and
sent with it. Names become absolute `file://` URLs, so that templates in different
directories may both refer to `server.yaml`.
"""

import base64
import json
import os
import pathlib
import re
import sys
from collections.abc import Mapping
from typing import Any
from urllib import parse, request

from watcherlite import exceptions
from watcherlite.cli import input_files
from watcherlite.domain.documents import markup
from watcherlite.domain.documents.markup import path_text
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import document, versions

#: Suffixes of types that are template files.
TEMPLATE_ENDINGS = ('.yaml', '.yml', '.json', '.template')
#: Keys of a resource registry whose values are no types.
_NO_TYPES = frozenset({'base_url', 'hooks', 'restricted_actions'})
#: Keys whose values are files: of get_file, and of AWS::CloudFormation::Stack.
_FILE_KEYS = frozenset({'get_file', 'TemplateURL'})
#: Keys of a resource whose values may be template files.
_TYPE_KEYS = frozenset({'type', 'Type'})
_SCHEME = re.compile(r'([a-z][a-z0-9+.-]*):', re.IGNORECASE)


class FileCollection:
    """The files that the documents of a request refer to.

    :ivar files: absolute URL -> text; binary files in base64
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        #: Number of references that were made absolute.
        self._turned = 0

    def template(self, name: str) -> str | dict[str, Any]:
        """Return the template in a file, or in standard input for `-`.

        Its references are made absolute, and their files added to `files`. A template
        without references is the unparsed text, so that errors have line numbers.

        :raises Invalid: the template or a file that it refers to cannot be read, is no
            template, or is on another host
        """
        text, directory = _document(name, 'template')
        return self._resolved(text, name, directory)

    def environment(self, name: str) -> str:
        """Add an environment; return its name among the files.

        :raises Invalid: see `template`
        """
        text, directory = _document(name, 'environment')
        found = document.parse(text, name) if text.strip() else {}
        registry = found.get('resource_registry')
        if isinstance(registry, dict):
            self._registry(registry, name, ('resource_registry',), directory)
        url = 'file:///dev/stdin' if name == '-' else _url(_path(name, os.getcwd()))
        self.files[url] = json.dumps(found)
        return url

    def _resolved(self, text: str, name: str, directory: str) -> str | dict[str, Any]:
        found, before = document.parse(text, name), self._turned
        self._references(found, name, (), directory)
        return text if self._turned == before else found

    def _references(self, value: Any, name: str, path: Path, directory: str) -> None:
        """Add the files that a part of a template refers to."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._references(item, name, (*path, index), directory)
        if not isinstance(value, dict):
            return
        for key, item in value.items():
            here = (*path, key)
            if not isinstance(item, str):
                self._references(item, name, here, directory)
            elif key in _FILE_KEYS or (
                key in _TYPE_KEYS and item.endswith(TEMPLATE_ENDINGS)
            ):
                value[key] = self._add(item, name, here, directory)
                self._turned += value[key] != item

    def _registry(
        self, types: dict[str, Any], name: str, path: Path, directory: str
    ) -> None:
        """Add the templates in the resource registry of an environment."""
        base = types.get('base_url')
        if isinstance(base, str):
            directory = _path(base, directory, f'{name}: {path_text(path)}.base_url')
        for key, target in types.items():
            here = (*path, key)
            if isinstance(target, dict):
                self._registry(target, name, here, directory)
            elif (
                isinstance(target, str)
                and target
                and key not in _NO_TYPES
                and '::' not in target
            ):
                types[key] = self._add(target, name, here, directory)

    def _add(self, target: str, name: str, path: Path, directory: str) -> str:
        """Add a file, with the files of a template; return its URL."""
        place = f'{name}: {path_text(path)}'
        found = _path(target, directory, place)
        url = _url(found)
        if url in self.files:
            return url
        content = _read(found, 'file', place)
        try:
            text = content.decode()
        except UnicodeDecodeError:
            self.files[url] = base64.encodebytes(content).decode()
            return url
        # First, because a template may refer to itself.
        self.files[url] = text
        if path[-1] != 'get_file' or _is_template(text, found):
            inner = self._resolved(text, found, os.path.dirname(found))
            self.files[url] = inner if isinstance(inner, str) else json.dumps(inner)
        return url


def documents(template: str | None, environments: list[str]) -> dict[str, Any]:
    """Return the part of a request with a template, environments and their files.

    :raises Invalid: see `FileCollection.template`
    """
    collection = FileCollection()
    body: dict[str, Any] = {}
    if template is not None:
        body['template'] = collection.template(template)
    if environments:
        body['environment_files'] = [
            collection.environment(name) for name in environments
        ]
    return {**body, 'files': collection.files}


def values(given: list[str], in_files: list[str]) -> dict[str, str]:
    """Return parameters of `NAME=VALUE` and `NAME=FILE`; the last one wins.

    They are texts: the template declares their types.

    :raises Invalid: a parameter has another form, or its file cannot be read
    """
    found = dict(_assignment(text) for text in given)
    for text in in_files:
        name, file = _assignment(text)
        content = _read(_path(file, os.getcwd()), 'file')
        try:
            found[name] = content.decode()
        except UnicodeDecodeError:
            raise exceptions.Invalid(
                f'{file}, the value of parameter {name}, is not UTF-8 text'
            ) from None
    return found


def data(text: str) -> Any:
    """Return the value of a JSON text, or of the file `@FILE`.

    :raises Invalid: it is not JSON
    """
    what = 'the data'
    if text.startswith('@'):
        what = text[1:]
        text, _ = _document(what, 'file')
    try:
        return json.loads(text)
    except ValueError as error:
        raise exceptions.Invalid(f'{what}: invalid JSON: {error}') from None


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition('=')
    if not equals or not name:
        raise exceptions.Invalid(f'{text!r} is not of the form NAME=VALUE')
    return name, value


def _is_template(text: str, name: str) -> bool:
    """Return whether a file is the template of a nested stack."""
    if not any(key in text for key in versions.KEYS):
        return False
    try:
        found: Mapping[str, Any] = document.parse(text, name)
    except exceptions.TemplateInvalid:
        return False
    return any(key in found for key in versions.KEYS)


def _document(name: str, what: str) -> tuple[str, str]:
    """Return the text of a document, and the directory of its relative names."""
    if name == '-':
        content = sys.stdin.buffer.read(input_files.LIMIT)
        directory = os.getcwd()
    else:
        found = _path(name, os.getcwd())
        content = _read(found, what)
        directory = os.path.dirname(found)
    try:
        return content.decode('utf-8-sig'), directory
    except UnicodeDecodeError:
        raise exceptions.Invalid(f'{name}: not UTF-8 text') from None


def _path(target: str, directory: str, place: str = '') -> str:
    """Return the absolute path of a path or a `file://` URL.

    :param place: the document that contains it; None: the command line
    """
    before = f'{place}: ' if place else ''
    scheme = _SCHEME.match(target)
    if scheme and scheme[1].lower() == 'file':
        url = parse.urlsplit(target)
        if url.netloc not in ('', 'localhost'):
            raise exceptions.Invalid(
                f'{before}{target} is on another host; use a local file'
            )
        target = request.url2pathname(url.path)
    elif scheme and target[scheme.end() :].startswith('//'):
        raise exceptions.Invalid(
            f'{before}{target} is not fetched; save it to a local file and refer to it'
        )
    if '\x00' in target:
        raise exceptions.Invalid(f'{before}{target!r} is not a path')
    return os.path.normpath(os.path.join(directory, target))


def _url(path: str) -> str:
    return pathlib.PurePosixPath(path).as_uri()


def _read(path: str, what: str, place: str = '') -> bytes:
    before = f'{place}: ' if place else ''
    content = input_files.content(path, what, before)
    if len(content) > markup.MAX_BYTES:
        raise exceptions.Invalid(
            f'{before}the {what} {path} is larger than '
            f'{markup.MAX_BYTES // 1024**2} MiB'
        )
    return content
