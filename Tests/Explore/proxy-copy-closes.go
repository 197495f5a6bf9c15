// Bug: as soon as one direction of a proxy has ended, both connections are closed: a half-close loses the reply.
package main

import (
	"io"
	"net"
	"os"
)

func handle(client net.Conn) {
	backend, err := net.Dial("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		return
	}
	defer backend.Close()
	ended := make(chan bool, 2)
	forward := func(from, to net.Conn) {
		io.Copy(to, from)
		if fixed {
			to.(*net.TCPConn).CloseWrite()
		}
		ended <- true
	}
	go forward(client, backend)
	go forward(backend, client)
	<-ended
	if fixed {
		<-ended
	}
}

func main() { serve(handle) }
