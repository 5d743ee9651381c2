"""All limits of background work: time, number and size. Related limits are listed together."""

CHILD_SECONDS = 30  # wall-clock time for a check or for scoring a run, and CPU time of a child that does only one
VALIDATE_SECONDS = 20  # wall-clock time of a validation
CHILD_MEMORY = 2 * 1024**3  # bytes of address space
CHILD_FILE = 0  # bytes that a child may write to files
CHILD_FILES_OPEN = 64
SCORER_FILE = 1024**2  # bytes of each file that an own scorer writes, and of what it prints
SCORER_WALL_SECONDS = 18  # wall-clock time of an own scorer
SCORED_BY_SCORER_SECONDS = 8  # wall-clock time for reading a run with an own scorer, and for its other metrics
CHILD_ANSWER = 16 * 1024**2  # bytes of a child's answer

# On shared machines, web and database come first, then scores and emails, then everything else. Children have the
# niceness of their worker. More than 5 would starve the work next to any other program that keeps the cores busy.
SCORING_NICENESS = 2
OTHER_NICENESS = 5

# A job is postponed if storage does not respond within this time. This is also the CPU time of a child that checks and
# scores.
GIVE_WAY_SECONDS = 36
JOB_SECONDS = 40  # jobs that take longer are killed
LEASE_SECONDS = 45  # after this time, another worker can claim the work
GOLD_BYTES_KEPT = 256 * 1024**2  # bytes of all decrypted gold standards in a process
VISIBILITY_SECONDS = 300  # after this time, the broker delivers a message again

ATTEMPTS = 3  # work is quarantined after this many children died on its content
# Delay after a child died, multiplied by the number of attempts; after an internal error, it doubles each time.
RETRY_SECONDS = 5
POSTPONE_SECONDS = 300  # longest delay after an internal error
REMIND_AFTER = 288  # postponements (about a day) after which administrators get a reminder
LEASES_LOST = 4  # work is quarantined if more than this many workers die on it
# Message priorities. Redis delivers 0 first. Regular work (sweeps, heartbeats) is short and comes before other
# messages.
REGULAR_PRIORITY = 0
ORGANIZER_PRIORITY = 3  # pushed folders and gold files: few, and an organizer waits for each
HINT_PRIORITY = 6
VALIDATION_PRIORITY = 9
REGULAR_WAITING = 20  # regular work is queued only while fewer regular messages than this are waiting in a lane
HINT_SECONDS = 20  # time until the sweep queues another message for the same work
SWEEP_SECONDS = 5
REMIND_SECONDS = 60  # interval between searches for emails that are due because of dates
HEARTBEAT_SECONDS = 30  # interval of each lane's heartbeat
PROBE_SECONDS = 5  # interval between checks that a worker has everything it needs
SWEEP_BATCH = 500
RUNS_AT_ONCE = 500  # runs of one task that are queued at once

COMPARE_SECONDS = 200  # wall-clock and CPU time for comparing a board's runs
COMPARE_JOB_SECONDS = 240
COMPARE_AGAIN_SECONDS = 60  # minimum interval between comparisons of the same board
PREVIEW_JOB_SECONDS = 3600  # for computing the effects of a gold standard; the lease is renewed with each run
PACK_SECONDS = 900  # wall-clock time for building a paper pack
PACK_JOB_SECONDS = 960
PUSH_CHILD_SECONDS = 120  # wall-clock and CPU time of the child that checks a pushed folder
PUSH_SECONDS = 180  # time limit of the process that starts this child, and the length of the push's lease
PUSH_JOB_SECONDS = 220
PACKS_SECONDS = 30  # interval between searches for packs to build
RECONCILE_SECONDS = 3600  # time limit of the nightly check, whose message is acknowledged before it starts
COUNT_SECONDS = 60  # interval between counts of finished work, for /metrics
CERTIFICATE_SECONDS = 3600  # interval between checks of the certificate of AGON_URL
REFRESH_SECONDS = 10  # interval between searches for changed boards

BROKER_SECONDS = 2  # maximum time that an upload waits for the broker
QUIET_SECONDS = 10  # time until the broker is tried again after it did not respond

if not (
    max(CHILD_SECONDS, SCORER_WALL_SECONDS + 2 * SCORED_BY_SCORER_SECONDS)
    < GIVE_WAY_SECONDS
    < JOB_SECONDS
    < LEASE_SECONDS
    <= VISIBILITY_SECONDS
    > COMPARE_JOB_SECONDS
    > COMPARE_SECONDS
):
    raise AssertionError("limits out of order: two workers could hold the same run")
