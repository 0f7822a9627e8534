#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Starts nginx on the directory "site", which it reads as whoever we are, measures it with
# ab and ends it.
set -eu
head -c "$BYTES" /dev/zero | tr '\0' x >site/index.html

config() {
    cat <<END
daemon off;
master_process off;
pid $JBDLAB_OUT/nginx.pid;
error_log $JBDLAB_OUT/nginx.log;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path $JBDLAB_OUT/body;
    proxy_temp_path $JBDLAB_OUT/proxy;
    fastcgi_temp_path $JBDLAB_OUT/fastcgi;
    uwsgi_temp_path $JBDLAB_OUT/uwsgi;
    scgi_temp_path $JBDLAB_OUT/scgi;
    server { listen 127.0.0.1:$1; root $JBDLAB_DIR/site; }
}
END
}

# answers PORT: somebody serves there.
answers() {
    ab -q -n 1 "http://127.0.0.1:$1/" >/dev/null 2>&1
}

# serve PORT: nginx there; false when it does not come up.  A port at which somebody else
# answers is not tried: nginx would wait for it, and ab measure the wrong server.
serve() {
    ! answers "$1" || return 1
    config "$1" >"$JBDLAB_OUT/nginx.conf"
    nginx -c "$JBDLAB_OUT/nginx.conf" -e "$JBDLAB_OUT/nginx.log" &
    server=$!
    i=0
    while [ $i -lt 100 ]; do
        kill -0 $server 2>/dev/null || return 1
        answers "$1" && return 0
        sleep 0.05
        i=$((i + 1))
    done
    return 1
}

# shellcheck disable=SC2153 # of the environment
port=$PORT
tries=0
[ "$port" != 0 ] || port=$((20000 + $$ % 20000))
until serve "$port"; do
    tries=$((tries + 1))
    if [ "$PORT" != 0 ] || [ $tries = 20 ]; then
        echo "no server of ours at port $port, which may be taken" >&2
        [ ! -s "$JBDLAB_OUT/nginx.log" ] || tail -n 3 "$JBDLAB_OUT/nginx.log" >&2
        exit 1
    fi
    port=$((port + 7))
done
status=0
ab -q -n "$REQUESTS" -c "$CLIENTS" "http://127.0.0.1:$port/" >"$JBDLAB_OUT/ab.txt" || status=$?
kill "$server"
wait "$server" || true
cat "$JBDLAB_OUT/ab.txt"
grep -q '^Failed requests: *0$' "$JBDLAB_OUT/ab.txt" || status=1
grep -q "^Document Length: *$BYTES bytes" "$JBDLAB_OUT/ab.txt" || status=1
! grep -q '^Non-2xx' "$JBDLAB_OUT/ab.txt" || status=1
exit $status
