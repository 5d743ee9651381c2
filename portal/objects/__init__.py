"""Where the portal's bytes lie: `folder` on this machine or `bucket` in S3, as `STORAGES` in the settings says."""
