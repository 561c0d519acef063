#!/usr/bin/env luajit
-- functions.lua - what the reading library says of functions, from LuaJIT by its ffi.
--
-- SPDX-License-Identifier: MIT
--
--     functions.lua top CAPTURE          the ten functions with the most time in themselves
--     functions.lua grew BEFORE AFTER    fails if the share of a function grew beyond chance
--
-- A struct declares only its first fields: `size` says how far they go.
local ffi = require 'ffi'
ffi.cdef [[
typedef struct jsprof_reader jsprof_reader;
typedef struct jsprof_read_functions jsprof_read_functions;
typedef struct jsprof_read_comparison jsprof_read_comparison;
typedef struct { size_t size; const char *path; const void *bytes; uint64_t n_bytes; } input;
typedef struct { size_t size; const input *inputs; size_t n_inputs; } options;
typedef struct { size_t size; int code; bool has_offset; uint64_t offset; const char *path, *option;
    char message[1024]; } failure;
typedef struct { size_t size; uint32_t id, line; uint64_t self, total, self_samples,
    total_samples, line_value, jit_total; const char *name; } func;
typedef struct { size_t size; const char *name, *module, *kind; double share[2], total_share[2];
    uint64_t self[2], total[2], samples[2]; double chance, total_chance; bool is_real; } change;
int jsprof_read_open(jsprof_reader **out, const options *o, failure *e);
int jsprof_read_select(jsprof_reader *r, const void *filter, failure *e);
int jsprof_read_functions_open(jsprof_read_functions **out, jsprof_reader *r, const void *order,
    failure *e);
int64_t jsprof_read_function_rows(jsprof_read_functions *f, uint64_t first, func *out, uint64_t n);
int jsprof_read_compare(jsprof_read_comparison **out, jsprof_reader *a, jsprof_reader *b,
    const char *sort, failure *e);
int64_t jsprof_read_changes(jsprof_read_comparison *c, uint64_t first, change *out, uint64_t n);
]]
local lib = ffi.load(os.getenv 'JSPROF_READ' or 'libjsprof-read.so.0')
local e = ffi.new('failure', { size = ffi.sizeof 'failure' })

local function check(result)
  if result < 0 then
    io.stderr:write(e.path ~= nil and ffi.string(e.path) or '', ': ', ffi.string(e.message), '\n')
    os.exit(1)
  end
end

local function open(path)
  local from = ffi.new('input', { size = ffi.sizeof 'input', path = path })
  local how = ffi.new('options', { size = ffi.sizeof 'options', inputs = from, n_inputs = 1 })
  local reader = ffi.new 'jsprof_reader *[1]'
  check(lib.jsprof_read_open(reader, how, e))
  check(lib.jsprof_read_select(reader[0], nil, e))
  return reader[0]
end

local verbs = {}

function verbs.top(path)
  local rows = ffi.new 'jsprof_read_functions *[1]'
  check(lib.jsprof_read_functions_open(rows, open(path), nil, e))
  local row = ffi.new('func', { size = ffi.sizeof 'func' })
  for i = 0, 9 do
    if lib.jsprof_read_function_rows(rows[0], i, row, 1) ~= 1 then break end
    print(('%14d %s'):format(tonumber(row.self), ffi.string(row.name)))
  end
end

function verbs.grew(before, after)
  local rows, worse, i = ffi.new 'jsprof_read_comparison *[1]', false, 0
  check(lib.jsprof_read_compare(rows, open(before), open(after), nil, e))
  local row = ffi.new('change', { size = ffi.sizeof 'change' })
  while lib.jsprof_read_changes(rows[0], i, row, 1) == 1 do
    if row.is_real and row.share[1] > row.share[0] then
      print(('%5.1f%% -> %5.1f%%, chance %.0e: %s'):format(100 * row.share[0], 100 * row.share[1],
        row.chance, ffi.string(row.name)))
      worse = true
    end
    i = i + 1
  end
  os.exit(worse and 1 or 0)
end

verbs[arg[1]](arg[2], arg[3])
