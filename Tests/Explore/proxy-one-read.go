// Bug: after each request, a proxy reads from the backend once, and takes what it gets for the complete reply.
// Why tests miss it: a short reply that is sent at once arrives in one Read.
// The arguments are the port and the backend's port. A reply is a line.
package main

import (
	"bufio"
	"net"
	"os"
)

func handle(client net.Conn) {
	backend, err := net.Dial("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		return
	}
	defer backend.Close()
	requests, replies := bufio.NewReader(client), bufio.NewReader(backend)
	for {
		request, err := requests.ReadBytes('\n')
		if err != nil {
			return
		}
		backend.Write(request)
		reply := make([]byte, 4096)
		if fixed {
			reply, err = replies.ReadBytes('\n')
		} else {
			var n int
			n, err = backend.Read(reply)
			reply = reply[:n]
		}
		if err != nil {
			return
		}
		client.Write(reply)
	}
}

func main() { serve(handle) }
