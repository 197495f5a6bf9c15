" Vim syntax: scenarios of tcpprobe
if exists("b:current_syntax")
  finish
endif
let s:cpo_save = &cpo
set cpo&vim

syntax case match
syntax sync minlines=1

" Words have a `-` only before a letter or digit.
syntax match scnWord "\<\h\w*\%(-[[:alnum:]]\w*\)*" contains=NONE

" Clauses after a verb; contextual, so they are only a hint.
syntax match scnClause "\%([[:alnum:]_.$-]\)\@1<!\%(a\|aaaa\|accept\|acks\|after\|again\|alert\|alive\|all\|allow-half-close\|alter\|any\|arrived\|as\|at\|attempt-failed\|backlog\|behind\|binary\|break-checksum\|burst\|by\|byte\|bytes\|clamp\|clients\|close\|closed\|complete\|connect-timeout\|connected\|connection\|contains\|cpu\|cut\|data\|delay\|descriptors\|discard-too-long\|discarded\|done\|down\|drained\|drop\|duplicate\|eof\|error\|every\|exit\|failed\|fails\|fin\|first\|for\|frames\|from\|full\|gap\|gets\|half-closed\|handshake\|heal\|heartbeat\|heartbeat-answer\|heartbeat-timeout\|high-water\|hold\|idle-timeout\|if\|in\|inject\|interface\|jitter\|keepalive\|keepalives\|lacks\|largest\|latency\|leftover\|line\|lines\|listening\|listens\|local\|longest\|loss\|lost\|matches\|max\|memory\|message\|messages\|mss\|mtu\|needed\|no\|nodelay\|nothing\|notify\|nxdomain\|of\|off\|on\|optional\|order\|out\|output\|outside\|packets\|path\|pieces\|ping\|pong\|prefer\|protobuf\|queue\|random\|rate\|receive-buffer\|reconnect\|records\|refused\|release\|reorder\|reset\|retransmission\|retransmissions\|rst\|sacks\|secured\|seed\|segment\|segments\|send\|send-buffer\|sent\|servers\|signal\|silent\|silently\|stalled\|started\|stopped\|strip\|swap\|text\|threads\|timeout\|times\|tls\|to\|too-long\|truncate\|truncated\|ttl\|unix\|unreachable\|until\|up\|urgent\|window\|with\|within\|zero\|zero-window\)\%([[:alnum:]_-]\)\@!"
syntax match scnConstant "\%([[:alnum:]_.$-]\)\@1<!\%(crlf\|lf\|cr\|nul\|u8\|u16\|u24\|u32\|u64\|u16le\|u32le\|varint\|netstring\|websocket\|none\|u64le\|must\|should\|may\)\%([[:alnum:]_-]\)\@!"
syntax match scnFunction "\<\%(base64\|cuts\|file\|int\|len\|line\|lines\|pb\|random\|sized\|u16\|u16le\|u24\|u32\|u32le\|u64\|u64le\|u8\|varint\|ws.accept\|ws.binary\|ws.close\|ws.frame\|ws.ping\|ws.pong\|ws.text\)(\@="

" Statements: an actor and its verb; then the words that start other statements.
syntax match scnSubject "\%(^\s*\|[{;]\s*\)\@100<=\h[[:alnum:]_-]*\%(\s\+\h\)\@=" nextgroup=scnVerb skipwhite
syntax match scnVerb contained "\%(accept\|close\|connect\|corrupt\|discard\|expect\|forward\|framing\|half-close\|hold\|ignore\|insert\|listen\|ping\|read\|reboot\|release\|replace\|reset\|resume\|send\|set\|signal\|start\|stop\|vanish\)\%([[:alnum:]_-]\)\@!" nextgroup=scnVerbMore skipwhite
syntax match scnVerbMore contained "\%(alert\|binary\|early\|hello-request\|key-update\|listening\|next\|notify\|reading\|record\|rest\|sending\|ticket\|tls\|to\|without\)\%([[:alnum:]_-]\)\@!"
syntax match scnMember "\%(^\s*\|[{;]\s*\)\@100<=\%(close\|connect\|expect\|ignore\|read\|repeat\|reset\|send\|stop\)\%([[:alnum:]_-]\)\@!\%(\s\+\%(accept\|close\|connect\|corrupt\|discard\|expect\|forward\|framing\|half-close\|hold\|ignore\|insert\|listen\|ping\|read\|reboot\|release\|replace\|reset\|resume\|send\|set\|signal\|start\|stop\|vanish\)\%([[:alnum:]_-]\)\@!\)\@!"
syntax match scnHeader "\%(^\s*\|[{;]\s*\)\@100<=\%(scenario\|about\|because\|level\|tag\|require\|timeout\|case-timeout\|framing\|max-line\|each\|table\|define\|include\)\%([[:alnum:]_-]\)\@!"
syntax match scnFlow "\%(^\s*\|[{;}]\s*\)\@100<=\%(wait\|note\|let\|check\|do\|together\|either\|for\|retry\|whenever\|finally\|wire\|or\)\%([[:alnum:]_-]\)\@!"
syntax match scnActor "\%(^\s*\|[{;]\s*\)\@100<=\%(server\|client\|subject\|process\|proxy\|crowd\|link\|name\)\%([[:alnum:]_-]\)\@!" nextgroup=scnActorName skipwhite
syntax match scnActorName contained "\h\w*\%(-[[:alnum:]]\w*\)*"

syntax match scnOperator "<->\|->\|==\|!=\|<=\|>=\|[<>=|+*]\|\.\."

syntax match scnNumber "\%([[:alnum:]_]\)\@1<![0-9][0-9_]*\%(\.[0-9][0-9_]*\)\=\%(us\|ms\|min\|s\|[kM]B\|GB\|[KMG]iB\|B\)\=\%(/s\)\=\%([[:alnum:]_]\)\@!"
syntax match scnNumber "\%([[:alnum:]_]\)\@1<!0[xX][0-9A-Fa-f_]\+"
syntax match scnAddress "\%([[:alnum:]_]\)\@1<![0-9]\+\%(\.[0-9]\+\)\{3}\|\[[0-9A-Fa-f:.%a-z]\+\]"
syntax match scnHex "\<hex([^)]*)" contains=scnHexError
syntax match scnHexError contained "[^0-9A-Fa-f()[:space:]hex]\+"

syntax match scnInterpolation contained "\${[^}[:space:]]*}"
syntax match scnEscape contained "\\\%([rnt0\\\"$]\|x\x\{2}\|u{\x\{1,6}}\)"
syntax match scnEscapeError contained "\\\%([^rnt0\\\"$xu]\|x\%(\x\{2}\)\@!\|u\%({\x\{1,6}}\)\@!\)"
syntax region scnString start=+"+ skip=+\\.+ end=+"+ oneline contains=scnEscape,scnEscapeError,scnInterpolation
syntax region scnRawString start=+'+ end=+'+ oneline

" Outside parentheses a slash opens a regex; inside it divides.
syntax match scnRegexEscape contained "\\."
syntax region scnRegex start=+\%([[:alnum:]_)"']\)\@1<!/+ skip=+\\.\|\[\%(\\.\|[^]\\]\)\+\]+ end=+/\a*+ oneline contains=scnRegexEscape,scnInterpolation
syntax region scnParentheses matchgroup=scnDelimiter start="(" end=")" transparent contains=scnComment,scnString,scnRawString,scnHex,scnNumber,scnAddress,scnFunction,scnClause,scnWord,scnOperator,scnParentheses

" The command of a process: words as a shell splits them.
syntax match scnCommandEscape contained "\\."
syntax region scnCommand matchgroup=scnOperator start="\%(^\s*process\s\+\h[[:alnum:]_-]*\s*\)\@100<==" end="$" oneline keepend contains=scnComment,scnCommandString,scnCommandRaw,scnCommandEscape,scnInterpolation
syntax region scnCommandString contained start=+"+ skip=+\\.+ end=+"+ oneline contains=scnInterpolation
syntax region scnCommandRaw contained start=+'+ end=+'+ oneline

syntax match scnTodo contained "\<\%(TODO\|FIXME\|XXX\)\>"
syntax match scnComment "\%(^\|\s\)\@1<=#.*$" contains=scnTodo

highlight default link scnComment Comment
highlight default link scnTodo Todo
highlight default link scnHeader PreProc
highlight default link scnActor StorageClass
highlight default link scnActorName Type
highlight default link scnFlow Conditional
highlight default link scnSubject Identifier
highlight default link scnVerb Statement
highlight default link scnVerbMore Statement
highlight default link scnMember Statement
highlight default link scnClause Keyword
highlight default link scnConstant Constant
highlight default link scnFunction Function
highlight default link scnNumber Number
highlight default link scnAddress Constant
highlight default link scnHex Number
highlight default link scnHexError Error
highlight default link scnString String
highlight default link scnRawString String
highlight default link scnCommand String
highlight default link scnCommandString String
highlight default link scnCommandRaw String
highlight default link scnEscape SpecialChar
highlight default link scnCommandEscape SpecialChar
highlight default link scnRegexEscape SpecialChar
highlight default link scnEscapeError Error
highlight default link scnInterpolation Special
highlight default link scnRegex String
highlight default link scnOperator Operator
highlight default link scnDelimiter Delimiter

let b:current_syntax = "scn"
let &cpo = s:cpo_save
unlet s:cpo_save
