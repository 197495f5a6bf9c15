// Bug: the body of a message is read with a single Read, not with io.ReadFull.
// Why tests miss it: a short message that is sent at once arrives in one Read.
// A message begins with its length, two bytes. Each message is answered with its length and its text.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

func handle(conn net.Conn) {
	for {
		var header [2]byte
		if _, err := io.ReadFull(conn, header[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint16(header[:]))
		read := conn.Read
		if fixed {
			read = func(buffer []byte) (int, error) { return io.ReadFull(conn, buffer) }
		}
		n, err := read(body)
		if err != nil {
			return
		}
		fmt.Fprintf(conn, "%d %s\r\n", n, body[:n])
	}
}

func main() { serve(handle) }
