// Code shared by the Go programs in this folder. Nothing here has a planted bug.
package main

import (
	"log"
	"net"
	"os"
)

// Whether the program must run without its bug.
var fixed = os.Args[len(os.Args)-1] == "--fixed"

// serve passes each connection to the port, which is the first argument, to a goroutine of its own, forever.
func serve(handle func(conn net.Conn)) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer conn.Close()
			handle(conn)
		}()
	}
}
