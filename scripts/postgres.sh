#!/usr/bin/env bash
# A private PostgreSQL server for the tests of exported SQL, in a folder of its own, on loopback alone.
#
#   scripts/postgres.sh start FOLDER   installs PostgreSQL where it is absent (Debian, as root), starts a
#                                      server and prints its port; psql -h FOLDER -p PORT -U tests tests
#   scripts/postgres.sh stop FOLDER    stops it
#
# It says on stderr why no server can be had, and then exits with 3.
set -euo pipefail

unavailable() { echo "$*" >&2; exit 3; }

# Debian keeps the programs of each version in a folder that is on nobody's path.
programs() { for found in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) $(dirname "$(command -v initdb || true)" 2>/dev/null); do
    if [ -x "$found/initdb" ] && [ -x "$found/pg_ctl" ]; then echo "$found"; return; fi
done; }

# PostgreSQL does not run as root.
as_owner() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

[ $# = 2 ] || { echo "usage: scripts/postgres.sh start|stop FOLDER" >&2; exit 2; }
folder=$(readlink -f "$2")
bin=$(programs)
if [ "$1" = stop ]; then
    [ -n "$bin" ] && cd / && as_owner "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null
    exit 0
fi
if [ -z "$bin" ] || ! command -v psql >/dev/null; then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
        unavailable "PostgreSQL is not installed; as root on Debian it would be (apt-get install postgresql)."
    DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -qq postgresql >/dev/null 2>&1 ||
        unavailable "PostgreSQL is not installed, and apt-get install postgresql failed."
    bin=$(programs)
fi
if [ "$(id -u)" = 0 ]; then
    id postgres >/dev/null 2>&1 || unavailable "There is no user postgres to run the server, which root may not."
    chown postgres "$folder"
    for above in $(p=$folder; while [ "$p" != / ]; do p=$(dirname "$p"); echo "$p"; done); do
        as_owner test -x "$above" || unavailable "The user postgres cannot enter $above."
    done
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cd /
{
    as_owner "$bin/initdb" -D "$folder/data" -U tests -A trust --no-sync -E UTF8 --locale=C
    as_owner "$bin/pg_ctl" -D "$folder/data" -w -t 60 -l "$folder/log" start \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='$folder' -c fsync=off -c jit=off"
    psql -h 127.0.0.1 -p "$port" -U tests -d postgres -c 'CREATE DATABASE tests'
} >"$folder/start.log" 2>&1 || unavailable "PostgreSQL did not start: $(tail -n 1 "$folder/start.log")"
echo "$port"
