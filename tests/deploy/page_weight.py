"""Print as JSON how many bytes Chromium receives when it first opens a page: `page_weight.py URL HOST ADDRESS`.

This runs in a separate process because Playwright's event loop is already running in the browser tests' process. HOST
is resolved to ADDRESS, and its certificate is self-signed.
"""

import json
import sys

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS
from tests.services import chromium


def main(url: str, host: str, address: str) -> None:
    """Print the number of bytes for each URL, including headers."""
    sizes: dict[str, float] = {}
    addresses: dict[str, str] = {}
    flags = [*CHROMIUM_FLAGS, f"--host-resolver-rules=MAP {host} {address}"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        page = browser.new_context(ignore_https_errors=True, viewport={"width": 1280, "height": 800}).new_page()
        network = page.context.new_cdp_session(page)
        network.on("Network.requestWillBeSent", lambda one: addresses.update({one["requestId"]: one["request"]["url"]}))
        network.on(
            "Network.loadingFinished", lambda one: sizes.update({addresses[one["requestId"]]: one["encodedDataLength"]})
        )
        network.send("Network.enable")
        page.goto(url, wait_until="networkidle")
        browser.close()
    print(json.dumps(sizes))


if __name__ == "__main__":
    main(*sys.argv[1:])
