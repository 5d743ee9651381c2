"""Django's makemessages, limited to emails. Only emails are translated; pages are in English."""

from typing import Any

from django.core.management.commands import makemessages

TRANSLATED = (
    "./portal/mail/texts/",
    "./portal/times_and_numbers.py",
    "./portal/queries/mails.py",
    "./templates/mail/",
)


class Command(makemessages.Command):
    def find_files(self, root: str) -> Any:
        return [file for file in super().find_files(root) if file.path.startswith(TRANSLATED)]
