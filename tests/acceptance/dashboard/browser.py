"""A browser for tests: headless Chromium."""

import atexit
import functools

import fixtures
from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests import services
from tests.bounded import TIMEOUT

#: Sizes of windows, in pixels.
DESKTOP, PHONE = (1280, 1000), (390, 844)


#: A page with a text for browsers that execute no scripts.
_NO_SCRIPTS = 'data:text/html,<noscript>no scripts</noscript>'


@functools.cache
def _driver() -> webdriver.Chrome:
    """Return the browser that the tests of a process share sequentially."""
    options = webdriver.ChromeOptions()
    options.binary_location = services.program(services.CHROMIUM)
    # A container has neither namespaces for its sandbox nor a large /dev/shm.
    for argument in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage'):
        options.add_argument(argument)
    # Proxies of tests have certificates of their own.
    options.accept_insecure_certs = True
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    service = webdriver.ChromeService(services.program(services.CHROMEDRIVER))
    driver = webdriver.Chrome(options=options, service=service)
    atexit.register(driver.quit)
    driver.set_page_load_timeout(TIMEOUT)
    return driver


class Browser(fixtures.Fixture):
    """A new window of a browser, without cookies; the last one opened is in use.

    :param scripts: whether pages may execute scripts
    :param dark: whether it prefers dark colours
    :ivar driver: the WebDriver, for all other operations
    """

    def __init__(
        self, size: tuple[int, int] = DESKTOP, scripts: bool = True, dark: bool = False
    ) -> None:
        super().__init__()
        self._size = size
        self._scripts = scripts
        self._dark = dark

    def setUp(self) -> None:
        # Not in _setUp, which would wrap the exception that signals a skip.
        self.driver = _driver()
        super().setUp()

    def _setUp(self) -> None:
        self.addCleanup(self._close, self.driver.current_window_handle)
        self.driver.switch_to.new_window('window')
        self.driver.execute_cdp_cmd('Network.clearBrowserCookies', {})
        # Messages of earlier tests.
        self.problems()
        metrics = {
            'width': self._size[0],
            'height': self._size[1],
            'deviceScaleFactor': 1,
            'mobile': self._size == PHONE,
        }
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', metrics)
        if self._dark:
            feature = {'name': 'prefers-color-scheme', 'value': 'dark'}
            self.driver.execute_cdp_cmd(
                'Emulation.setEmulatedMedia', {'features': [feature]}
            )

        if not self._scripts:
            self._disable_scripts()

    def _disable_scripts(self) -> None:
        disabled = {'value': True}
        self.driver.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', disabled)
        # A browser that ignores it would make the tests pass for nothing.
        self.driver.get(_NO_SCRIPTS)
        if self.text() != 'no scripts':
            raise AssertionError('the browser executes scripts')

    def _close(self, previous: str) -> None:
        self.driver.close()
        self.driver.switch_to.window(previous)

    def wait(self, condition, problem):
        """Wait until a condition without arguments is true; return its value.

        If the page is replaced meanwhile, the condition is evaluated again.
        """
        waiting = WebDriverWait(
            self.driver,
            TIMEOUT,
            0.05,
            ignored_exceptions=[
                exceptions.NoSuchElementException,
                exceptions.StaleElementReferenceException,
            ],
        )
        return waiting.until(lambda driver: condition(), problem)

    def text(self, selector='body'):
        """Return the text of the first element of a CSS selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def wait_for_text(self, text, selector='body'):
        """Wait until an element has a text."""
        self.wait(lambda: text in self.text(selector), f'{text!r} is not in {selector}')

    def click(self, text, within='body'):
        """Click a link, a button or a summary by its text, once it exists."""

        def find_and_click():
            element = self._find(text, within)
            if element is not None:
                element.click()
            return element

        self.wait(find_and_click, f'{within} has no {text!r}')

    def press(self, text, within='body'):
        """Focus a link, a button or a summary by Tab, and press Enter."""

        def find_and_press():
            element = self._find(text, within)
            if element is None:
                return None
            self.driver.execute_script('arguments[0].focus()', element)
            if self.driver.switch_to.active_element != element:
                return None
            element.send_keys(Keys.ENTER)
            return element

        self.wait(find_and_press, f'{within} has no {text!r}')

    def _find(self, text, within):
        """Return the first displayed link, button or summary with a text, or None."""
        place = self.driver.find_element(By.CSS_SELECTOR, within)
        kinds = 'self::a or self::button or self::summary'
        path = f'.//*[{kinds}][normalize-space() = "{text}"]'
        found = place.find_elements(By.XPATH, path)
        return next((element for element in found if element.is_displayed()), None)

    def problems(self):
        """Return the console messages: script errors, policy violations."""
        return [entry['message'] for entry in self.driver.get_log('browser')]
