"""The database models."""

from portal.models.access_token import AccessToken
from portal.models.account import EarlierName, User, Viewer
from portal.models.announcement import Announcement
from portal.models.audit import AuditEntry
from portal.models.board import Board, BoardChange, ReleasedBoard
from portal.models.combined import CombinedBoard
from portal.models.device_login import DeviceLogin
from portal.models.download import Download
from portal.models.evaluation import Evaluation
from portal.models.extra_runs import ExtraRuns
from portal.models.failed_attempt import FailedAttempt, Refusal
from portal.models.folder_edit import FolderEdit
from portal.models.gold import GoldStandard
from portal.models.gold_upload import GoldUpload
from portal.models.heartbeat import Heartbeat
from portal.models.items import GoldItems, RunItems, items_are_public
from portal.models.mail import Finding, MailedMessage, MailedResult, MailFacts, OutgoingMail
from portal.models.own_scorer import OwnScorer, OwnScorerMessage
from portal.models.paper_pack import PaperPack
from portal.models.phase import ExtraTime, Phase, PhaseChange
from portal.models.push import TaskPush
from portal.models.quota import Quota
from portal.models.rejected_upload import RejectedUpload
from portal.models.run import Run, Submission
from portal.models.signature import Signature
from portal.models.task import SharedTask, Track
from portal.models.team import Membership, Team
from portal.models.team_message import MessageRecipient, TeamMessage
from portal.models.team_note import TeamNote
from portal.models.validation import Validation
from portal.models.watching import Reading, Tally
from portal.models.worker_host import WorkerHost
