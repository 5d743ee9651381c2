"""Heartbeats: the last time a worker ran a job from each lane's queue."""

from datetime import datetime

from django.db import models


class HeartbeatQuerySet(models.QuerySet["Heartbeat"]):
    def beat(self, lane: str, at: datetime) -> None:
        self.update_or_create(lane=lane, defaults={"at": at})


class Heartbeat(models.Model):
    lane = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()

    objects = HeartbeatQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.lane} at {self.at:%Y-%m-%d %H:%M:%S}"
