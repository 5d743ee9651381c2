"""Write and send emails."""
