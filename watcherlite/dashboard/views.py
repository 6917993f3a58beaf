"""Views: what the handlers of pages and forms get, and the tables of their routes."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any
from urllib import parse

from watcherlite.api.operation import Caller
from watcherlite.api.policy import AccessPolicy
from watcherlite.dashboard.api_client import ApiClient
from watcherlite.dashboard.sessions import PREFIX


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """The request of a page or of a form.

    :param root: the path below which a proxy serves the application, or ''
    :param args: the arguments of the URL, each once
    :param form: the fields of the form, each once
    :param chosen: the values of the field `uuid`, of which a form may have many
    """

    api: ApiClient
    caller: Caller
    policy: AccessPolicy
    root: str = ''
    args: Mapping[str, str] = dataclasses.field(default_factory=dict)
    form: Mapping[str, str] = dataclasses.field(default_factory=dict)
    chosen: tuple[str, ...] = ()

    def allows(self, rule: str, project: str | None = None) -> bool:
        """Return whether a policy rule allows the user.

        :param project: of the target
        """
        return self.policy.allows(rule, self.caller, project)

    def filters(self, *names: str) -> dict[str, str]:
        """Return the arguments of the URL of a list; '' for those that are missing."""
        return {name: self.args.get(name, '').strip() for name in names}

    def address(self, *segments: str, **query: Any) -> str:
        """Return the address of a page, as the function `address`."""
        return address(self.root, *segments, **query)

    def next_address(
        self, body: Mapping[str, Any], args: Mapping[str, str], *path: str
    ) -> str:
        """Return the address of the next page of a list, or ''.

        :param body: of the list, as the API returned it; the address is its member
            `next`, or is in `links`
        :param args: the filters of the page
        """
        links = {each['rel']: each['href'] for each in body.get('links', ())}
        link = body.get('next') or links.get('next')
        if not link:
            return ''
        asked = dict(parse.parse_qsl(parse.urlsplit(link).query))
        return self.address(*path, **{**args, 'marker': asked.get('marker')})


#: (view, variables of the path) -> the variables of the template.
PageHandler = Callable[..., Mapping[str, Any]]
#: (view, variables of the path) -> the address to continue at.
FormHandler = Callable[..., str]


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """A page: its template and its handler."""

    template: str
    handler: PageHandler


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """A form: its handler, and the page that shows it, with an error if it failed."""

    handler: FormHandler
    page: PageHandler


class PageTable:
    """The pages and forms of one noun, by the template of their path."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.forms: dict[str, Form] = {}

    def page(self, path: str, template: str) -> Callable[[PageHandler], PageHandler]:
        """Return a decorator of the handler of a page."""

        def add(handler: PageHandler) -> PageHandler:
            self.pages[PREFIX + path] = Page(template, handler)
            return handler

        return add

    def form(
        self, path: str, page: PageHandler
    ) -> Callable[[FormHandler], FormHandler]:
        """Return a decorator of the handler of a form.

        :param page: the handler of the page that shows the form; it has the same
            variables in its path
        """

        def add(handler: FormHandler) -> FormHandler:
            self.forms[PREFIX + path] = Form(handler, page)
            return handler

        return add


#: The arguments of searches of lists.
SEARCH = ('text', 'user', 'since', 'until')


def address(root: str, *segments: str, **query: Any) -> str:
    """Return the address of a page.

    :param root: the path below which a proxy serves the application, or ''
    :param segments: of the path below the prefix, unquoted
    :param query: arguments; None and '' are left out
    """
    below = [parse.quote(segment, safe='') for segment in segments]
    path = '/'.join([root + PREFIX, *below])
    given = {k: v for k, v in query.items() if v not in (None, '')}
    return f'{path}?{parse.urlencode(given)}' if given else path
