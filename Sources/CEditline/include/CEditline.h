// A line editor for a terminal. Other text can be written above the line that is being edited. The editor uses libedit,
// which is loaded with dlopen when the first prompt is shown.
#pragma once
#include <stddef.h>

typedef struct probe_editor probe_editor;

// The callbacks of an editor, which are called on the thread that calls `probe_editor_read`, with `owner` as their
// argument.
struct probe_editor_calls {
    void *owner;
    // Called when `wake` has become readable. Returns 1 to stop reading the line.
    int (*woken)(void *owner);
    // Completes the `length` bytes before the cursor: `*insert` is inserted at the cursor, and `*shown` is displayed
    // above the line. Each is either NULL or a string allocated with malloc, which the editor frees.
    void (*complete)(void *owner, const char *text, size_t length, char **insert, char **shown);
};

// Loads libedit. Returns NULL on success, otherwise the reason why libedit can't be loaded.
const char *probe_editor_load(void);

// Opens an editor on standard input and output. `wake` is a descriptor, and `history` is a file or NULL. Returns NULL
// if memory is exhausted or standard input and output are not a terminal.
probe_editor *probe_editor_open(int wake, const char *history, struct probe_editor_calls calls);

// Reads a line. `*length` is set to the line's length without the line feed. The line is valid until the next call.
// Returns NULL at the end of the input, or if `woken` returned 1.
const char *probe_editor_read(probe_editor *editor, const char *prompt, size_t *length);

// Writes complete lines of text above the line that is being edited. May be called only within `woken`, or while no
// line is being read.
void probe_editor_show(probe_editor *editor, const char *text, size_t length);

// Discards the text that has been typed so far, and returns the number of discarded characters. May be called only
// within `woken`, which must then return 1.
size_t probe_editor_discard(probe_editor *editor);

// Adds a line to the history and its file.
void probe_editor_remember(probe_editor *editor, const char *line);

// Closes the editor and restores the terminal.
void probe_editor_close(probe_editor *editor);
