// Bug: the Scanner's split function returns what has arrived as a token if it contains no separator, although the input has not ended.
// Why tests miss it: a record that is sent at once arrives in one Read.
// Records end with a semicolon. Each record is answered with its length.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
)

func split(data []byte, atEOF bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, ';'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if len(data) > 0 && (atEOF || !fixed) {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func handle(conn net.Conn) {
	scanner := bufio.NewScanner(conn)
	scanner.Split(split)
	for scanner.Scan() {
		fmt.Fprintf(conn, "%d\r\n", len(scanner.Bytes()))
	}
}

func main() { serve(handle) }
