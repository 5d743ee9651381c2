"""Writing and sending mails."""
