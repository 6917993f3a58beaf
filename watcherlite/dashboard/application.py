"""The dashboard as a part of the WSGI pipeline: sessions, logins and pages."""

import functools
import hashlib
import importlib.resources
import logging
import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib import parse

import falcon
import jinja2
from falcon import routing

from watcherlite import exceptions
from watcherlite.api import errors
from watcherlite.api.app import CALLER, REQUEST_ID, ROUTE, log_failure
from watcherlite.api.basic_auth import TooManyPasswords
from watcherlite.api.mounts import proxy_prefix
from watcherlite.api.operation import Caller
from watcherlite.api.policy import AccessPolicy
from watcherlite.clock import Clock
from watcherlite.dashboard import pages, rendering, sessions
from watcherlite.dashboard.api_client import ApiClient, ApiError, Environ, Wsgi
from watcherlite.dashboard.logins import Login, LoginFailed
from watcherlite.dashboard.sessions import PREFIX, Browser, Sessions
from watcherlite.dashboard.views import Form, Page, View, address

#: The key of the WSGI environment with the `Browser` of a request.
BROWSER = 'watcherlite.browser'
#: The key of the WSGI environment with the `Pages` that respond to a request.
PAGES = 'watcherlite.pages'
LOG = logging.getLogger(__name__)

LOGIN, LOGOUT, STATIC = f'{PREFIX}/login', f'{PREFIX}/logout', f'{PREFIX}/static/'
#: Maximum size of a form in bytes.
MAX_FORM = 1024 * 1024
#: The field of every form with the token of the browser.
FORM_FIELD = 'form_token'

_HEADERS = {
    'Content-Security-Policy': "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
}


class Dashboard:
    """Implementation of `api.deploy.Frontend`."""

    def __init__(self, login: Login, store: Sessions, clock: Clock) -> None:
        self._login = login
        self._sessions = store
        self._renderer = Renderer(rendering.environment(), clock, bool(login.fields))

    def wrap_authentication(self, application: Wsgi) -> Wsgi:
        """Return an application that authenticates pages by their session."""
        return SessionGate(application, self._login, self._sessions, self._renderer)

    def wrap_api(self, application: Wsgi, policy: AccessPolicy) -> Wsgi:
        """Return an application with the pages and the API."""
        return Pages(application, policy, self._renderer)


class Renderer:
    """Renders templates with what all of them have."""

    def __init__(
        self, environment: jinja2.Environment, clock: Clock, has_logins: bool
    ) -> None:
        self._environment = environment
        self._clock = clock
        self._has_logins = has_logins

    def render(
        self,
        template: str,
        environ: Environ,
        view: View | None = None,
        /,
        **variables: Any,
    ) -> str:
        """Return a page.

        :param environ: the WSGI environment of its request
        :param view: None before the login
        """
        browser: Browser = environ[BROWSER]
        shared = {
            'view': view,
            'address': functools.partial(address, proxy_prefix(environ)),
            'form_token': browser.form_token,
            'has_logins': self._has_logins,
            'now': self._clock.now(),
            'navigation': pages.NAVIGATION,
            'error': '',
            'done': '',
        }
        found = self._environment.get_template(template)
        return found.render({**shared, **variables})


class SessionGate:
    """Middleware around the authentication.

    It serves the files and the login form, and adds the credentials of the session to
    requests of pages. Other credentials are dropped: a browser would send them with
    requests of other sites too.
    """

    def __init__(
        self, application: Wsgi, login: Login, store: Sessions, renderer: Renderer
    ) -> None:
        self._application = application
        self._login = login
        self._sessions = store
        app = _new_app(renderer, routing.CompiledRouter())
        app.add_route(LOGIN, _LoginForm(login, store, renderer))
        app.add_route(LOGOUT, _LogoutForm(store))
        app.add_route(f'{STATIC}{{name}}', _StaticFiles())
        self._public = app

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        if path != PREFIX and not path.startswith(f'{PREFIX}/'):
            return self._application(environ, start_response)
        for name in ('HTTP_AUTHORIZATION', 'HTTP_X_AUTH_TOKEN'):
            environ.pop(name, None)
        browser = environ[BROWSER] = sessions.browser_of(environ)
        if path in (LOGIN, LOGOUT) or path.startswith(STATIC):
            environ[ROUTE] = STATIC if path.startswith(STATIC) else path
            answer: Iterable[bytes] = self._public(environ, start_response)
            return answer
        if self._login.fields:
            try:
                credentials = self._sessions.credentials(browser)
            except exceptions.WatcherliteError as error:
                fault = errors.fault_of(error, '')
                return errors.respond(environ, start_response, fault)
            if credentials is None or not self._login.authenticate(
                credentials, environ
            ):
                return _to_login(environ, start_response)
        return _Reply(self._application, environ, start_response).parts


class _Reply:
    """The response to a page; a 401 of the API becomes a redirection to the login."""

    def __init__(self, application: Wsgi, environ: Environ, start: Any) -> None:
        self._start = start
        self._is_refused = False
        parts = application(environ, self._start_unless_rejected)
        if self._is_refused:
            b''.join(parts)
            parts = _to_login(environ, start)
        self.parts = parts

    def _start_unless_rejected(
        self, status: str, headers: Sequence[tuple[str, str]], *rest: Any
    ) -> Any:
        if status.startswith('401 '):
            self._is_refused = True
            return bytes
        return self._start(status, headers, *rest)


def _to_login(environ: Environ, start_response: Any) -> Iterable[bytes]:
    """Redirect to the login form, and from there back to the page."""
    root, back = proxy_prefix(environ), ''
    if environ['REQUEST_METHOD'] == 'GET':
        query = environ.get('QUERY_STRING', '')
        path = parse.quote(environ['PATH_INFO'], encoding='latin-1')
        back = root + path + (f'?{query}' if query else '')
    target = address(root, 'login', next=back)
    headers = [
        *_HEADERS.items(),
        ('Location', target),
        ('Cache-Control', 'no-store'),
        ('Content-Type', falcon.MEDIA_HTML),
        ('Content-Length', '0'),
    ]
    start_response('303 See Other', headers)
    return []


class _Headers:
    """Middleware of falcon that sets the headers of all responses."""

    def process_response(
        self,
        request: falcon.Request,
        response: falcon.Response,
        resource: Any,
        succeeded: bool,
    ) -> None:
        """Set the headers."""
        response.set_headers(_HEADERS)
        if response.get_header('Cache-Control') is None:
            response.set_header('Cache-Control', 'no-store')


def _new_app(renderer: Renderer, router: routing.CompiledRouter) -> falcon.App:
    """Return an application that shows errors as pages."""
    app = falcon.App(middleware=[_Headers()], router=router)
    app.req_options.strip_url_path_trailing_slash = True

    def fail(
        request: falcon.Request,
        response: falcon.Response,
        error: Exception,
        params: Mapping[str, Any],
    ) -> None:
        status, text = _failure(error, request)
        response.status = status
        response.content_type = falcon.MEDIA_HTML
        render = functools.partial(
            renderer.render,
            'error.html',
            request.env,
            request.context.get('view'),
            status=status,
            error=text,
        )
        try:
            response.text = render()
        except Exception:
            # Most likely a policy rule that asks another server.
            LOG.exception('An error page is shown without its navigation')
            response.text = render(navigation=())

    app.add_error_handler(Exception, fail)
    app.add_error_handler(falcon.HTTPError, fail)
    return app


def _failure(error: Exception, request: falcon.Request) -> tuple[int, str]:
    """Return the status and the message of a failed request."""
    if isinstance(error, ApiError):
        return error.status, error.text
    request_id = request.env.get(REQUEST_ID, '')
    fault = errors.fault_of(error, request_id)
    if fault.is_hidden:
        log_failure(request, request_id, fault.status, error)
    return fault.status, fault.text


class _StaticFiles:
    """The style sheet and the scripts.

    A browser asks each time whether its copy is current, so that a page never runs the
    scripts of an earlier version.
    """

    def __init__(self) -> None:
        folder = importlib.resources.files('watcherlite.dashboard') / 'static'
        self._files = {file.name: file.read_bytes() for file in folder.iterdir()}
        self._etags = {
            name: falcon.ETag(hashlib.sha256(data).hexdigest()[:32])
            for name, data in self._files.items()
        }

    def on_get(
        self, request: falcon.Request, response: falcon.Response, name: str
    ) -> None:
        """Return a file."""
        if name not in self._files:
            raise falcon.HTTPNotFound
        response.set_header('Cache-Control', 'no-cache')
        response.etag = self._etags[name]
        if self._etags[name] in (request.if_none_match or ()):
            response.status = 304
            return
        response.content_type = mimetypes.guess_type(name)[0] or falcon.MEDIA_TEXT
        response.data = self._files[name]


class _LoginForm:
    def __init__(self, login: Login, store: Sessions, renderer: Renderer) -> None:
        self._login = login
        self._sessions = store
        self._renderer = renderer

    def on_get(self, request: falcon.Request, response: falcon.Response) -> None:
        """Show the form."""
        if not self._login.fields:
            raise falcon.HTTPSeeOther(address(proxy_prefix(request.env)))
        browser: Browser = request.env[BROWSER]
        self._show(request, response, browser, request.get_param('next') or '')

    def on_post(self, request: falcon.Request, response: falcon.Response) -> None:
        """Log in, and continue at the page that was asked for."""
        browser: Browser = request.env[BROWSER]
        form = read_form(request, browser)
        back = form.get('next', '')
        try:
            credentials, until = self._login.log_in(form)
        except LoginFailed as error:
            response.status = error.status
            self._show(request, response, browser, back, str(error), form)
            return
        except TooManyPasswords as error:
            response.status = 503
            self._show(request, response, browser, back, str(error), form)
            return
        logged_in = self._sessions.create(credentials, until)
        _set_cookie(request, response, logged_in, self._sessions.lifetime)
        response.status = 303
        root = proxy_prefix(request.env)
        response.location = back if _is_page(back, root) else address(root)

    def _show(
        self,
        request: falcon.Request,
        response: falcon.Response,
        browser: Browser,
        back: str,
        error: str = '',
        form: Mapping[str, str] | None = None,
    ) -> None:
        if browser.is_new:
            _set_cookie(request, response, browser, self._sessions.lifetime)
        response.content_type = falcon.MEDIA_HTML
        response.text = self._renderer.render(
            'login.html',
            request.env,
            fields=self._login.fields,
            given={k: v for k, v in (form or {}).items() if k != 'password'},
            back=back if _is_page(back, proxy_prefix(request.env)) else '',
            error=error,
        )


class _LogoutForm:
    def __init__(self, store: Sessions) -> None:
        self._sessions = store

    def on_post(self, request: falcon.Request, response: falcon.Response) -> None:
        """Delete the session."""
        browser: Browser = request.env[BROWSER]
        read_form(request, browser)
        self._sessions.delete(browser)
        _set_cookie(request, response, browser, 0)
        response.status = 303
        response.location = address(proxy_prefix(request.env), 'login')


def _set_cookie(
    request: falcon.Request, response: falcon.Response, browser: Browser, lifetime: int
) -> None:
    name, value = sessions.cookie_header(browser, request.env, lifetime)
    response.append_header(name, value)


def _is_page(target: str, root: str) -> bool:
    """Return whether an address is a page, not another site.

    :param root: the path below which a proxy serves the application, or ''
    """
    parts = parse.urlsplit(target)
    home = root + PREFIX
    return (
        not parts.scheme
        and not parts.netloc
        and (parts.path == home or parts.path.startswith(f'{home}/'))
        and '\\' not in target
    )


def read_form(request: falcon.Request, browser: Browser) -> dict[str, Any]:
    """Return the fields of a form; lists for those that occur several times.

    :raises Forbidden: another site sent it, or its token is not that of the browser
    :raises Invalid: it is no form
    """
    origin = request.get_header('Origin')
    if origin is not None and origin != f'{request.scheme}://{request.netloc}':
        raise exceptions.Forbidden(
            f'The form was sent by {origin[:100]}, another site, and was not executed'
        )
    length = request.content_length or 0
    if length > MAX_FORM:
        raise falcon.HTTPContentTooLarge(description='The form is too large')
    try:
        pairs = parse.parse_qsl(
            request.bounded_stream.read(MAX_FORM).decode(),
            keep_blank_values=True,
            strict_parsing=bool(length),
            max_num_fields=2000,
        )
    except ValueError:
        raise exceptions.Invalid('The form cannot be read') from None
    form: dict[str, Any] = {}
    for name, value in pairs:
        form[name] = [*form[name], value] if name in form else [value]
    given = form.pop(FORM_FIELD, [''])[0]
    if browser.is_new or not browser.is_form_token(given):
        raise exceptions.Forbidden(
            'The form is out of date, because the session has ended or cookies are '
            'off. Reload the page and try again'
        )
    return {k: v[0] if len(v) == 1 else v for k, v in form.items()}


class Pages:
    """The pages behind the authentication, as a WSGI callable."""

    def __init__(
        self, application: Wsgi, policy: AccessPolicy, renderer: Renderer
    ) -> None:
        self.renderer = renderer
        self._application = application
        self._policy = policy
        self._app = _new_app(renderer, _pages_router())

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        if path == PREFIX or path.startswith(f'{PREFIX}/'):
            environ[PAGES] = self
            answer: Iterable[bytes] = self._app(environ, start_response)
            return answer
        return self._application(environ, start_response)

    def make_view(self, request: falcon.Request, **form: Any) -> View:
        """Return the view of a request.

        :param form: its form, if it is one
        """
        caller: Caller = request.env[CALLER]
        view = View(
            ApiClient(self._application, request.env),
            caller,
            self._policy,
            proxy_prefix(request.env),
            args={k: v for k, v in request.params.items() if isinstance(v, str)},
            **form,
        )
        request.context['view'] = view
        return view


@functools.cache
def _pages_router() -> routing.CompiledRouter:
    """Return the router of all pages, one for a process."""
    router = routing.CompiledRouter()
    tables = pages.TABLES
    shown = {page.handler: page for table in tables for page in table.pages.values()}
    for table in tables:
        for path, page in table.pages.items():
            router.add_route(path, _PageResource(path, page))
        for path, form in table.forms.items():
            router.add_route(path, _FormResource(path, shown[form.page], form))
    for path, source in pages.STREAMS.items():
        router.add_route(path, _Stream(path, source))
    return router


class _Resource:
    """The base of the resources of pages and forms."""

    def __init__(self, path: str, page: Page) -> None:
        self._path = path
        self._page = page

    def _render(
        self,
        request: falcon.Request,
        response: falcon.Response,
        view: View,
        path: Mapping[str, str],
        **more: str,
    ) -> None:
        page = self._page
        browser: Browser = request.env[BROWSER]
        if browser.is_new:
            # Without a login, the cookie is what protects the forms.
            name, value = sessions.cookie_header(browser, request.env, 86400)
            response.append_header(name, value)
        variables = page.handler(view, **path)
        done = pages.DONE.get(view.args.get('done', ''), '')
        response.content_type = falcon.MEDIA_HTML
        shown_by: Pages = request.env[PAGES]
        response.text = shown_by.renderer.render(
            page.template, request.env, view, done=done, **{**variables, **more}
        )


class _PageResource(_Resource):
    def on_get(
        self, request: falcon.Request, response: falcon.Response, **path: str
    ) -> None:
        """Show the page."""
        request.env[ROUTE] = self._path
        view = request.env[PAGES].make_view(request)
        self._render(request, response, view, path)


class _FormResource(_Resource):
    """A form; its page shows the refusal of the API."""

    def __init__(self, path: str, page: Page, form: Form) -> None:
        super().__init__(path, page)
        self._form = form

    def on_post(
        self, request: falcon.Request, response: falcon.Response, **path: str
    ) -> None:
        """Execute the form, and continue at a page."""
        request.env[ROUTE] = self._path
        given = read_form(request, request.env[BROWSER])
        chosen = given.pop('uuid', [])
        view: View = request.env[PAGES].make_view(
            request,
            form={k: v for k, v in given.items() if isinstance(v, str)},
            chosen=tuple(chosen) if isinstance(chosen, list) else (chosen,),
        )
        try:
            target = self._form.handler(view, **path)
        except ApiError as error:
            response.status = error.status
            self._render(request, response, view, path, error=error.text)
            return
        response.status = 303
        response.location = target


class _Stream:
    """The events of a resource, as a stream, or as JSON for clients that poll."""

    def __init__(self, path: str, source: str) -> None:
        self._path = path
        self._source = source

    def on_get(
        self, request: falcon.Request, response: falcon.Response, **path: str
    ) -> None:
        """Return the events after the argument `after`."""
        request.env[ROUTE] = self._path
        view: View = request.env[PAGES].make_view(request)
        source = self._source.format(**path)
        after = request.get_header('Last-Event-ID') or view.args.get('after', '0')
        if 'text/event-stream' not in request.accept:
            response.media = view.api.get(source, after=after)
            return
        status, headers, parts = view.api.stream(source, after)
        response.status = status
        response.set_headers(headers)
        response.stream = parts
