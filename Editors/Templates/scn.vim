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
syntax match scnClause "\%([[:alnum:]_.$-]\)\@1<!\%(@clauses@\)\%([[:alnum:]_-]\)\@!"
syntax match scnConstant "\%([[:alnum:]_.$-]\)\@1<!\%(@constants@\)\%([[:alnum:]_-]\)\@!"
syntax match scnFunction "\<\%(@functions@\)(\@="

" Statements: an actor and its verb; then the words that start other statements.
syntax match scnSubject "\%(^\s*\|[{;]\s*\)\@100<=\h[[:alnum:]_-]*\%(\s\+\h\)\@=" nextgroup=scnVerb skipwhite
syntax match scnVerb contained "\%(@first-verbs@\)\%([[:alnum:]_-]\)\@!" nextgroup=scnVerbMore skipwhite
syntax match scnVerbMore contained "\%(@further-verbs@\)\%([[:alnum:]_-]\)\@!"
syntax match scnMember "\%(^\s*\|[{;]\s*\)\@100<=\%(@members@\)\%([[:alnum:]_-]\)\@!\%(\s\+\%(@first-verbs@\)\%([[:alnum:]_-]\)\@!\)\@!"
syntax match scnHeader "\%(^\s*\|[{;]\s*\)\@100<=\%(@header@\)\%([[:alnum:]_-]\)\@!"
syntax match scnFlow "\%(^\s*\|[{;}]\s*\)\@100<=\%(@steps@\)\%([[:alnum:]_-]\)\@!"
syntax match scnActor "\%(^\s*\|[{;]\s*\)\@100<=\%(@actors@\)\%([[:alnum:]_-]\)\@!" nextgroup=scnActorName skipwhite
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
