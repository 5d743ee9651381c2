"""Writing and sending emails."""
