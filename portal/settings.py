"""Settings of the portal, driven by the environment; any variable may come from a file named by `<VARIABLE>_FILE`."""

import re
import sys
from datetime import timedelta
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

# What runs here: an image is told at its making; a clone knows.
REVISION = env.str("AGON_REVISION", default="") or checked_out_revision(BASE_DIR)

# Where people find the portal; links in mails begin so. Never taken from a request, whose Host anybody can write.
# A portal that answers to a name that is not this machine's own is public: then nothing may be left to chance.

THIS_MACHINE = ["127.0.0.1", "localhost", "[::1]"]
PUBLIC_URL = env.str("AGON_URL", default="http://127.0.0.1:8000").rstrip("/")
_host = urlsplit(PUBLIC_URL).hostname or ""
ALLOWED_HOSTS = list(dict.fromkeys([_host, *env.list("ALLOWED_HOSTS", default=[]), *THIS_MACHINE]))
HTTPS = PUBLIC_URL.startswith("https://")
PUBLIC = any(host not in THIS_MACHINE for host in ALLOWED_HOSTS)
env.refuse("*" in ALLOWED_HOSTS, "ALLOWED_HOSTS holds *: name the hosts that people use beside AGON_URL's.")
env.refuse(PUBLIC and not HTTPS, "AGON_URL is where people find the portal, and should begin with https://.")

DEBUG = env.bool("DEBUG", default=False)
DEMO = env.bool("AGON_DEMO", default=False)
env.refuse(PUBLIC and DEBUG, "DEBUG is on: its pages show the portal's inside to everybody.")
env.refuse(PUBLIC and DEMO, "AGON_DEMO is on: everybody knows the passwords of its accounts.")

# Where this installation keeps what it must not lose.

STATE_ROOT = Path(env.str("AGON_STATE", default=str(BASE_DIR / ".agon"))).resolve()
CACHE_ROOT = Path(env.str("AGON_CACHE", default=str(STATE_ROOT)))  # what can be made again; each user needs its own
for _name, _folder in {"AGON_STATE": STATE_ROOT, "AGON_CACHE": CACHE_ROOT}.items():
    try:
        _folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        env.refuse(True, f"{_name} is {_folder}, which cannot be made: {error.strerror}.")
DATA_ROOT = STATE_ROOT / "data"  # definitions, uploads, baselines, datasets; with S3 only drafts and copies
GOLD_ROOT = STATE_ROOT / "gold"  # sealed: who stores it cannot open it

# Gold is sealed to the worker's public key. Web and commands need no more than that; the private keys, the newest
# first and blanks between them, are the worker's alone. Without either, one is made in AGON_STATE.
GOLD_PUBLIC_KEY = env.str("AGON_GOLD_PUBLIC_KEY", default="").strip()
GOLD_PRIVATE_KEYS = env.str("AGON_GOLD_PRIVATE_KEY", default="").split()
for _name, _keys in {"AGON_GOLD_PUBLIC_KEY": [GOLD_PUBLIC_KEY], "AGON_GOLD_PRIVATE_KEY": GOLD_PRIVATE_KEYS}.items():
    _is_wrong = any(key and not re.fullmatch("[0-9a-f]{64}", key) for key in _keys)
    env.refuse(_is_wrong, f"{_name} is not what it should be: what manage.py gold_keys new prints.")
env.refuse(
    PUBLIC and not GOLD_PUBLIC_KEY and not GOLD_PRIVATE_KEYS,
    "AGON_GOLD_PUBLIC_KEY is missing (on a worker AGON_GOLD_PRIVATE_KEY): manage.py gold_keys new prints both.",
)

# Where the proxy serves DATA_ROOT to X-Accel-Redirect alone; nginx: `location /data/ { internal; alias …/data/; }`.
ACCEL = env.str("AGON_ACCEL", default="")

# Keys: given where several machines or containers share them, else made here on first use.

SECRET_KEY = env.str("SECRET_KEY", default="")
RECEIPT_KEY = env.str("AGON_RECEIPT_KEY", default="")  # PEM; else one is made beside the secret key
env.refuse(
    PUBLIC and (len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 5 or SECRET_KEY.startswith("django-insecure")),
    "SECRET_KEY is missing or can be guessed: give 50 random characters or more (openssl rand -base64 48).",
)
env.refuse(
    PUBLIC and not RECEIPT_KEY,
    "AGON_RECEIPT_KEY is missing: a private Ed25519 key in PEM, so that receipts stay valid.",
)
if not SECRET_KEY and not PUBLIC:
    SECRET_KEY = kept_secret(STATE_ROOT / "secret-key", get_random_secret_key)

# Behind a proxy that speaks TLS, sets X-Forwarded-Proto and drops the client's own, and adds to X-Forwarded-For.
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]  # asked from inside, without TLS
    SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds())
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    CSRF_TRUSTED_ORIGINS = [f"https://{host.lstrip('.')}" for host in ALLOWED_HOSTS]

# How many proxies of ours add to X-Forwarded-For; what stands before them there, anybody may have written.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("AGON_PROXIES", default=1 if HTTPS else 0)

# Other places by which people may sign in: each where the portal is registered there.

_SIGN_IN_AT = {"orcid": "https://orcid.org", "github": "https://github.com"}
SIGN_IN_BY = {}
for _name in _SIGN_IN_AT:
    _id, _secret = (env.str(f"{_name.upper()}_{part}", default="") for part in ("CLIENT_ID", "SECRET"))
    env.refuse(bool(_id) != bool(_secret), f"{_name.upper()}_CLIENT_ID and {_name.upper()}_SECRET belong together.")
    if _id and _secret:
        SIGN_IN_BY[_name] = {"client_id": _id, "secret": _secret}

# What the portal is made of.

INSTALLED_APPS = [
    "portal",
    "portal.apps.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    *(f"allauth.socialaccount.providers.{name}" for name in SIGN_IN_BY),
    "allauth.usersessions",
    "csp",
]

MIDDLEWARE = [
    "portal.web.middleware.headers",
    "portal.api.door.no_nul",
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
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "portal.web.sign_in.limits",
    "portal.web.middleware.unavailable",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"

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

# The database: SQLite beside the data, or what DATABASE_URL names. One writer at a time is SQLite's nature: IMMEDIATE
# makes writers queue at the start of a transaction, where a deferred lock would fail some of them at its end.

_is_pooled = env.bool("AGON_PGBOUNCER", default=False)
DATABASES = {"default": env.database("DATABASE_URL", default=f"sqlite:///{STATE_ROOT / 'agon.sqlite3'}")}
if password := env.str("DATABASE_PASSWORD", default=""):  # of its own, so that it may come from a file
    DATABASES["default"]["PASSWORD"] = password
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode = WAL",
    }
    # In memory, threads would share one connection's locks; tests need what the portal has: a file.
    DATABASES["default"]["TEST"] = {"NAME": STATE_ROOT / "test.sqlite3"}
else:
    env.need("psycopg", True, "DATABASE_URL")
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # What is asked often is planned once for each connection: for short statements planning is most of the work.
    # PgBouncer in transaction mode gives each transaction another connection, which has not prepared it.
    DATABASES["default"]["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": None if _is_pooled else 1}
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = _is_pooled

# The cache holds what must be one truth for all web processes: rate limits and used one-time codes. So it lies in the
# database, too: signing in depends on nothing that an upload does not depend on. Each process keeps for itself the
# boards that everybody may see; see portal/web/board_cache.py.

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache",  # made by a migration
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # many: an entry that is culled early is a limit forgotten
    },
    "figures": {  # dear to draw, and can be drawn again
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": CACHE_ROOT / "figures",
        "OPTIONS": {"MAX_ENTRIES": 5000},
    },
    "rates": {  # requests to the API, counted in each web process: see portal/api/rates.py
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

# Accounts: a mail address, verified before it is good for anything, and no user name.

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
ACCOUNT_FORMS = {"login": "portal.web.account_forms.LoginForm", "signup": "portal.web.account_forms.SignupForm"}
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_CHANGE_EMAIL = True  # one address; a new one takes its place when it is verified
ACCOUNT_EMAIL_NOTIFICATIONS = True  # of a changed password, address or second factor
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before the address, a second factor or a connected account is changed
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "portal.web.sign_in.SignIn"
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,5/300s/key",  # the key is account and address
    "login_failed_account": "200/h/key",  # from everywhere
    "mail_code": "5/h/user",  # codes sent, see portal/web/mail_codes.py
    "device_code": "60/h/user",  # codes typed or opened, see portal/web/views/device.py
    "mail_code_guess": "5/15m/key",  # the key is the code's digest
}
MFA_ADAPTER = "portal.web.second_factors.SecondFactors"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Agon"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers themselves allow none but localhost
MFA_ALLOW_UNVERIFIED_EMAIL = True  # while a change of address waits; without a verified one nobody is signed in
SOCIALACCOUNT_PROVIDERS = {name: {"APPS": [app]} for name, app in SIGN_IN_BY.items()}
SOCIALACCOUNT_AUTO_SIGNUP = False  # the form asks for the name, and says what a new account is
SOCIALACCOUNT_FORMS = {"signup": "portal.web.account_forms.ConnectedSignupForm"}

# Cookies and headers. Pages are cached, so the policy has neither inline code nor nonces.

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:  # names that a browser takes from this very host over TLS only
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
        "form-action": [SELF, *(_SIGN_IN_AT[name] for name in SIGN_IN_BY)],  # a form may end in a redirect there
        "frame-ancestors": [NONE],
    }
}

# Files in requests: small ones are kept in memory, all others dropped. Views that accept large files say so themselves,
# after they know who sends one: see portal/web/bodies.py.

FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

# Static files: named by content where they were collected, straight from the source elsewhere.

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.str("AGON_STATIC", default="") or None  # the folder of `collectstatic`
WHITENOISE_USE_FINDERS = not STATIC_ROOT
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # unused: see portal/storage.py
    "data": {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": DATA_ROOT}},
    "gold": {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": GOLD_ROOT}},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC_ROOT
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Data in a bucket instead of a folder: web and workers may then be on any number of machines. The endpoint is for
# stores other than Amazon's, and must be what browsers reach too: downloads are sent there by signed links.

S3 = {name: env.str(f"AGON_S3_{name.upper()}", default="") for name in ("endpoint", "region", "key", "secret")}
S3_BUCKET = env.str("AGON_S3_BUCKET", default="")
env.refuse(
    any(S3.values()) and not S3_BUCKET, "AGON_S3_BUCKET is missing: the bucket that the other AGON_S3_… are for."
)
env.need("boto3", bool(S3_BUCKET), "AGON_S3_BUCKET")
if S3_BUCKET:
    STORAGES["data"] = {
        "BACKEND": "portal.objects.bucket.Bucket",
        "OPTIONS": {"name": S3_BUCKET, "scratch": DATA_ROOT, **S3},
    }

# Sealed gold has a bucket and keys of its own, or stays in its folder.
GOLD_BUCKET = env.str("AGON_S3_GOLD_BUCKET", default="")
GOLD_S3 = {name: env.str(f"AGON_S3_GOLD_{name.upper()}", default="") for name in ("key", "secret")}
env.refuse(any(GOLD_S3.values()) and not GOLD_BUCKET, "AGON_S3_GOLD_BUCKET is missing: the bucket for sealed gold.")
env.refuse(bool(GOLD_BUCKET) and GOLD_BUCKET == S3_BUCKET, "AGON_S3_GOLD_BUCKET must be another than AGON_S3_BUCKET.")
env.need("boto3", bool(GOLD_BUCKET), "AGON_S3_GOLD_BUCKET")
if GOLD_BUCKET:
    STORAGES["gold"] = {
        "BACKEND": "portal.objects.bucket.Bucket",
        "OPTIONS": {"name": GOLD_BUCKET, "scratch": GOLD_ROOT, **S3, **GOLD_S3},
    }

# Words and time. Rows hold UTC; pages say AoE and the reader's zone.

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español"), ("pt", "Português")]  # of mails; pages speak English
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"

# Mail: over SMTP; the demo writes files.

DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default="Agon <agon@localhost>")
EMAIL_BACKEND = "portal.mail.demo.EmailBackend" if DEMO else "django.core.mail.backends.smtp.EmailBackend"
MAIL_ROOT = STATE_ROOT / "mail"  # the demo's
EMAIL_HOST = env.str("EMAIL_HOST", default="localhost")
EMAIL_PORT = env.int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=EMAIL_PORT == 465)  # TLS from the start, as on that port
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False) and not EMAIL_USE_SSL  # STARTTLS
EMAIL_TIMEOUT = 10

# Background work. The queue is a hint: an answer is acknowledged by its row, so publishing gives up at once, results
# are not kept, and a lost message is found by the sweep.

DEMO_BROKER = STATE_ROOT / "broker-address"  # written by a running demo for commands next to it
CELERY_BROKER_URL = env.str(
    "REDIS_URL", default=DEMO_BROKER.read_text() if DEMO_BROKER.is_file() else "redis://127.0.0.1:6379/0"
)
if password := env.str("REDIS_PASSWORD", default=""):  # of its own, so that it may come from a file
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
    Lane.MAIL: ("send_mail", "sweep_mails", "remind"),
    Lane.BULK: (
        "refresh_boards",
        "refresh_board",
        "publish_board_items",
        "sweep_packs",
        "build_pack",
        "reconcile",
        "preview_gold",
    ),
}
CELERY_TASK_ROUTES = {f"portal.{job}": {"queue": lane} for lane, jobs in _LANES.items() for job in jobs}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as it takes
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_TIME_LIMIT = JOB_SECONDS
# A worker takes a message when a process is free for it. Not by counting what is not acknowledged yet, as a multiplier
# of 1 would: what a dying broker could not be told stays counted, and the worker would never ask the next one.
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 0
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60  # the default of 4 s kills, again and again, what starts slowly on a busy machine
CELERY_DB_REUSE_MAX = sys.maxsize  # a new connection for each job would cost more than the job: see portal/celery.py
CELERY_BEAT_SCHEDULE_FILENAME = str(CACHE_ROOT / "beat-schedule")
CELERY_BEAT_SCHEDULER = "portal.celery:Beat"
# No message expires: that would go by the clock of the worker's machine.
CELERY_BEAT_SCHEDULE = {
    name: {"task": f"portal.{name}", "schedule": seconds, "options": {"priority": REGULAR_PRIORITY}}
    for name, seconds in (
        ("sweep", SWEEP_SECONDS),
        ("sweep_mails", SWEEP_SECONDS),
        ("remind", REMIND_SECONDS),
        ("refresh_boards", REFRESH_SECONDS),
        ("sweep_packs", PACKS_SECONDS),
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

# Logs on standard error: lines to read, or JSON for a collector.

LOGGING = configuration(
    as_json=env.bool("LOG_JSON", default=False),
    level=env.str("LOG_LEVEL", default="INFO"),
    colours=env.bool("FORCE_COLOR", default=sys.stderr.isatty()),
)

# Figures for Prometheus at /metrics, for who sends this token as a bearer; without one there is no such page.

METRICS_TOKEN = env.str("AGON_METRICS_TOKEN", default="")

# Faults are reported to Sentry where SENTRY_DSN names one, without values, cookies or bodies.

SENTRY_DSN = env.str("SENTRY_DSN", default="")
env.need("sentry_sdk", bool(SENTRY_DSN), "SENTRY_DSN")
if PUBLIC:
    for name in ("AGON_URL", "AGON_STATE", "DATABASE_URL", "REDIS_URL", "EMAIL_FROM"):
        env.refuse(not env.str(name, default=""), f"{name} is missing: a public portal leaves nothing to chance.")
    env.refuse_unknown()
env.exit_if_refused()

if SENTRY_DSN:
    from portal.sentry import report_faults

    report_faults(SENTRY_DSN)
