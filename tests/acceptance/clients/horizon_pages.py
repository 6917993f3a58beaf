"""A browser without scripts for the pages of Horizon."""

import html.parser
from xml.etree import ElementTree

import requests

from tests.bounded import TIMEOUT

#: The elements without content, and without end tags.
_VOID = frozenset({'br', 'col', 'hr', 'img', 'input', 'link', 'meta'})


class HorizonBrowser:
    """A user of Horizon: it keeps cookies and submits forms.

    :param url: the address of Horizon
    """

    def __init__(self, url):
        self._url = url
        self._session = requests.Session()

    def close(self):
        """Close the connections."""
        self._session.close()

    def log_in(self, user, password):
        """Log in by the form; return the page that a user sees first."""
        return self.submit(
            '/auth/login/', username=user, password=password, next='/admin/goals/'
        )

    def get(self, path):
        """Return the page at a path, after redirects."""
        return self._request('GET', path)

    def submit(self, path, **fields):
        """Submit the form of the page at a path; return the page after redirects.

        :param fields: the values of the user
        """
        return self._send(self.get(path), path, fields)

    def press(self, path, button):
        """Press the only button with a text; return the page after redirects.

        :param path: of the page, and of the form of the button
        """
        page = self.get(path)
        (value,) = page.buttons(path, button)
        return self._send(page, path, {'action': value})

    def _send(self, page, path, fields):
        return self._request('POST', path, data={**page.hidden(path), **fields})

    def _request(self, method, path, **options):
        response = self._session.request(
            method, self._url + path, timeout=TIMEOUT, **options
        )
        response.raise_for_status()
        return HorizonPage(response.text)


class HorizonPage:
    """The content of a page."""

    def __init__(self, text):
        parser = _Parser()
        parser.feed(text)
        self._root = parser.root

    def title(self):
        """Return its heading."""
        return _text(self._root.find('.//h1'))

    def table(self, name):
        """Return the rows of a table: the texts of their cells, without buttons."""
        body = self._root.find(f".//table[@id='{name}']/tbody")
        return [
            tuple(
                _text(cell)
                for cell in row.iterfind('td')
                if 'actions_column' not in cell.get('class', '')
            )
            for row in body.iterfind('tr')
        ]

    def details(self):
        """Return its definition list: term -> definition."""
        found = self._root.find('.//dl')
        return dict(
            zip(
                map(_text, found.iterfind('dt')),
                map(_text, found.iterfind('dd')),
                strict=True,
            )
        )

    def alerts(self):
        """Return its messages, and those about its form."""
        return [
            _text(paragraph)
            for box in self._root.iterfind(".//*[@id='main_content']//div[@class]")
            if 'alert' in box.get('class').split()
            for paragraph in box.iterfind('p')
        ]

    def hidden(self, action):
        """Return the hidden fields of a form: name -> value."""
        return {
            field.get('name'): field.get('value')
            for field in self._form(action).iter('input')
            if field.get('type') == 'hidden'
        }

    def choices(self, action, name):
        """Return the choices of a field of a form: text -> value."""
        field = self._form(action).find(f".//select[@name='{name}']")
        return {_text(option): option.get('value') for option in field.iter('option')}

    def buttons(self, action, text):
        """Return the values of the buttons with a text in a form."""
        return [
            button.get('value')
            for button in self._form(action).iter('button')
            if _text(button) == text
        ]

    def links(self, text):
        """Return the paths of the links with a text."""
        return [
            link.get('href') for link in self._root.iter('a') if _text(link) == text
        ]

    def _form(self, action):
        return self._root.find(f".//form[@action='{action}']")


def _text(element):
    return ' '.join(''.join(element.itertext()).split())


class _Parser(html.parser.HTMLParser):
    """Builds a tree, and ignores end tags without a start tag.

    :ivar root: the root of the tree
    """

    def __init__(self):
        super().__init__()
        self.root = ElementTree.Element('document')
        self._open = [self.root]

    def handle_starttag(self, tag, attrs):
        element = ElementTree.SubElement(
            self._open[-1], tag, {name: value or '' for name, value in attrs}
        )
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        tags = [element.tag for element in self._open]
        if tag in tags:
            del self._open[len(tags) - 1 - tags[::-1].index(tag) :]

    def handle_data(self, data):
        last = self._open[-1]
        if len(last):
            last[-1].tail = (last[-1].tail or '') + data
        else:
            last.text = (last.text or '') + data
