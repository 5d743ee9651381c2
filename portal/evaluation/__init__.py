"""Evaluation by workers: claiming, checking and scoring uploads, recording results, and sweeping for waiting work."""
