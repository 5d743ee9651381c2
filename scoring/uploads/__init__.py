"""Uploads, a run file or a zip of runs: patterns of file names, safe reading of archives, and the runs in them."""
