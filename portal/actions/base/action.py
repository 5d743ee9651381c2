"""Actions: functions with a declaration, called by pages, the API and scripts.

    @action(who=MEMBERS, says=_("withdrew a run"), errors=[RESULTS_FINAL], repeatable=True)
    def withdraw_run(
        call: ActionCall, run: Run, *, reason: Annotated[str, Field(min_length=1, max_length=300)]
    ) -> Run: ...

    withdraw_run(user, run, at, reason="Wrong file")

Every call has this form: user, target, time, and the input by name. The call checks the input, opens the transaction,
locks the target if the declaration requires it, checks the role, and runs the function, which writes the audit entry.
If a function should have written one but didn't, the call raises AssertionError.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_type_hints

from annotated_types import MaxLen
from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError, create_model

from portal.actions.base.errors import ActionError, Conflict, ErrorCode
from portal.actions.base.input import Input, input_error
from portal.actions.base.roles import NO_SECOND_FACTOR, Role
from portal.models import AuditEntry, User, Viewer

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

GONE = Conflict.declare("gone", _("This item no longer exists. Reload the page."))

ACTIONS: dict[str, "Action[Any, Any, Any]"] = {}
"""All actions by name. An action's name is also its verb in the audit log."""


@dataclass(slots=True)
class ActionCall:
    """One call of an action: the user, the time and the target. `viewer` is None for commands run on the server."""

    viewer: Viewer | None
    at: datetime
    action: "Action[Any, Any, Any]"
    target: Any
    team: Any = field(default=None, init=False)  # the user's team if only TAKING_PART may call the action
    has_recorded: bool = field(default=False, init=False)

    @property
    def actor(self) -> User | None:
        """The person named in the audit log, or None if the portal itself acts."""
        return self.viewer if isinstance(self.viewer, User) else None

    @property
    def user(self) -> User:
        """The user. Use this only in actions that require an account."""
        assert isinstance(self.viewer, User)
        return self.viewer

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """Open a transaction, lock the target if the declaration requires it, check the role, and yield the target.

        Raises:
            ActionError: GONE, or one of the role's errors.
        """
        with transaction.atomic():
            if self.action.locks:
                self.target = _locked(self.target)
            self.team = self.action.who.check(self.viewer, self.target)
            yield self.target

    def record(self, **entry: Any) -> None:
        """Write this call's audit entry with these details. A repeated call that changes nothing writes no entry.

        `subject` names the changed object if it is not the action's target.
        """
        self.action.record(self.actor, self.target, self.at, **entry)
        self.has_recorded = True


class Action(Generic[T, P, R]):
    """A declared action. Call it with the user, the target and the time, and pass the input as keyword arguments."""

    __name__: str  # of the function

    def __init__(self, function: Callable[Concatenate[ActionCall, T, P], R], declared: "ActionDeclaration") -> None:
        update_wrapper(self, function)
        self.name = declared.name or function.__name__
        self.who = declared.who
        self.says = declared.says
        self.second_factor = declared.second_factor
        factor = (NO_SECOND_FACTOR,) if declared.second_factor else ()
        self.errors = (*declared.errors, *factor, *declared.who.errors, *((GONE,) if declared.locks else ()))
        self.repeatable = declared.repeatable or bool(declared.key)
        self.key = declared.key
        self.locks = declared.locks
        self.Input = _input_of(function)
        self._function = function
        self._declared = declared

    def __call__(self, who: Viewer | None, target: T, at: datetime, *args: P.args, **given: P.kwargs) -> R:
        """Run the action.

        Raises:
            ActionError: one of `errors`, or of `input.INPUT_ERRORS`.
        """
        call = ActionCall(who, at, self, target)
        values = self._checked(given)
        try:
            with call.transaction() if self._declared.atomic else nullcontext(target) as target:
                if not self._declared.atomic:
                    call.team = self.who.check(who, target)
                result = self._function(call, target, *args, **values)
                assert call.has_recorded or self.repeatable or not self.says, f"{self.name} left no audit entry"
                return result
        except IntegrityError:
            if self._declared.on_race is None:
                raise
            return self._declared.on_race(call, target, **values)

    def record(self, actor: User | None, target: Any, at: datetime, **entry: Any) -> None:
        """Write an audit entry of this action, for code that carries it out as part of something else."""
        assert self.says, f"{self.name} leaves an entry, so it needs words for it"
        AuditEntry.objects.record(actor, self.name, target, at, **entry)

    def allows(self, who: Viewer, target: T) -> bool:
        """Return whether the person's role allows the call.

        Limits and deadlines are checked only when the action is called.
        """
        try:
            self.who.check(who, target)
        except ActionError:
            return False
        return True

    def length_of(self, name: str) -> int | None:
        """Return the maximum length of a text input, or None if it has no limit."""
        return next((one.max_length for one in self.Input.model_fields[name].metadata if isinstance(one, MaxLen)), None)

    def _checked(self, given: dict[str, Any]) -> Any:
        try:
            model = self.Input(**given)
        except ValidationError as error:
            raise input_error(error, self.Input) from None
        return {name: getattr(model, name) for name in self.Input.model_fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDeclaration:
    """The declaration that makes a function an action.

    Attributes:
        who: the role that may call the action, and whether it needs a second factor.
        second_factor: which calls need one ("for tokens that may organize") if the role doesn't. The function checks
            this and raises NO_SECOND_FACTOR.
        name: what the API and the audit log call the action, if its function has been renamed since.
        says: the verb phrase in the audit log ("withdrew a run"). Empty if the action writes no entry. With it, every
            call must write one, unless the action is repeatable and the call changed nothing.
        errors: all errors that it can raise, in addition to those of the role and the input.
        repeatable: a second call with the same input changes nothing.
        key: the input that makes a call repeatable, if only calls with it are.
        locks: the target is read again and locked until the transaction ends.
        atomic: if False, the role is checked without a transaction. The function opens its own transactions, for
            example with `call.transaction`, and writes the audit entry in one of them.
        on_race: called if a unique constraint fails because another call came first.
    """

    who: Role
    name: str = ""
    second_factor: str = ""
    says: str | Promise = ""
    errors: Iterable[ErrorCode] = ()
    repeatable: bool = False
    key: str = ""
    locks: bool = False
    atomic: bool = True
    on_race: Callable[..., Any] | None = None

    def __call__(self, function: Callable[Concatenate[ActionCall, T, P], R]) -> Action[T, P, R]:
        declared = Action(function, self)
        ACTIONS[declared.name] = declared
        return declared


action = ActionDeclaration  # the decorator


def _input_of(function: Callable[..., Any]) -> type[Input]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind == parameter.KEYWORD_ONLY:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
    return create_model(function.__name__, __base__=Input, **fields)


def _locked(target: Any) -> Any:
    """Read the row again and lock it until the transaction ends. Rows that refer to it can still be inserted.

    Raises:
        ActionError: GONE.
    """
    rows = target._meta.default_manager.select_for_update(of=("self",), no_key=True)
    if "shared_task" in {one.name for one in target._meta.fields}:
        rows = rows.select_related("shared_task")
    found = rows.filter(pk=target.pk).first()
    if found is None:
        raise GONE()
    return found
