"""The base class of Agon's commands."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, ProgrammingError

from portal.models.schema import schema_problems


class PortalCommand(BaseCommand):
    """A command that starts quickly and reports database errors without a traceback (`--traceback` shows it)."""

    # Django's checks load all pages and the API, which takes longer than most commands. `manage.py check` runs them.
    requires_system_checks: list[str] = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command.

        Raises:
            CommandError: also if the database is unreachable or lacks tables.
        """
        try:
            return super().execute(*args, **options)
        except (OperationalError, ProgrammingError) as error:
            if isinstance(error, ProgrammingError) and not schema_problems():
                raise  # a bug, which its traceback explains
            reason = str(error).strip() or type(error).__name__
            raise CommandError(f"Database error: {reason}\nTo find the cause, run: manage.py doctor") from error
