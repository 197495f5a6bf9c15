"""Python's http.server, which has a thread for each connection, on a port of 127.0.0.1. Usage: `http_server.py PORT`.

Its backlog holds five connections by default; here it is large enough for a crowd, and so is the limit on open files.
"""

import http.server
import resource
import sys

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 4096


Server(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
