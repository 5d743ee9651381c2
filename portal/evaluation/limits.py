"""How long, how much and how often: every limit of background work, in the order that keeps it sound."""

CHILD_SECONDS = 30  # wall clock of one check or one scoring, and CPU of a child that does no more
VALIDATE_SECONDS = 20  # of one validation
CHILD_MEMORY = 2 * 1024**3  # bytes of address space
CHILD_FILE = 0  # bytes a child may write to a file: none
CHILD_FILES_OPEN = 64
CHILD_NICENESS = 5  # beside what its parent has
CHILD_ANSWER = 16 * 1024**2  # bytes of its answer

SCORING_NICENESS = 10  # web and database come first where they share a machine, then scores and mails, then the rest
OTHER_NICENESS = 19

# A job that waits for storage that hangs lets its work wait; also the CPU of a child that checks and scores.
GIVE_WAY_SECONDS = 36
JOB_SECONDS = 40  # a job that outlives that is killed
LEASE_SECONDS = 45  # then its work is free again
GOLD_BYTES_KEPT = 256 * 1024**2  # of all gold standards that one process keeps opened
VISIBILITY_SECONDS = 300  # then the broker hands its message out again

ATTEMPTS = 3  # children that die on the same content: then it is quarantined
RETRY_SECONDS = (
    5  # after a child died, times the attempts so far; after the first error of ours, then twice as long each
)
POSTPONE_SECONDS = 300  # at most, after an error of ours
REMIND_AFTER = 288  # postponements of the same work, about a day: then administrators are reminded
LEASES_LOST = 4  # workers that die with the same work, before the one after them is the last to try
# Of messages: Redis hands out 0 first. Regular work (sweeps, heartbeats) is short and goes before any rush of hints.
REGULAR_PRIORITY = 0
HINT_PRIORITY = 3
VALIDATION_PRIORITY = 9
REGULAR_WAITING = 20  # messages of regular work that wait in a lane: then no more are added, as no worker takes them
HINT_SECONDS = 20  # how long a published hint is trusted before the sweep publishes another
SWEEP_SECONDS = 5
REMIND_SECONDS = 60  # between two looks at what dates bring
HEARTBEAT_SECONDS = 30  # of each lane's workers
PROBE_SECONDS = 5  # between two looks of a worker at what it lacks
SWEEP_BATCH = 500

COMPARE_SECONDS = 200  # wall clock and CPU of one comparison of a board's runs
COMPARE_JOB_SECONDS = 240
COMPARE_AGAIN_SECONDS = 60  # a board whose runs change all the time is compared so often
PREVIEW_JOB_SECONDS = 3600  # of computing what another gold standard changes; its lease is renewed with each run
PACK_SECONDS = 900  # of one pack for a paper
PACK_JOB_SECONDS = 960
PACKS_SECONDS = 30  # between two looks for packs to build
RECONCILE_SECONDS = 3600  # a night's look at everything; its message is not held meanwhile
REFRESH_SECONDS = 10  # how often boards are looked through

BROKER_SECONDS = 2  # what an upload may lose to a broker that does not answer
QUIET_SECONDS = 10  # for which the broker is left alone then

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
