// Bug: the end of the input is taken for the end of the connection, and cancels the requests that are being handled.
// Why tests miss it: clients wait for the reply before they close the connection.
// A reply takes 20 ms.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"time"
)

func handle(conn net.Conn) {
	requests := make(chan string, 16)
	canceled, cancel := context.WithCancel(context.Background())
	go func() {
		scanner := bufio.NewScanner(conn)
		for scanner.Scan() {
			requests <- scanner.Text()
		}
		if !fixed {
			cancel()
		}
		close(requests)
	}()
	for request := range requests {
		select {
		case <-time.After(20 * time.Millisecond):
			fmt.Fprintf(conn, "result of %s\r\n", request)
		case <-canceled.Done():
		}
	}
	cancel()
}

func main() { serve(handle) }
