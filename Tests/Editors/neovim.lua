-- Drives a headless Neovim (0.7 or later) with the real server, and writes what a user would see of a scenario to `seen`.
local seen = {}
local function say(text) table.insert(seen, text) end
local function finish()
  vim.fn.writefile(seen, 'seen')
  vim.cmd('qall!')
end
local function wait(what, condition)
  if not vim.wait(120000, condition, 20) then
    say('timed out waiting for ' .. what)
    finish()
  end
end

-- The lines of the document for this version, and its function for the lens.
local page = table.concat(vim.fn.readfile(vim.env.ROOT .. '/docs/editors.md'), '\n')
local blocks = {}
for block in page:gmatch('```lua\n(.-)```') do table.insert(blocks, block) end
assert(loadstring(blocks[1]:match('vim%.lsp%.commands.*')))()
assert(loadstring(blocks[2]))()

vim.cmd('edit wrong.scn')
local buffer = vim.api.nvim_get_current_buf()
vim.bo.filetype = 'scn'
local id = _G.tcpprobe

-- The diagnostics in the format of `check`: line, column in characters, id.
wait('diagnostics', function() return #vim.diagnostic.get(buffer) > 0 end)
for _, one in ipairs(vim.diagnostic.get(buffer)) do
  local line = vim.api.nvim_buf_get_lines(buffer, one.lnum, one.lnum + 1, true)[1]
  local code = one.code or one.user_data.lsp.code
  say(('wrong.scn:%d:%d: %s [%s]'):format(one.lnum + 1, vim.fn.strchars(line:sub(1, one.col)) + 1, one.message:match('^[^\n]*'), code))
end

-- A fix is typed, and the diagnostics disappear.
vim.cmd([[%s/sned/send/]])
wait('a fix', function() return #vim.diagnostic.get(buffer) == 0 end)
say('fixed')

local function ask(method, line, column)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  if line then params.position = { line = line, character = column } end
  if method == 'formatting' then params.options = { tabSize = 4, insertSpaces = true } end
  local answers = vim.lsp.buf_request_sync(buffer, 'textDocument/' .. method, params, 60000)
  return answers and answers[id] and answers[id].result
end

local lines = vim.lsp.util.convert_input_to_markdown_lines(ask('hover', 5, 3).contents)
say('hover: ' .. table.concat(lines, ' '):gsub('```%a*', ''):gsub('^%s+', ''):sub(1, 28))
local labels = {}
for _, item in ipairs(ask('completion', 5, 2).items) do labels[item.label] = true end
say('completion: ' .. tostring(labels['connect']) .. ' ' .. tostring(labels['stop reading']) .. ' ' .. tostring(labels['accept']))

-- With the editor's own commands.
vim.api.nvim_win_set_cursor(0, { 5, 15 })
vim.lsp.buf.definition()
wait('a definition', function() return vim.api.nvim_win_get_cursor(0)[1] == 4 end)
say('definition: ' .. table.concat(vim.api.nvim_win_get_cursor(0), ','))

local lenses = ask('codeLens')
for _, lens in ipairs(lenses) do say('lens: ' .. lens.command.title) end
vim.lsp.commands[lenses[2].command.command](lenses[2].command, {})
-- A terminal is open now: the case runs in it.
local terminal = vim.api.nvim_get_current_buf()
local function shown() return table.concat(vim.api.nvim_buf_get_lines(terminal, 0, -1, false), '\n') end
wait('a run', function() return shown():find('Process exited') end)
say('ran: ' .. tostring(shown():match('%d+ passed')))
vim.cmd('bdelete!')
vim.api.nvim_set_current_buf(buffer)

vim.lsp.buf.formatting_sync(nil, 60000)
vim.cmd('write! formatted.scn')
-- An emoji before the place: columns are UTF-16.
vim.cmd([[$s/.*/\0\rC expect "😀😀" C sned/]])
wait('another mistake', function() return #vim.diagnostic.get(buffer) > 0 end)
say('col ' .. vim.diagnostic.get(buffer)[1].col)

vim.lsp.stop_client(id)
wait('the end', function() return vim.lsp.client_is_stopped(id) end)
say('ended')
finish()
