"""Second factors: setting up and using an authenticator app and passkeys. Also: the suggested time zone."""

import time

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import PASSWORD, latest_mail, sign_up, violations
from tests.services import code_in


def code(secret: str) -> str:
    """Return the authenticator app's code. If the current code expires soon, wait for the next one."""
    if time.time() % 30 > 10:
        time.sleep(31 - time.time() % 30)
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


def confirm_password(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm it’s you")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def enter_mailed_code(page: Page, portal: Portal, address: str) -> None:
    """Enter the emailed code. The email arrives before the page is shown."""
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm by email")
    page.get_by_label("Code").fill(code_in(latest_mail(portal, address)))
    page.get_by_role("button", name="Continue").click()


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def sign_in(page: Page, address: str) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(address)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_an_app_for_codes_without_javascript(browser: Browser, portal: Portal) -> None:
    small = {"width": 360, "height": 740}
    context = browser.new_context(base_url=portal.url, viewport=small, java_script_enabled=False)
    page = context.new_page()
    sign_up(page, portal, "Ines")
    page.goto("/settings/")
    page.get_by_role("link", name="Two-factor authentication").click()
    page.get_by_role("link", name="Set up authenticator app").click()
    confirm_password(page)
    enter_mailed_code(page, portal, "ines@example.org")
    secret = page.locator("main code").inner_text()
    expect(page.get_by_role("img", name="QR code for the key below")).to_be_visible()
    page.get_by_label("Authenticator code").fill(code(secret))
    page.get_by_role("button", name="Confirm app").click()
    expect(page.locator("ol.codes li")).to_have_count(10)
    recovery = page.locator("ol.codes li").first.inner_text()

    sign_out(page)
    sign_in(page, "ines@example.org")
    expect(page.get_by_role("heading", level=1)).to_have_text("Two-factor authentication")
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Incorrect code.")).to_be_visible()
    page.get_by_label("Code").fill(code(secret))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Ines", exact=True)).to_be_visible()

    sign_out(page)
    sign_in(page, "ines@example.org")
    page.get_by_label("Code").fill(recovery)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Ines", exact=True)).to_be_visible()
    context.close()


@pytest.fixture
def keyed(page: Page, portal: Portal) -> Page:
    """A browser page with a security key that is always touched.

    Use it with a host name, because browsers do not bind passkeys to IP addresses.
    """
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    key = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    touched = {"isUserVerified": True, "automaticPresenceSimulation": True}
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": key | touched})
    return page


def test_a_passkey_signs_in_alone_or_after_the_password(keyed: Page, portal: Portal) -> None:
    page, home = keyed, portal.url.replace("127.0.0.1", "localhost")
    sign_up(page, portal, "Petra")
    page.goto(f"{home}/accounts/login/")  # the browser has no session for this host name
    page.get_by_label("Email").fill("petra@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Petra", exact=True).click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Two-factor authentication").click()
    page.get_by_role("link", name="Add passkey").click()
    confirm_password(page)
    enter_mailed_code(page, portal, "petra@example.org")
    found = violations(page)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.locator("ol.codes li")).to_have_count(10)
    page.goto(f"{home}/accounts/2fa/webauthn/")
    expect(page.get_by_role("rowheader")).to_have_text("Laptop")
    found += violations(page)

    page.goto(f"{home}/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.goto(f"{home}/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("Petra", exact=True)).to_be_visible()

    page.goto(f"{home}/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.goto(f"{home}/accounts/login/")
    page.get_by_label("Email").fill("petra@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two-factor authentication")
    found += violations(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("Petra", exact=True)).to_be_visible()
    assert not found, "\n".join(found)


def test_without_a_passkey_the_page_says_so(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()  # a passkey cannot be bound to an IP address
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used")


def test_pages_of_an_account_are_open_to_everybody(page: Page, portal: Portal) -> None:
    sign_up(page, portal, "Rosa")
    page.goto("/accounts/2fa/totp/activate/")
    found = violations(page)
    confirm_password(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm by email")
    page.get_by_label("Code").fill("BCDF-GHJK")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("This code doesn’t match")
    found += violations(page)
    page.get_by_role("button", name="Send new code").click()
    expect(page.get_by_role("status")).to_contain_text("We’re sending you a new code.")
    enter_mailed_code(page, portal, "rosa@example.org")
    expect(page.get_by_role("heading", level=1)).to_have_text("Set up authenticator app")
    for path in ("settings/", "settings/delete/", "accounts/email/", "accounts/password/change/", "accounts/sessions/",
                 "accounts/2fa/", "accounts/2fa/totp/activate/"):  # fmt: skip
        page.goto(f"/{path}")
        found += violations(page)
    assert not found, "\n".join(found)


def test_the_browsers_time_zone_is_offered(browser: Browser, portal: Portal) -> None:
    context = browser.new_context(base_url=portal.url, timezone_id="Asia/Tokyo")
    page = context.new_page()
    sign_up(page, portal, "Sora")
    page.goto("/settings/")
    expect(page.get_by_text("Your browser’s time zone: Asia/Tokyo.")).to_be_visible()
    page.get_by_role("button", name="Use this time zone").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your settings were saved.")).to_be_visible()
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    context.close()
