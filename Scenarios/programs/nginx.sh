#!/bin/sh
# Runs nginx in the current folder, on a port of 127.0.0.1. It answers each request with "hello".
#
#     nginx.sh PORT [CONNECTIONS]
#
# CONNECTIONS: the maximum number of simultaneous connections (default: 512).
set -eu
connections=${2:-512}
cat > nginx.conf <<END
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr;
worker_rlimit_nofile $((connections + 100));
events { worker_connections $connections; }
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {
        listen 127.0.0.1:$1;
        location / { default_type text/plain; return 200 "hello\n"; }
    }
}
END
exec nginx -p "$PWD" -e stderr -c nginx.conf
