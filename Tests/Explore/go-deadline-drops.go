// Bug: if the read deadline expires, the bytes that ReadString has returned with the error are dropped.
// Why tests miss it: a line that is sent at once is complete long before the deadline.
// The deadline is 20 ms after the first byte. Each line is echoed.
package main

import (
	"bufio"
	"errors"
	"net"
	"os"
	"time"
)

func handle(conn net.Conn) {
	reader := bufio.NewReader(conn)
	line := ""
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		part, err := reader.ReadString('\n')
		conn.SetReadDeadline(time.Time{})
		if fixed {
			part = line + part
		}
		line = part
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue // an interval in which other work could be done
		}
		if err != nil {
			return
		}
		conn.Write([]byte(line))
		line = ""
	}
}

func main() { serve(handle) }
