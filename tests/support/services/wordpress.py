"""A WordPress from Debian's packages, which are unpacked and not installed, with a MariaDB and PHP of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from tests.support.services.debian import Unavailable, alone, cache
from tests.support.services.keeper import Keeper, alive
from tests.support.services.network import free_ports, until

THEME: Final = "twentytwentyone"
PACKAGES: Final = ("wordpress", f"wordpress-theme-{THEME}", "php-cli", "php-mysql", "mariadb-server-core")
EXTENSIONS: Final = ("mysqlnd", "mysqli", "ctype", "iconv", "tokenizer")
SCRIPTS: Final = Path(__file__).parent / "wordpress_php"


class WordPress(Struct, frozen=True, kw_only=True):
    """A blog that answers at `url`."""

    url: str
    php: Sequence[str]
    site: Path
    environment: dict[str, str]

    def run(self, script: str, *words: str) -> str:
        """What one of our scripts says that runs inside WordPress."""
        command = [*self.php, str(SCRIPTS / script), str(self.site), self.url, *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=100)
        if done.returncode:
            raise RuntimeError(f"{script} failed: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def publish(self, first: int, count: int, *, when: Literal["past", "now"] = "now") -> None:
        """So many posts, with numbers from `first` on. past: days apart, in years before."""
        self.run("publish.php", str(first), str(count), when)


def start(keeper: Keeper) -> WordPress:
    """An empty blog. Raises Unavailable."""
    root = _unpacked()
    environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": f"{root}/usr/lib/x86_64-linux-gnu"}
    socket = _mariadb(keeper, root, environment)
    (port,) = free_ports(1)
    url, site = f"http://127.0.0.1:{port}", keeper.folder / "site"
    shutil.copytree(root / "usr/share/wordpress", site, ignore_dangling_symlinks=True)
    themes = site / "wp-content/themes"
    if not (themes / THEME).exists():
        shutil.copytree(root / f"var/lib/wordpress/wp-content/themes/{THEME}", themes / THEME)
    settings = (SCRIPTS / "wp-config.php").read_text().replace("SOCKET", str(socket)).replace("URL", url)
    (site / "wp-config.php").write_text(settings)
    made = WordPress(url=url, php=_php(root), site=site, environment=environment)
    made.run("install.php", THEME)
    log = keeper.folder / "php.log"
    serve = [*made.php, "-S", f"127.0.0.1:{port}", "-t", str(site), str(SCRIPTS / "router.php")]
    pid = keeper.run(serve, log=log, environment={**environment, "PHP_CLI_SERVER_WORKERS": "4"})
    failed = lambda: None if alive(pid) else f"PHP did not start: {log.read_text()[-1000:]}"  # noqa: E731
    until(lambda: "started" in log.read_text(), failed=failed, patience_s=30.0)
    return made


def _php(root: Path) -> Sequence[str]:
    program = next(iter(sorted(root.glob("usr/bin/php[0-9].[0-9]"))), None)
    folder = next(iter(sorted(root.glob("usr/lib/php/2*"))), None)
    if program is None or folder is None:
        raise Unavailable("Debian's PHP is not where it was")
    loaded = [word for name in EXTENSIONS for word in ("-d", f"extension={name}")]
    return [str(program), "-n", "-d", f"extension_dir={folder}", *loaded]


def _mariadb(keeper: Keeper, root: Path, environment: dict[str, str]) -> Path:
    """Its socket. It asks nobody for a password, and has no port."""
    data, socket, log = keeper.folder / "mariadb", keeper.folder / "db", keeper.folder / "mariadb.log"
    data.mkdir()
    user = ["--user=root"] if os.geteuid() == 0 else []
    messages = f"--lc-messages-dir={root}/usr/share/mysql"
    command = [f"{root}/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", messages, *user]
    first = subprocess.run(
        [*command, "--bootstrap"],
        input="CREATE DATABASE wordpress;\n",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if first.returncode:
        raise Unavailable(f"MariaDB did not start: {first.stderr[-1000:]}")
    flags = [f"--socket={socket}", "--skip-networking", "--skip-grant-tables", "--innodb-flush-log-at-trx-commit=0"]
    pid = keeper.run([*command, *flags], log=log, environment=environment)
    failed = lambda: None if alive(pid) else f"MariaDB did not start: {log.read_text()[-1000:]}"  # noqa: E731
    until(socket.exists, failed=failed, patience_s=60.0)
    return socket


def _unpacked() -> Path:
    """The folder with the packages, and with those that they need and this machine lacks. Raises Unavailable."""
    root = cache() / "wordpress"
    with alone(cache() / "wordpress.lock"):
        if (root / "complete").exists():
            return root
        if shutil.which("apt-get") is None:
            raise Unavailable("WordPress comes from Debian's packages, and there is no apt-get to fetch them with")
        shutil.rmtree(root, ignore_errors=True)
        (debs := root / "debs").mkdir(parents=True)
        if os.geteuid() == 0:
            _said(["apt-get", "update", "-qq"])
        plan = _said(["apt-get", "install", "--simulate", "--reinstall", "--no-install-recommends", *PACKAGES])
        needed = [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]
        _said(["apt-get", "download", "-qq", *needed], folder=debs)
        for each in debs.glob("*.deb"):
            _said(["dpkg", "-x", str(each), str(root)])
        shutil.rmtree(debs)
        (root / "complete").touch()
    return root


def _said(command: Sequence[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:3])} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
