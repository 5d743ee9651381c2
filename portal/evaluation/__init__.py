"""The worker's part: claim, check, score, record, sweep."""
