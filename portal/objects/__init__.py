"""Storage for the portal's files: on this machine (`folder`) or in S3 (`bucket`), as set in `STORAGES`."""
