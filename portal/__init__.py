"""The portal: a Django app with its settings and programs. CHANGELOG.md lists what is new in each version."""

import gc

# By default, Python's garbage collector runs after every 700 new objects. Importing the portal or migrating a database
# creates hundreds of thousands of objects that are kept, so these runs would take a fifth of the time.
gc.set_threshold(10_000, 10, 10)

__version__ = "0.2.0.dev0"  # the same as in pyproject.toml
