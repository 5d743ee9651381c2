"""Helpers for tests of data access."""

import re

from portal.permissions import data_access
from tests.portal.world import EVALUATION, deliver, stored_path
from tests.services import text_of

DATA = "/tasks/gated/data/"
PASSWORD_PAGE = "/tasks/gated/password/"


def latest_password(smtp):
    deliver(EVALUATION)
    return re.search(r"^[\w-]{22}$", text_of(smtp.mails[-1]), re.MULTILINE)[0]


def body(gated, name):
    return stored_path(gated.stored_dataset(name).sha256).read_bytes()


def status(client, name="test"):
    return client.get(f"{DATA}{name}/").status_code


def obstacles(user, gated, access, at=EVALUATION, stamp=""):
    return data_access(user, gated, stamp).obstacles(access, None, at)
