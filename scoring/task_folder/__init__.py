"""Task folders: read `task.yaml`, check it against the rules and its files, check gold, and document the keys."""
