"""A browser for tests: headless Chromium."""

import fixtures
from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests import services
from tests.acceptance.daemons import PATIENCE

#: Sizes of windows, in pixels.
DESKTOP, PHONE = (1280, 1000), (390, 844)


class Browser(fixtures.Fixture):
    """A browser with an empty profile.

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
        self._chromium = services.program(services.CHROMIUM)
        self._chromedriver = services.program(services.CHROMEDRIVER)
        super().setUp()

    def _setUp(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = self._chromium
        # A container has neither namespaces for its sandbox nor a large /dev/shm.
        for argument in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage'):
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
        if not self._scripts:
            preference = 'profile.managed_default_content_settings.javascript'
            options.add_experimental_option('prefs', {preference: 2})
        service = webdriver.ChromeService(self._chromedriver)
        self.driver = webdriver.Chrome(options=options, service=service)
        self.addCleanup(self.driver.quit)
        self.driver.set_page_load_timeout(PATIENCE)
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

    def wait(self, condition, problem):
        """Wait until a condition without arguments is true; return its value.

        If the page is replaced meanwhile, the condition is evaluated again.
        """
        waiting = WebDriverWait(
            self.driver,
            PATIENCE,
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
            place = self.driver.find_element(By.CSS_SELECTOR, within)
            for element in place.find_elements(By.CSS_SELECTOR, 'a, button, summary'):
                if element.text.strip() == text:
                    element.click()
                    return True
            return False

        self.wait(find_and_click, f'{within} has no {text!r}')

    def press(self, text, within='body'):
        """Focus a link, a button or a summary by Tab, and press Enter."""

        def find_and_press():
            place = self.driver.find_element(By.CSS_SELECTOR, within)
            for element in place.find_elements(By.CSS_SELECTOR, 'a, button, summary'):
                if element.text.strip() == text and element.is_displayed():
                    self.driver.execute_script('arguments[0].focus()', element)
                    if self.driver.switch_to.active_element != element:
                        return False
                    element.send_keys(Keys.ENTER)
                    return True
            return False

        self.wait(find_and_press, f'{within} has no {text!r}')

    def problems(self):
        """Return the console messages: script errors, policy violations."""
        return [entry['message'] for entry in self.driver.get_log('browser')]
