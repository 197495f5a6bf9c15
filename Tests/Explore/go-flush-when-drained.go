// Bug: replies are flushed only when the input buffer is empty; the beginning of a further line in the buffer holds back the reply.
// Why tests miss it: clients send complete lines.
// Each line is answered with its length.
package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
)

func handle(conn net.Conn) {
	reader, writer := bufio.NewReader(conn), bufio.NewWriter(conn)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Fprintf(writer, "%d\r\n", len(strings.TrimRight(line, "\r\n")))
		if fixed || reader.Buffered() == 0 {
			writer.Flush()
		}
	}
}

func main() { serve(handle) }
