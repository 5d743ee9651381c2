"""What organizers see of a campaign: uploads, teams and messages."""
