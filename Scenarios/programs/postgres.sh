#!/bin/sh
# Runs PostgreSQL with a new cluster in the current folder, on a port of 127.0.0.1. PostgreSQL refuses to run as root:
# if root calls this script, the user postgres runs it.
#
#     postgres.sh PORT
set -eu
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
export PATH
if [ "$(id -u)" = 0 ]; then
    chmod 711 .
    install -d -o postgres data
    as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
else
    mkdir data
    as_postgres() { "$@"; }
fi
as_postgres initdb --auth trust --username postgres --no-sync --pgdata data >/dev/null
if [ "$(id -u)" = 0 ]; then
    exec setpriv --reuid postgres --regid postgres --clear-groups \
        postgres -D data -p "$1" -k '' -h 127.0.0.1 -F
fi
exec postgres -D data -p "$1" -k '' -h 127.0.0.1 -F
