"""Sessions in the database. Every request by a signed-in person reads one, so its SQL is prepared."""

from datetime import datetime

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from portal.models.prepared import PreparedQuery


class SessionStore(DatabaseStore):
    def _get_session_from_db(self) -> Session | None:
        found = _sessions.first(key=self.session_key, at=timezone.now())
        if found is None:
            self._session_key = None
        return found


@PreparedQuery
def _sessions(key: str, at: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)
