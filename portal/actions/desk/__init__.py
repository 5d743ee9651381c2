"""What organizers do while their task runs: decisions about many teams, notes, messages."""
