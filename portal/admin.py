"""Django's administration. Records are read-only, and the few changes that are possible are audited."""

from collections.abc import Sequence
from typing import Any

from allauth.account.admin import EmailAddress
from allauth.account.decorators import secure_admin_login
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.admin import UserSession
from django.contrib import admin
from django.contrib.auth.admin import Group  # type: ignore[attr-defined]  # registered there
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.forms import BaseFormSet, ModelForm
from django.http import HttpRequest
from django.utils.functional import cached_property

from portal.actions.organizers import end_ranking
from portal.models import (
    AuditEntry,
    Download,
    Evaluation,
    GoldStandard,
    Membership,
    OutgoingMail,
    Run,
    SharedTask,
    Signature,
    Submission,
    Team,
    User,
)
from portal.models.clock import database_now

# Use the portal's sign-in, with verified addresses and rate limits, instead of Django's.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth documents

# The pages of other apps would show secrets or change accounts without an audit entry.
for model in (Authenticator, EmailAddress, Group, SocialAccount, SocialApp, SocialToken, UserSession):
    admin.site.unregister(model)


class ShownFieldsAdmin(admin.ModelAdmin):
    """Lists that can be filtered only by the columns shown. Other filters could reveal secrets letter by letter."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        filters = (own[0] if isinstance(own, tuple) else own for own in self.get_list_filter(request))
        shown = {*self.get_list_display(request), *filters}
        return lookup.split("__")[0] in shown and super().lookup_allowed(lookup, value, request)


class NewestTasksFilter(admin.RelatedFieldListFilter):
    """A filter that offers the newest shared tasks. The search finds rows of older ones by the task's slug."""

    MOST = 50

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(str(task.pk), str(task)) for task in SharedTask.objects.all()[: self.MOST]]


admin.FieldListFilter.register(lambda field: field.related_model is SharedTask, NewestTasksFilter, take_priority=True)


class LabelsFilter(admin.ChoicesFieldListFilter):
    """A filter by a field's choices, in which choices with the same label are one."""

    def expected_parameters(self) -> list[str | None]:
        return [self._parameter]

    @property
    def _parameter(self) -> str:
        return self.lookup_kwarg.replace("__exact", "__in")

    def choices(self, changelist: Any) -> Any:
        """Yield a choice for all rows and one for each label, with the query that selects its rows."""
        given: Any = self.used_parameters.get(self._parameter, ())
        chosen = {value for values in given for value in values}
        labels = dict[str, list[str]]()
        for value, label in self.field.flatchoices:
            labels.setdefault(str(label), []).append(str(value))
        query = changelist.get_query_string(remove=[self._parameter])
        yield {"selected": not chosen, "query_string": query, "display": "All"}
        for label, values in labels.items():
            query = changelist.get_query_string({self._parameter: ",".join(values)})
            yield {"selected": chosen.issuperset(values), "query_string": query, "display": label}


class CappedPaginator(Paginator):
    """A paginator that counts at most `MOST` rows, so that it need not read a table of a million rows.

    Filters and the search find older rows.
    """

    MOST = 10_000

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        assert isinstance(rows, QuerySet)
        return rows.order_by()[: self.MOST].count()


class RecordAdmin(ShownFieldsAdmin):
    """Records that cannot be added, changed or deleted manually."""

    paginator = CappedPaginator
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


RECORDS: dict[type[Model], dict[str, tuple[Any, ...]]] = {
    Submission: {
        "list_select_related": ("team", "shared_task", "phase__shared_task"),
        "sortable_by": ("received_at",),  # sorting by a column without an index reads the whole table
        "list_display": ("file_name", "team", "shared_task", "phase", "state", "received_at"),
        "list_filter": ("shared_task", "state"),
        "search_fields": ("file_name", "team__name", "sha256", "shared_task__slug"),
    },
    Run: {
        "list_select_related": ("team", "track__shared_task", "phase__shared_task"),
        "sortable_by": ("received_at",),
        "list_display": ("name", "kind", "team", "track", "phase", "state", "attempts", "postponed", "received_at"),
        "list_filter": ("track__shared_task", "kind", ("state", LabelsFilter)),
        "search_fields": ("name", "team__name", "sha256", "track__shared_task__slug"),
    },
    Evaluation: {
        "list_select_related": ("run", "gold__track__shared_task"),
        "sortable_by": (),
        "list_display": ("run", "gold", "scorer", "created_at"),
    },
    GoldStandard: {"list_display": ("track", "split", "version", "created_at")},
    AuditEntry: {
        "list_display": ("at", "actor", "shared_task", "verb", "subject"),
        "list_filter": ("shared_task", "verb"),
        "search_fields": ("shared_task__slug",),
    },
    OutgoingMail: {
        "list_display": ("queued_at", "kind", "address", "shared_task", "team", "state", "attempts", "sent_at"),
        "list_filter": ("shared_task", "kind", "state"),
        "list_select_related": ("user", "shared_task", "team"),
        "search_fields": ("address", "shared_task__slug"),
    },
    Signature: {
        "list_display": ("signed_at", "typed_name", "user", "shared_task", "version"),
        "list_filter": ("shared_task", "version"),
        "search_fields": ("typed_name", "user__email", "shared_task__slug"),
    },
    Download: {
        "list_display": ("at", "user", "team", "shared_task", "dataset", "address"),
        "list_filter": ("shared_task", "dataset"),
        "search_fields": ("user__email", "shared_task__slug"),
    },
}
for record, shown in RECORDS.items():
    admin.site.register(record, RecordAdmin, **shown)


class AuditedAdmin(ShownFieldsAdmin):
    """Rows that can be changed. The old and new values are written to the audit log."""

    def save_related(
        self, request: HttpRequest, form: ModelForm, formsets: Sequence[BaseFormSet], change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        before, after = form.initial, form.cleaned_data
        changes = {name: [_words(before[name]), _words(after[name])] for name in form.changed_data}
        _audit(request, form.instance, AuditEntry.Event.ADMIN_CHANGE, changes)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        _audit(request, obj, AuditEntry.Event.ADMIN_DELETE, {})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        for row in queryset:
            self.delete_model(request, row)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


class UndeletableAdmin(AuditedAdmin):
    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class DeletableAdmin(AuditedAdmin):
    """Rows that can only be deleted. Their pages have no button that saves nothing."""

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


def _audit(request: HttpRequest, row: Model, event: AuditEntry.Event, detail: dict[str, Any]) -> None:
    assert request.user.is_authenticated
    AuditEntry.objects.record(request.user, event, row, database_now(), subject=_known(row), **detail)


def _words(value: object) -> str:
    return ", ".join(map(_known, value)) if isinstance(value, (list, QuerySet)) else str(value)


def _known(row: Model) -> str:
    """Return the row's kind and number. Names and addresses must not be copied where they cannot be erased."""
    return f"{row._meta.verbose_name} {row.pk}"


@admin.register(SharedTask)
class SharedTaskAdmin(UndeletableAdmin):
    """A task's organizers. All other values come from the task's definition."""

    list_display = ("title", "slug", "venue", "imported_at")
    filter_horizontal = ("organizers",)
    fields = ("organizers",)

    def save_related(
        self, request: HttpRequest, form: ModelForm, formsets: Sequence[BaseFormSet], change: bool
    ) -> None:
        """Save the organizers. Their teams have no rank from now on, as if an organizer had added them.

        Those who were removed are recorded, because they have seen hidden scores and stay without a rank.
        """
        before = set(form.instance.organizers.values_list("pk", flat=True))
        super().save_related(request, form, formsets, change)
        for account in sorted(before - set(form.instance.organizers.values_list("pk", flat=True))):
            _audit(request, form.instance, AuditEntry.Event.ADMIN_CHANGE, {"account": account})
        own = Team.objects.filter(shared_task=form.instance, members__organized_tasks=form.instance)
        for team in own.exclude(state=Team.State.WITHDRAWN):
            end_ranking(team, database_now())


class MembershipInline(admin.TabularInline):
    model = Membership


@admin.register(Team)
class TeamAdmin(RecordAdmin):
    """Teams, read-only.

    Teams are approved and declined on the organizers' page, which sends emails and writes audit entries.
    """

    list_display = ("name", "shared_task", "state", "created_at")
    list_filter = ("shared_task", "state")
    search_fields = ("name", "shared_task__slug")
    exclude = ("invitation_code", "data_password", "data_password_at")
    inlines = (MembershipInline,)


@admin.register(User)
class UserAdmin(UndeletableAdmin):
    """Accounts: which are active, and which are administrators.

    People change their own data and delete their own accounts.
    """

    list_display = ("email", "name", "is_active", "may_create_tasks", "is_staff", "date_joined")
    search_fields = ("email", "name")
    fields = ("email", "name", "affiliation", "country", "is_active", "may_create_tasks", "is_staff", "is_superuser")
    readonly_fields = ("email", "name", "affiliation", "country")


@admin.register(EmailAddress)
class EmailAddressAdmin(UndeletableAdmin):
    """Email addresses. If someone does not receive the link, their address can be marked as verified."""

    list_display = ("email", "user", "primary", "verified")
    search_fields = ("email", "user__name")
    fields = ("user", "email", "primary", "verified")
    readonly_fields = ("user", "email", "primary")


@admin.register(Authenticator)
class AuthenticatorAdmin(DeletableAdmin):
    """Second factors. If someone has lost theirs, it can be deleted. Its secret is never shown."""

    list_display = ("user", "type", "created_at", "last_used_at")
    search_fields = ("user__email", "user__name")
    fields = readonly_fields = ("user", "type", "created_at", "last_used_at")


@admin.register(SocialAccount)
class SocialAccountAdmin(DeletableAdmin):
    """Connected accounts. If someone has lost access to one, it can be deleted."""

    list_display = ("user", "provider", "uid", "last_login")
    search_fields = ("user__email", "user__name", "uid")
    fields = readonly_fields = ("user", "provider", "uid", "last_login", "date_joined")
