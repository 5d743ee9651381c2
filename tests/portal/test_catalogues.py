"""Translations of emails: complete, compiled, and with the same placeholders."""

import gettext
import re
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.test import Client

from tests.portal.world import person

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != "en"]
NAMES = re.compile(r"%\(\w+\)\w")


def folder(language: str) -> Path:
    return Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_with_its_names(language):
    catalogue = polib.pofile(str(folder(language) / "django.po"))
    assert catalogue.percent_translated() == 100
    assert catalogue.fuzzy_entries() == []
    assert catalogue.obsolete_entries() == []
    for entry in catalogue:
        several = entry.msgstr_plural.get(1)
        for source, own in ((entry.msgid_plural, several),) if several else ((entry.msgid, entry.msgstr),):
            assert sorted(NAMES.findall(source)) == sorted(NAMES.findall(own)), source


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_is_what_is_written(language):
    written = polib.pofile(str(folder(language) / "django.po"))
    with (folder(language) / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for entry in written:
        if entry.msgid_plural:
            found = [compiled.ngettext(entry.msgid, entry.msgid_plural, n) for n in (1, 2)]
            assert found == [entry.msgstr_plural[0], entry.msgstr_plural[1]]
        else:
            assert compiled.gettext(entry.msgid) == entry.msgstr
    assert len(polib.mofile(str(folder(language) / "django.mo"))) == len(written)


def test_pages_speak_one_language(db):
    """Pages are not translated, because a mixture of languages would be worse than English."""
    user = person("Zoe")
    user.language = "es"
    user.save()
    client = Client(headers={"accept-language": "es"})
    client.force_login(user)
    for address in ("/", "/accounts/password/change/", "/settings/"):
        page = client.get(address, follow=True).content.decode()
        assert '<html lang="en">' in page
        assert "Contraseña" not in page
