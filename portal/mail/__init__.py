"""Texts and sending of mails."""
