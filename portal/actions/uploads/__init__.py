"""Uploads: receive a file, check its name, reserve quota and numbers, store the runs, or only validate them."""
