"""A browser without scripts: it keeps cookies, follows redirects, submits forms."""

import html.parser
from typing import Any
from urllib import parse

from falcon import testing

from watcherlite.dashboard.sessions import COOKIE


class Visitor:
    """A user of the pages of an application."""

    def __init__(self, application: Any) -> None:
        # falcon reads the signature, which a wrapped callable does not have.
        self._client = testing.TestClient(
            lambda environ, start_response: application(environ, start_response)
        )
        self.cookie = ''

    def request(
        self, method: str, path: str, body: str | None = None, **headers: str
    ) -> testing.Result:
        """Return a response without following redirects."""
        sent = {name.replace('_', '-'): value for name, value in headers.items()}
        if self.cookie:
            sent['Cookie'] = f'{COOKIE}={self.cookie}'
        if body is not None:
            sent['Content-Type'] = 'application/x-www-form-urlencoded'
        parts = parse.urlsplit(path)
        path, query = parts.path, parts.query
        response = self._client.simulate_request(
            method, path, query_string=query, headers=sent, body=body, host='localhost'
        )
        cookie = response.cookies.get(COOKIE)
        if cookie is not None:
            self.cookie = cookie.value if cookie.max_age else ''
        return response

    def get(self, path: str) -> 'Shown':
        """Return the page at a path, after redirects."""
        response = self.request('GET', path)
        while response.status_code == 303:
            response = self.request('GET', response.headers['Location'])
        return Shown(response)

    def submit(self, page: 'Shown', action: str, **fields: Any) -> 'Shown':
        """Submit a form of a page; return the page after redirects.

        :param action: the end of the form's path
        :param fields: the values of the user; a list is several values of one name
        """
        return self.submit_form(page.form(action), **fields)

    def submit_form(self, form: 'Form', **fields: Any) -> 'Shown':
        """Submit a form; return the page after redirects."""
        pairs = {**form.hidden, **fields}
        response = self.request('POST', form.action, parse.urlencode(pairs, True))
        if response.status_code == 303:
            return self.get(response.headers['Location'])
        return Shown(response)


class Form:
    """A form of a page: its path and its hidden fields.

    :param asks: whether it is in a part that the user opens first
    """

    def __init__(self, action: str, asks: bool = False) -> None:
        self.action = action
        self.asks = asks
        self.hidden: dict[str, str] = {}


class Shown(html.parser.HTMLParser):
    """The content of a page.

    :ivar text: its words, without markup
    :ivar links: path -> text
    :ivar tags: all start tags, with their attributes
    """

    def __init__(self, response: testing.Result) -> None:
        super().__init__()
        self.response = response
        self.status = response.status_code
        self.forms: list[Form] = []
        self.links: dict[str, str] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._words: list[str] = []
        self._link: str | None = None
        self._depth = 0
        self.feed(response.text)
        self.text = ' '.join(' '.join(self._words).split())

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == 'form':
            self.forms.append(Form(given.get('action') or '', self._depth > 0))
        elif tag == 'details':
            self._depth += 1
        elif tag == 'input' and given.get('type') == 'hidden':
            self.forms[-1].hidden[given['name']] = given.get('value') or ''
        elif tag == 'a':
            self._link = given.get('href')

    def handle_endtag(self, tag: str) -> None:
        if tag == 'a':
            self._link = None
        elif tag == 'details':
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        self._words.append(data)
        if self._link is not None:
            self.links[self._link] = self.links.get(self._link, '') + data

    def form(self, action: str) -> Form:
        """Return the form whose path has this end."""
        return next(form for form in self.forms if form.action.endswith(action))

    def unasked(self) -> list[str]:
        """Return the last segments of the paths of the forms that ask nothing first."""
        found = [f.action for f in self.forms if f.action and not f.asks]
        return [action.rpartition('/')[2] for action in found]

    def actions(self) -> list[str]:
        """Return the last segments of the paths of all forms."""
        return [form.action.rpartition('/')[2] for form in self.forms if form.action]
