"""Agon from Python, for participants and organizers: built on the engine, without the portal."""
