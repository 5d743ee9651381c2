"""Storage of the portal's files: `folder` on this machine or `bucket` in S3, by the setting `STORAGES`."""
