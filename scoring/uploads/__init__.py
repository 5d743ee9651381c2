"""Uploads (a run file or a zip of runs): file naming patterns, safe reading of archives, and the runs in an upload."""
