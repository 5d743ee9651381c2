"""What actions are made of: declarations, roles, input and its limits, errors, waiting times, the registry."""
