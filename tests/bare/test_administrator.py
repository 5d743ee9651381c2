"""The guides' commands for a bare Debian: install a portal that scores runs, and restore it on an empty machine."""

import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bare.conftest import ADD_PYTHON, Machine, copied
from tests.conftest import ROOT

GUIDE = ROOT / "docs/for-administrators.md"
RESTORE = ROOT / "docs/storage-and-backup.md"
BOARD = "https://agon.example.org/tasks/ssa2023/leaderboard/en/?phase=post-evaluation&format=json"
# There is no init, so installed servers must be started here. Certbot's commands are skipped, because it cannot issue a
# certificate for this name. The port is reset, because PostgreSQL is installed with a different one if this machine's
# own server already uses the default.
BEFORE = """
export PATH=/usr/local/sbin:/usr/local/bin:$PATH LANG=C.UTF-8
echo 127.0.0.1 agon.example.org >> /etc/hosts
cd -P /opt/agon
sed -i "s/^port = .*/port = 5432/" /etc/postgresql/*/main/postgresql.conf
service postgresql start
service redis-server start
"""
STARTED = """
export CURL_CA_BUNDLE=/etc/agon/certificates/fullchain.pem
export SSL_CERT_FILE=$CURL_CA_BUNDLE DJANGO_SUPERUSER_PASSWORD="correct horse battery"
for try in $(seq 300); do curl -s https://agon.example.org/readyz | grep -q "status.: .ready" && break; sleep 1; done
"""
AFTER = f"""
READY
.venv/bin/python -m tasks ssa2023 /tmp/ssa2023 && chmod -R a+rX /tmp/ssa2023
agon-manage import_task /tmp/ssa2023
for try in $(seq 600); do curl --silent '{BOARD}' | grep -q Random && break; sleep 1; done
curl --silent '{BOARD}'
rm /var/lib/agon/backups/agon-*.tar
agon-manage backup /var/lib/agon/backups
worker=$(stat --format "%U %n" /proc/[0-9]* | sed -n "s/^agon-worker //p" | head -n 1)
denied=0
for file in /etc/agon/secrets/gold_private_key /run/credentials/agon-worker.service/gold_private_key $worker/environ \
    /var/lib/agon/backups/agon-*.tar; do
    for user in agon-web agon-mail; do
        test -e $file
        setpriv --reuid=$user --regid=$user --init-groups cat $file > /dev/null || denied=$((denied + 1))
    done
done
echo "denied: $denied of 8"
tail -n 3 /var/log/agon-*.log
"""
# A page that the processes of the old version could not show: it needs a module that they do not have.
UPGRADE = """
agon-manage shell --no-imports -c '
from portal.models import Phase, SharedTask
from tests.portal.script import token_of
from tests.portal.world import captain, new_team
Phase.objects.update(runs_per_day=None)
print(token_of(captain(new_team(SharedTask.objects.get(slug="ssa2023"), "Notus"))))
' > /tmp/token
submit() {
    while [ ! -e /tmp/upgraded ]; do
        status=$(curl --silent --output /tmp/receipt --write-out "%{http_code}" --data-binary @/tmp/run.csv \
            --header "Authorization: Bearer $(cat /tmp/token)" --header "Content-Type: application/octet-stream" \
            "https://agon.example.org/api/v1/tasks/ssa2023/phases/post-evaluation/submissions?file_name=en_Notus_1.csv")
        echo "$status upload"
        if [ "$status" = 201 ]; then (cat /tmp/receipt; echo) >> /tmp/receipts; fi
        sleep 1
    done
}
visit() {
    while [ ! -e /tmp/upgraded ]; do
        for page in / /guide/ /tasks/ssa2023/ /tasks/ssa2023/data/ /accounts/login/ /api/; do
            curl --silent --output /dev/null --write-out "%{http_code} $page\n" https://agon.example.org$page
            sleep 0.1
        done
    done
}
newer=/home/newcomer/agon
printf "from django import template\nregister = template.Library()\n" > $newer/portal/web/templatetags/newer.py
for page in $(grep --recursive --files-without-match "extends" $newer/templates); do
    sed -i "1i {% load newer %}" $page
done
git -C $newer -c user.name=a -c user.email=a@example.org add --all
git -C $newer -c user.name=a -c user.email=a@example.org commit --quiet --message newer
cp /tmp/ssa2023/baselines/en/random.csv /tmp/run.csv
visit > /tmp/visits & visits=$!
submit > /tmp/uploads & uploads=$!
agon-upgrade
touch /tmp/upgraded
wait $visits $uploads
sort /tmp/visits /tmp/uploads | uniq --count
agon-manage shell --no-imports -c '
import json, time
from portal.models import Run
ids = [json.loads(line)["id"] for line in open("/tmp/receipts")]
for _ in range(600):
    scored = Run.objects.filter(submission__in=ids, state=Run.State.SCORED).count()
    if scored == len(ids):
        break
    time.sleep(1)
print(f"receipts: {len(ids)}, scored: {scored}")
'
curl --silent https://agon.example.org/healthz
git -C $newer rev-parse --short=12 HEAD
readlink /opt/agon
"""
LOGS = ("agon-*.log", "nginx/error.log", "postgresql/*.log", "redis/*.log")


def blocks(guide: Path, heading: str) -> list[str]:
    """Return the blocks of commands below a heading, up to the next heading."""
    section = re.split(r"\n##+ ", guide.read_text().partition(f"# {heading}\n")[2])[0]
    return [textwrap.dedent(block) for block in re.findall(r"^ *```sh\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)]


def typed(machine: Machine, script: str, network: bool) -> str:
    process = machine.start(f"sh -eu -c '{script.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'", "root", network)
    output, _ = process.communicate(timeout=1800)
    assert process.returncode == 0, f"{output[-3000:]}\n{logs(machine)}"
    return output


def logs(machine: Machine) -> str:
    """Return the last lines of each service's log."""
    files = sorted(path for pattern in LOGS for path in (machine.root / "var/log").glob(pattern))
    return "\n".join(f"== {file.name}\n{file.read_text(errors='replace')[-3000:]}" for file in files)


@pytest.fixture(scope="module")
def debian(debian_after: Callable[..., Path]) -> Path:
    """A tar with a bare Debian after the guide's first commands, which install packages."""
    install, _, _ = blocks(GUIDE, "Without Docker")[0].partition("adduser")
    return debian_after(ADD_PYTHON, f"set -e\n{install}")


def prepare(machine: Machine, commands: str) -> None:
    """Run the guide's next commands, which also need the network, using this checkout as the repository."""
    systemctl = Path(shutil.copy(ROOT / "tests/bare/systemctl.py", machine.root / "usr/bin/systemctl"))
    systemctl.chmod(0o755)
    (machine.root / "usr/bin/editor").symlink_to("/bin/true")
    own = 'git config --system url."/home/newcomer/agon".insteadOf https://agon.example.org/agon.git\n'
    git = "git config --system --add safe.directory '*'\n"
    _, _, rest = commands.partition("adduser")
    typed(machine, f"{own}{git}adduser{rest}", network=True)


def test_the_guides_lead_from_a_bare_debian_to_scored_runs_and_to_a_restored_portal(
    machine: Machine, tmp_path: Path
) -> None:
    first, *others, look = blocks(GUIDE, "Without Docker")
    look = look.replace("createsuperuser", "createsuperuser --noinput").replace("doctor", "doctor || true")
    prepared = [block for block in others if "certbot" not in block]
    assert len(prepared) == 4
    prepare(machine, first)
    # On the second machine, the same commands come first, so they are run only once.
    with copied(machine, tmp_path / "empty") as empty_machine:
        after = AFTER.replace("READY", look) + UPGRADE
        output = typed(machine, BEFORE + "".join(prepared) + STARTED + after, network=False)
        problems = re.findall("^not ok  (.*)$", output, re.MULTILINE)
        assert set(problems) <= {"mail server", "public address", "upload sandbox", "disk"}, (
            output
        )  # which are not those of a real machine
        assert {"mail server", "public address"} <= set(problems)  # no mail server, and no one trusts the certificate
        assert '"name": "Random"' in output or '"run": "Random"' in output
        assert "/var/lib/agon/backups/agon-" in output
        assert "denied: 8 of 8" in output
        statuses = re.findall(r"^ +\d+ (\d{3}) /", output, re.MULTILINE)
        assert set(statuses) <= {"200", "302"}, output  # during the upgrade
        assert len(statuses) >= 6  # each page
        ((uploads, status),) = re.findall(r"^ +(\d+) (\d{3}) upload$", output, re.MULTILINE)
        assert status == "201"
        assert int(uploads) > 1
        assert f"receipts: {uploads}, scored: {uploads}\n" in output
        revision = re.findall(r"^ok \S+ agon \S+ (\w+)\n(\w+)\n/opt/agon-versions/(\w+)$", output, re.MULTILINE)
        assert revision
        assert set(revision[0]) == {revision[0][0]}

        checkout, old_secrets, restore, check = blocks(RESTORE, "On an empty Debian machine")
        (backup,) = (machine.root / "var/lib/agon/backups").glob("agon-*.tar")
        shutil.copy(backup, empty_machine.root / "root/backup.tar")
        shutil.copytree(machine.root / "etc/agon/secrets", empty_machine.root / "root/secrets")
        _, folder, setup = first.partition("cd -P /opt/agon\n")
        assert folder
        make_secrets, *settings, services = prepared
        keys = old_secrets + make_secrets.partition("\n")[2]
        commands = checkout + setup + BEFORE + keys + "".join(settings) + restore + services + STARTED + check
        output = typed(empty_machine, commands + f"curl --silent '{BOARD}'", network=False)
        assert "No differences." in output
        assert '"name": "Random"' in output or '"run": "Random"' in output
