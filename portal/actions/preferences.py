"""What a person wants of the portal."""

from django.db import transaction

from portal.mail.unsubscribe import Wish
from portal.models import User


@transaction.atomic
def stop_mails(wish: Wish) -> None:
    """No more mails of that kind to that person; everything else stays as it is. Asking again changes nothing."""
    User.objects.filter(pk=wish.user_id).update(**{wish.field: False})
