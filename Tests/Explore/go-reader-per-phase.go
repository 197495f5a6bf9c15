// Bug: the login and the commands are read by two bufio.Readers; commands that the first one has buffered are lost.
// Why tests miss it: the client waits a moment between the login and the first command.
// Each command is echoed.
package main

import (
	"bufio"
	"fmt"
	"net"
)

func handle(conn net.Conn) {
	reader := bufio.NewReader(conn)
	name, err := reader.ReadString('\n')
	if err != nil {
		return
	}
	fmt.Fprintf(conn, "welcome %s", name)
	if !fixed {
		reader = bufio.NewReader(conn)
	}
	for {
		command, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Fprintf(conn, "ok %s", command)
	}
}

func main() { serve(handle) }
