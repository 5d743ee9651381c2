"""The commands of docs/for-administrators.md for a bare Debian, run in order until runs are scored."""

import re
import shutil
from pathlib import Path

from tests.bare.conftest import Machine
from tests.conftest import ROOT

GUIDE = ROOT / "docs/for-administrators.md"
BOARD = "https://agon.example.org/tasks/ssa2023/leaderboard/en/?phase=post-evaluation&format=json"
# Without init, installed servers are not started, and no certificate can be issued for this name. PostgreSQL uses
# another port if this machine's PostgreSQL has the default one.
BEFORE = """
export PATH=/usr/local/sbin:/usr/local/bin:$PATH LANG=C.UTF-8
echo 127.0.0.1 agon.example.org >> /etc/hosts
cd /opt/agon
sed -i "s/^port = .*/port = 5432/" /etc/postgresql/*/main/postgresql.conf
service postgresql start
service redis-server start
"""
AFTER = f"""
export CURL_CA_BUNDLE=/etc/agon/certificates/fullchain.pem
for try in $(seq 120); do curl -sf -o /dev/null https://agon.example.org/readyz && break; sleep 1; done
READY
.venv/bin/python -m tasks ssa2023 /tmp/ssa2023 && chmod -R a+rX /tmp/ssa2023
agon-manage import_task /tmp/ssa2023
for try in $(seq 120); do curl --silent '{BOARD}' | grep -q Random && break; sleep 1; done
curl --silent '{BOARD}'
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
LOGS = ("agon-*.log", "nginx/error.log", "postgresql/*.log", "redis/*.log")


def blocks() -> list[str]:
    section = GUIDE.read_text().partition("## Without Docker")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def typed(machine: Machine, script: str, network: bool) -> str:
    process = machine.start(f"sh -eu -c '{script.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'", "root", network)
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, f"{output[-3000:]}\n{logs(machine)}"
    return output


def logs(machine: Machine) -> str:
    """Return the last lines of each service's log."""
    files = sorted(path for pattern in LOGS for path in (machine.root / "var/log").glob(pattern))
    return "\n".join(f"== {file.name}\n{file.read_text(errors='replace')[-3000:]}" for file in files)


def test_the_guide_leads_from_a_bare_debian_to_scored_runs(machine: Machine) -> None:
    first, *others, look = blocks()
    prepared = [block for block in others if "certbot" not in block]
    assert len(prepared) == 4
    systemctl = Path(shutil.copy(ROOT / "tests/bare/systemctl.py", machine.root / "usr/bin/systemctl"))
    systemctl.chmod(0o755)
    own = 'git config --system url."/home/newcomer/agon".insteadOf https://agon.example.org/agon.git\n'
    git = "git config --system --add safe.directory '*'\n"
    install, _, rest = first.partition("adduser")
    typed(machine, f"{install}{own}{git}adduser{rest}", network=True)
    output = typed(machine, BEFORE + "".join(prepared) + AFTER.replace("READY", look), network=False)
    assert '"database": "ok"' in output
    assert '"name": "Random"' in output or '"run": "Random"' in output
    assert "/var/lib/agon/backups/agon-" in output
    assert "denied: 8 of 8" in output
