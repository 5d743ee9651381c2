"""Uploads (a run file or a zip of runs): file name patterns, safe reading of archives, and the runs inside."""
