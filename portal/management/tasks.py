"""The shared task that a command's argument names."""

from django.core.management.base import CommandError

from portal.models import SharedTask


def named_task(slug: str) -> SharedTask:
    """Return the task with this slug. If there is none, the error lists all slugs."""
    shared_task = SharedTask.objects.filter(slug=slug).first()
    if shared_task is None:
        there = ", ".join(SharedTask.objects.values_list("slug", flat=True))
        raise CommandError(f"There is no shared task {slug}. Available tasks: {there}")
    return shared_task
