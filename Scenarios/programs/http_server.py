"""Python's http.server, which has a thread for each connection, on a port of 127.0.0.1: `http_server.py PORT`.

Its queue of connections that wait for `accept` is five long by default; here it has room for a crowd. So has its table of open files.
"""

import http.server
import resource
import sys

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 4096


Server(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
