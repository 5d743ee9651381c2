"""What scores are made of: by class, item and language, over a field of runs; and the ladder's steps."""
