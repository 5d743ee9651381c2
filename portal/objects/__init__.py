"""Storage of the portal's files: `folder` on this machine or `bucket` in S3, chosen by the setting `STORAGES`."""
