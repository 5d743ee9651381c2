"""The portal's settings, from environment variables.

A variable can also come from a file, named by `<VARIABLE>_FILE`.
"""

import re
import sys
from datetime import timedelta
from email.utils import parseaddr
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from urllib.parse import quote, urlsplit

from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.management.utils import get_random_secret_key

from portal.environment import Environment, checked_out_revision
from portal.evaluation.lanes import Lane
from portal.evaluation.limits import (
    BROKER_SECONDS,
    CERTIFICATE_SECONDS,
    COUNT_SECONDS,
    HEARTBEAT_SECONDS,
    HINT_PRIORITY,
    JOB_SECONDS,
    PACKS_SECONDS,
    REFRESH_SECONDS,
    REGULAR_PRIORITY,
    REMIND_SECONDS,
    SWEEP_SECONDS,
    VISIBILITY_SECONDS,
)
from portal.logs import configuration
from portal.secret import kept_secret

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()

# The version that is running: set when an image is built, or read from git in a clone.
REVISION = env.str("AGON_REVISION", default="") or checked_out_revision(BASE_DIR)

# The portal's URL, which is also used in emails. It is never taken from a request, because anyone can forge its Host
# header. If AGON_URL or ALLOWED_HOSTS has a host other than localhost, the portal is public, and all settings are
# required.

THIS_MACHINE = ["127.0.0.1", "localhost", "[::1]"]
PUBLIC_URL = env.str("AGON_URL", default="http://127.0.0.1:8000").rstrip("/")
_host = urlsplit(PUBLIC_URL).hostname or ""
ALLOWED_HOSTS = list(dict.fromkeys([_host, *env.list("ALLOWED_HOSTS", default=[]), *THIS_MACHINE]))
HTTPS = PUBLIC_URL.startswith("https://")
PUBLIC = any(host not in THIS_MACHINE for host in ALLOWED_HOSTS)
env.problem_if(
    "*" in ALLOWED_HOSTS,
    "ALLOWED_HOSTS contains *. List the hosts that people use in addition to the host of AGON_URL.",
)
env.problem_if(PUBLIC and not HTTPS, "AGON_URL is the portal's public address and must start with https://.")

DEBUG = env.bool("DEBUG", default=False)
DEMO = env.bool("AGON_DEMO", default=False)
env.problem_if(PUBLIC and DEBUG, "DEBUG is on. Its error pages show internal details to everyone.")
env.problem_if(PUBLIC and DEMO, "AGON_DEMO is on. The passwords of the demo accounts are publicly known.")

# Data that this installation must not lose.

STATE_ROOT = Path(env.str("AGON_STATE", default=str(BASE_DIR / ".agon"))).resolve()
# Files that can be recreated. Each operating system user needs a separate folder.
CACHE_ROOT = Path(env.str("AGON_CACHE", default=str(STATE_ROOT)))
for _name, _folder in {"AGON_STATE": STATE_ROOT, "AGON_CACHE": CACHE_ROOT}.items():
    try:
        _folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        env.problem_if(True, f"{_name} is {_folder}, which can't be created: {error.strerror}.")
DATA_ROOT = STATE_ROOT / "data"  # definitions, uploads, baselines, datasets; with S3, only drafts and copies
GOLD_ROOT = STATE_ROOT / "gold"  # sealed, so the storage provider cannot read it

# Gold is sealed with the worker's public key. Web servers and commands need only this key. Only the worker has the
# private keys, which are separated by spaces, newest first. If no key is given, one is created in AGON_STATE.
GOLD_PUBLIC_KEY = env.str("AGON_GOLD_PUBLIC_KEY", default="").strip()
GOLD_PRIVATE_KEYS = env.str("AGON_GOLD_PRIVATE_KEY", default="").split()
for _name, _keys in {"AGON_GOLD_PUBLIC_KEY": [GOLD_PUBLIC_KEY], "AGON_GOLD_PRIVATE_KEY": GOLD_PRIVATE_KEYS}.items():
    _is_wrong = any(key and not re.fullmatch("[0-9a-f]{64}", key) for key in _keys)
    env.problem_if(_is_wrong, f"{_name} has an invalid value. Use a key that manage.py gold_keys new prints.")
env.problem_if(
    PUBLIC and not GOLD_PUBLIC_KEY and not GOLD_PRIVATE_KEYS,
    "AGON_GOLD_PUBLIC_KEY is missing (on a worker, AGON_GOLD_PRIVATE_KEY). To create both keys, run manage.py "
    "gold_keys new.",
)

# URL under which the proxy serves DATA_ROOT, but only for X-Accel-Redirect. In nginx: `location /data/ { internal;
# alias …/data/; }`.
ACCEL = env.str("AGON_ACCEL", default="")

# Keys must be set if several machines or containers share them. Otherwise, they are created here on first use.

SECRET_KEY = env.str("SECRET_KEY", default="")
RECEIPT_KEY = env.str("AGON_RECEIPT_KEY", default="")  # PEM; by default, a key is created next to the secret key
env.problem_if(
    PUBLIC and (len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 5 or SECRET_KEY.startswith("django-insecure")),
    "SECRET_KEY is missing or too easy to guess. Use at least 50 random characters (openssl rand -base64 48).",
)
env.problem_if(
    PUBLIC and not RECEIPT_KEY,
    "AGON_RECEIPT_KEY is missing. Set it to a private Ed25519 key in PEM format so that receipts stay valid.",
)
if not SECRET_KEY and not PUBLIC:
    SECRET_KEY = kept_secret(STATE_ROOT / "secret-key", get_random_secret_key)

# For a proxy that terminates TLS, sets X-Forwarded-Proto, discards the client's own header, and appends to
# X-Forwarded-For.
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(livez|healthz|readyz)$"]  # requested internally, without TLS
    SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds())
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    CSRF_TRUSTED_ORIGINS = [f"https://{host.lstrip('.')}" for host in ALLOWED_HOSTS]

# The number of trusted proxies that append to X-Forwarded-For. Earlier entries may be forged.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("AGON_PROXIES", default=1 if HTTPS else 0)

# Other sites through which people can sign in, if the portal is registered there.

_SIGN_IN_AT = {"orcid": "https://orcid.org", "github": "https://github.com"}
SIGN_IN_BY = {}
for _name in _SIGN_IN_AT:
    _id, _secret = (env.str(f"{_name.upper()}_{part}", default="") for part in ("CLIENT_ID", "SECRET"))
    env.problem_if(
        bool(_id) != bool(_secret), f"{_name.upper()}_CLIENT_ID and {_name.upper()}_SECRET must both be set."
    )
    if _id and _secret:
        SIGN_IN_BY[_name] = {"client_id": _id, "secret": _secret}

# Apps and middleware.

INSTALLED_APPS = [
    "portal",
    "portal.apps.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    *(f"allauth.socialaccount.providers.{name}" for name in SIGN_IN_BY),
    "allauth.usersessions",
    "csp",
]

MIDDLEWARE = [
    "portal.web.requests.counted",
    "portal.web.middleware.headers",
    "portal.api.requests.no_nul",
    "portal.web.middleware.no_nul",
    "django.middleware.security.SecurityMiddleware",
    "portal.web.board_cache.kept_boards",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "portal.web.sessions.limited",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "portal.web.sign_in.limits",
    "portal.web.middleware.form_addresses",
    "portal.web.middleware.unavailable",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "libraries": {
                name: f"portal.web.templatetags.{name}"
                for _finder, name, _is_package in iter_modules([str(BASE_DIR / "portal/web/templatetags")])
            },
        },
    },
]

# The database: SQLite next to the data, or DATABASE_URL. SQLite has one writer at a time. With IMMEDIATE, writers wait
# at the start of a transaction. With deferred locks, some transactions would fail at their end.

_is_pooled = env.bool("AGON_PGBOUNCER", default=False)
DATABASES = {"default": env.database("DATABASE_URL", default=f"sqlite:///{STATE_ROOT / 'agon.sqlite3'}")}
if password := env.str("DATABASE_PASSWORD", default=""):  # separate, so that it can come from a file
    DATABASES["default"]["PASSWORD"] = password
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode = WAL",
    }
    # With an in-memory database, threads would share one connection's locks, so tests use a file, as the portal does.
    DATABASES["default"]["TEST"] = {"NAME": STATE_ROOT / "test.sqlite3"}
else:
    env.need("psycopg", True, "DATABASE_URL")
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # Frequent statements are prepared once per connection, because planning takes most of the time for short
    # statements. With PgBouncer in transaction mode, each transaction may get a different connection, which has not
    # prepared them.
    DATABASES["default"].setdefault("OPTIONS", {}).update(  # in addition to options in the URL, such as sslmode
        server_side_binding=True, prepare_threshold=None if _is_pooled else 1
    )
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = _is_pooled

# The cache contains what must be the same for all web processes: rate limits and used one-time codes. It is in the
# database, so that signing in requires nothing that uploads do not require. Public boards have a separate cache in each
# process; see portal/web/board_cache.py.

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache",  # the table is created by a migration
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # large, because a limit is forgotten if its entry is removed early
    },
    "figures": {  # slow to draw, but can be drawn again
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": CACHE_ROOT / "figures",
        "OPTIONS": {"MAX_ENTRIES": 5000},
    },
    "rates": {  # API requests, counted separately in each web process; see portal/api/rates.py
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "rates",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "boards": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "boards",
        "TIMEOUT": 300,
        "OPTIONS": {"MAX_ENTRIES": 200},
    },
}

# Accounts are identified by an email address, which must be verified. There are no user names.

AUTH_USER_MODEL = "portal.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_FORMS = {
    "login": "portal.web.account_forms.LoginForm",
    "signup": "portal.web.account_forms.SignupForm",
    "change_password": "portal.web.account_forms.ChangePasswordForm",
    "reset_password_from_key": "portal.web.account_forms.ResetPasswordKeyForm",
}
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_CHANGE_EMAIL = True  # each account has one address; a new address replaces it once it is verified
ACCOUNT_EMAIL_NOTIFICATIONS = True  # emails about changes to the password, address or second factors
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before changes to the address, a second factor or a connected account
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "portal.web.sign_in.SignIn"
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,5/300s/key",  # the key consists of account and IP address
    "login_failed_account": "200/h/key",  # from all IP addresses combined
    "mail_code": "5/h/user",  # codes that are sent; see portal/web/mail_codes.py
    "device_code": "60/h/user",  # codes that are typed or opened; see portal/actions/device_login.py
    "mail_code_guess": "5/15m/key",  # the key is the code's digest
}
MFA_ADAPTER = "portal.web.second_factors.SecondFactors"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Agon"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers allow no insecure origins except localhost
# Allow a second factor while a new address is not verified yet. Signing in requires a verified address anyway.
MFA_ALLOW_UNVERIFIED_EMAIL = True
SOCIALACCOUNT_PROVIDERS = {name: {"APPS": [app]} for name, app in SIGN_IN_BY.items()}
SOCIALACCOUNT_AUTO_SIGNUP = False  # the form asks for a name and explains what a new account is
SOCIALACCOUNT_FORMS = {"signup": "portal.web.account_forms.ConnectedSignupForm"}

# Cookies and headers. The content security policy allows neither inline code nor nonces, because pages are cached.

SESSION_ENGINE = "portal.web.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:  # cookie names that browsers accept only from this host over TLS
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"
CSRF_COOKIE_HTTPONLY = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],  # Bootstrap draws its controls with data: images
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF, *(_SIGN_IN_AT[name] for name in SIGN_IN_BY)],  # forms may redirect to these sites
        "frame-ancestors": [NONE],
    }
}

# Uploaded files: small files are kept in memory, and larger files are dropped. Views that accept large files enable
# them after checking the sender; see portal/web/bodies.py.

FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
# The longest form has 50 answers of 1000 characters. Larger ones would only cost time.
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 10

# Static files have hashed names after `collectstatic`. If AGON_STATIC is not set, they are served from the source.

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.str("AGON_STATIC", default="") or None  # the target folder of `collectstatic`
WHITENOISE_USE_FINDERS = not STATIC_ROOT
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # unused: see portal/storage.py
    "data": {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": DATA_ROOT}},
    "gold": {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": GOLD_ROOT}},
    "staticfiles": {
        "BACKEND": "portal.web.static_files.StaticFiles"
        if STATIC_ROOT
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Data in a bucket instead of a folder, for web servers and workers on any number of machines. The endpoint is for
# stores other than Amazon's. Browsers must be able to reach it, because downloads are redirected to signed links there.

S3 = {name: env.str(f"AGON_S3_{name.upper()}", default="") for name in ("endpoint", "region", "key", "secret")}
S3_BUCKET = env.str("AGON_S3_BUCKET", default="")
env.problem_if(
    any(S3.values()) and not S3_BUCKET, "AGON_S3_BUCKET is missing. The other AGON_S3_… settings require it."
)
env.need("boto3", bool(S3_BUCKET), "AGON_S3_BUCKET")
if S3_BUCKET:
    STORAGES["data"] = {
        "BACKEND": "portal.objects.bucket.Bucket",
        "OPTIONS": {"name": S3_BUCKET, "scratch": DATA_ROOT, **S3},
    }

# Sealed gold can have its own bucket and keys. Otherwise, it is kept in GOLD_ROOT.
GOLD_BUCKET = env.str("AGON_S3_GOLD_BUCKET", default="")
GOLD_S3 = {name: env.str(f"AGON_S3_GOLD_{name.upper()}", default="") for name in ("key", "secret")}
env.problem_if(
    any(GOLD_S3.values()) and not GOLD_BUCKET,
    "AGON_S3_GOLD_BUCKET is missing. Set it to the bucket for encrypted gold.",
)
env.problem_if(bool(GOLD_BUCKET) and GOLD_BUCKET == S3_BUCKET, "AGON_S3_GOLD_BUCKET must differ from AGON_S3_BUCKET.")
env.need("boto3", bool(GOLD_BUCKET), "AGON_S3_GOLD_BUCKET")
if GOLD_BUCKET:
    STORAGES["gold"] = {
        "BACKEND": "portal.objects.bucket.Bucket",
        "OPTIONS": {"name": GOLD_BUCKET, "scratch": GOLD_ROOT, **S3, **GOLD_S3},
    }

# Languages and time. Times are stored in UTC and shown in AoE and the reader's time zone.

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español"), ("pt", "Português")]  # languages of emails; pages are in English
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"

# Email is sent over SMTP. The demo writes files instead.

DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default="Agon <agon@localhost>")
EMAIL_BACKEND = "portal.mail.demo.EmailBackend" if DEMO else "django.core.mail.backends.smtp.EmailBackend"
MAIL_ROOT = STATE_ROOT / "mail"  # used by the demo
DEMO_TASKS = STATE_ROOT / "demo-tasks"  # generated task folders and runs, which `./run demo --fresh` keeps
DEMO_IS_LOADING = STATE_ROOT / "demo-is-loading"  # exists while the demo loads its sample tasks
EMAIL_HOST = env.str("EMAIL_HOST", default="localhost")
EMAIL_PORT = env.int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=EMAIL_PORT == 465)  # implicit TLS, the default on port 465
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False) and not EMAIL_USE_SSL  # STARTTLS
EMAIL_TIMEOUT = 10
# Who gets alerts while the database, which has the administrators' addresses, does not respond.
ALERTS_TO = env.list("AGON_ALERTS_TO", default=[]) or [parseaddr(DEFAULT_FROM_EMAIL)[1]]

# Background work. Messages in the queue only speed things up, because every accepted upload has a row. Publishing
# therefore does not retry, results are not stored, and the sweep finds work whose message was lost.

DEMO_BROKER = STATE_ROOT / "broker-address"  # written by a running demo, for other commands on this machine
CELERY_BROKER_URL = env.str(
    "REDIS_URL", default=DEMO_BROKER.read_text() if DEMO_BROKER.is_file() else "redis://127.0.0.1:6379/0"
)
if password := env.str("REDIS_PASSWORD", default=""):  # separate, so that it can come from a file
    scheme, _, place = CELERY_BROKER_URL.partition("://")
    CELERY_BROKER_URL = f"{scheme}://:{quote(password, safe='')}@{place}"
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": VISIBILITY_SECONDS,
    "socket_connect_timeout": BROKER_SECONDS,
    "socket_timeout": BROKER_SECONDS,
    "max_retries": 0,
}
CELERY_TASK_DEFAULT_QUEUE = Lane.SCORING
CELERY_TASK_DEFAULT_PRIORITY = HINT_PRIORITY
CELERY_TASK_QUEUES: dict[str, dict[str, str]] = {lane: {} for lane in Lane}
_LANES = {
    Lane.MAIL: ("send_mail", "sweep_mails", "remind", "look_at_certificate"),
    Lane.BULK: (
        "refresh_boards",
        "refresh_board",
        "publish_board_items",
        "refresh_combined",
        "sweep_packs",
        "build_pack",
        "keep_counters",
        "reconcile",
        "preview_gold",
    ),
}
CELERY_TASK_ROUTES = {f"portal.{job}": {"queue": lane} for lane, jobs in _LANES.items() for job in jobs}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # workers wait for their broker as long as necessary
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_TIME_LIMIT = JOB_SECONDS
# A worker fetches a message when one of its processes is free. A prefetch multiplier of 1 would count unacknowledged
# messages instead. If the broker died before an acknowledgment, that count would never decrease, and the worker would
# stop fetching.
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 0
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
# The default of 4 seconds repeatedly kills processes that are slow to start on a busy machine.
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60
CELERY_DB_REUSE_MAX = sys.maxsize  # a new connection for each job would cost more than the job; see portal/celery.py
CELERY_BEAT_SCHEDULE_FILENAME = str(CACHE_ROOT / "beat-schedule")
CELERY_BEAT_SCHEDULER = "portal.celery:Beat"
# Messages do not expire, because expiry depends on the clock of the worker's machine.
CELERY_BEAT_SCHEDULE = {
    name: {"task": f"portal.{name}", "schedule": seconds, "options": {"priority": REGULAR_PRIORITY}}
    for name, seconds in (
        ("sweep", SWEEP_SECONDS),
        ("sweep_mails", SWEEP_SECONDS),
        ("remind", REMIND_SECONDS),
        ("refresh_boards", REFRESH_SECONDS),
        ("sweep_packs", PACKS_SECONDS),
        ("keep_counters", COUNT_SECONDS),
        ("look_at_certificate", CERTIFICATE_SECONDS),
    )
} | {
    f"heartbeat {lane}": {
        "task": "portal.heartbeat",
        "args": [lane],
        "schedule": HEARTBEAT_SECONDS,
        "options": {"queue": lane, "priority": REGULAR_PRIORITY},
    }
    for lane in Lane
}
CELERY_BEAT_SCHEDULE["reconcile"] = {
    "task": "portal.reconcile",
    "schedule": crontab(minute=23, hour=3),
    "options": {"priority": REGULAR_PRIORITY},
}

# Logs go to standard error, as readable lines or as JSON for a collector.

LOGGING = configuration(
    as_json=env.bool("LOG_JSON", default=False),
    level=env.str("LOG_LEVEL", default="INFO"),
    colours=env.bool("FORCE_COLOR", default=sys.stderr.isatty()),
)

# Prometheus sends this token to /metrics as a bearer token. If none is set, the page does not exist.

METRICS_TOKEN = env.str("AGON_METRICS_TOKEN", default="")

# Errors are reported to Sentry if SENTRY_DSN is set, without values, cookies or bodies.

SENTRY_DSN = env.str("SENTRY_DSN", default="")
env.need("sentry_sdk", bool(SENTRY_DSN), "SENTRY_DSN")
if PUBLIC:
    for name in ("AGON_URL", "AGON_STATE", "DATABASE_URL", "REDIS_URL", "EMAIL_FROM"):
        env.problem_if(not env.str(name, default=""), f"{name} is missing. A public portal must set it explicitly.")
    env.find_unknown()
env.exit_on_problems()

if SENTRY_DSN:
    from portal.sentry import report_errors

    report_errors(SENTRY_DSN)
