# Bugs in the state of a key-value server, selected by the second argument; with --fixed, the server has no bug.
#   overwrite  a value that is set again keeps its first value
#   count      a key that is deleted is still counted
#   clients    the user name of the last client to log in applies to all clients
#   order      the fast reply to the next command overtakes a slow reply
# Why tests miss them: each command on its own is answered correctly.
import socket, sys, threading

BUG = "" if "--fixed" in sys.argv else sys.argv[2]
store, deleted, names = {}, [], {}


def answer(client, words):
    """Returns the reply to a command, and whether it is slow."""
    match words:
        case ["SET", key, value]:
            if BUG != "overwrite" or key not in store:
                store[key] = value
            return "+OK", False
        case ["GET", key]:
            return "=" + store.get(key, "-"), False
        case ["DEL", key]:
            deleted.append(store.pop(key, None))
            return "+OK", False
        case ["COUNT"]:
            return f"={len(store) + (len(deleted) if BUG == 'count' else 0)}", False
        case ["LOGIN", name]:
            names[0 if BUG == "clients" else client] = name
            return "+OK", False
        case ["WHOAMI"]:
            return "=" + names.get(0 if BUG == "clients" else client, "-"), False
        case ["SUM", *numbers]:
            return f"={sum(map(int, numbers))}", True
    return "-ERR", False


def serve(client):
    client.sendall(b"+READY\r\n")
    with client, client.makefile("r", newline="\r\n") as lines:
        slow = []
        for line in lines:
            reply, takes_time = answer(client, line.split())
            if takes_time and BUG == "order":
                slow.append(reply)
            else:
                client.sendall(f"{reply}\r\n".encode())
                while slow:
                    client.sendall(f"{slow.pop(0)}\r\n".encode())
        for reply in slow:
            client.sendall(f"{reply}\r\n".encode())


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
