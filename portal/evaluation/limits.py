"""All limits of background work, in time, number and size, ordered by how they depend on each other."""

CHILD_SECONDS = 30  # wall clock of a check or a scoring, and CPU of a child that does only one
VALIDATE_SECONDS = 20  # of one validation
CHILD_MEMORY = 2 * 1024**3  # bytes of address space
CHILD_FILE = 0  # bytes that a child may write to a file: none
CHILD_FILES_OPEN = 64
CHILD_NICENESS = 5  # added to that of its parent
CHILD_ANSWER = 16 * 1024**2  # bytes of its answer

SCORING_NICENESS = 10  # on shared machines, web and database come first, then scores and mails, then the rest
OTHER_NICENESS = 19

# A job puts its work off when storage hangs this long. Also the CPU of a child that checks and scores.
GIVE_WAY_SECONDS = 36
JOB_SECONDS = 40  # a longer job is killed
LEASE_SECONDS = 45  # after this, another worker can claim the work
GOLD_BYTES_KEPT = 256 * 1024**2  # bytes of all opened gold standards in one process
VISIBILITY_SECONDS = 300  # after this, the broker delivers a message again

ATTEMPTS = 3  # children that die on the same content, until it is quarantined
RETRY_SECONDS = 5  # after a child died, times the attempts so far; after an error of ours, doubled each time
POSTPONE_SECONDS = 300  # the longest wait after an error of ours
REMIND_AFTER = 288  # postponements of the same work, about a day: administrators are reminded
LEASES_LOST = 4  # workers that died with the same work; one more may try
# Priorities of messages; Redis delivers 0 first. Regular work (sweeps, heartbeats) is short and goes before hints.
REGULAR_PRIORITY = 0
HINT_PRIORITY = 3
VALIDATION_PRIORITY = 9
REGULAR_WAITING = 20  # waiting messages of regular work in a lane, after which no more are added
HINT_SECONDS = 20  # how long a queued hint is trusted before the sweep queues another
SWEEP_SECONDS = 5
REMIND_SECONDS = 60  # between two queries for mails that dates cause
HEARTBEAT_SECONDS = 30  # interval of each lane's heartbeat
PROBE_SECONDS = 5  # interval in which a worker checks what it lacks
SWEEP_BATCH = 500

COMPARE_SECONDS = 200  # wall clock and CPU of the comparison of a board's runs
COMPARE_JOB_SECONDS = 240
COMPARE_AGAIN_SECONDS = 60  # a board whose runs change all the time is compared so often
PREVIEW_JOB_SECONDS = 3600  # for computing what a gold standard would change; its lease is renewed with each run
PACK_SECONDS = 900  # least interval between comparisons of a board
PACK_JOB_SECONDS = 960
PUSH_CHILD_SECONDS = 120  # wall clock and CPU of the child that checks a pushed folder
PUSH_SECONDS = 180  # for the process with that child
PUSH_JOB_SECONDS = 220
PUSH_LEASE_SECONDS = 240
PACKS_SECONDS = 30  # between two searches for packs to build
RECONCILE_SECONDS = 3600  # of the nightly check; its message is not held meanwhile
COUNT_SECONDS = 60  # interval of counting finished work, for /metrics
CERTIFICATE_SECONDS = 3600  # interval of checking the certificate of AGON_URL
REFRESH_SECONDS = 10  # interval in which boards are checked for changes

BROKER_SECONDS = 2  # time that an upload may lose to a broker that does not answer
QUIET_SECONDS = 10  # after that, the broker is not tried for this long

if not (
    CHILD_SECONDS
    < GIVE_WAY_SECONDS
    < JOB_SECONDS
    < LEASE_SECONDS
    <= VISIBILITY_SECONDS
    > COMPARE_JOB_SECONDS
    > COMPARE_SECONDS
):
    raise AssertionError("limits out of order: two workers could hold the same run")
