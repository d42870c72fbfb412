// A run has two keys: a hash with the writer's epoch (`epoch`), the next number (`next`) and whether the log is closed (`ended`), and
// a stream with one entry per batch, whose id is the writer's epoch and the number of its last event. Each script is atomic.
// ARGV[1] is the retention of both keys; the other arguments are described at each script.

const shared = `
local function at(hash)
  local found = redis.call('HMGET', hash, 'epoch', 'next', 'ended')
  return tonumber(found[1]), tonumber(found[2]), found[3]
end
local function write(hash, stream, epoch, seq, n, body)
  if n > 0 then redis.call('XADD', stream, epoch .. '-' .. (seq + n - 1), 'n', n, 'body', body) end
  redis.call('HSET', hash, 'epoch', epoch, 'next', seq + n)
end
local function keep(hash, stream)
  redis.call('PEXPIRE', hash, ARGV[1])
  redis.call('PEXPIRE', stream, ARGV[1])
end
`;

/** Appends batches. For each: the hash and the stream; epoch, seq, n, body. Returns a verdict for each. */
export const append: string = `${shared}
local function append(hash, stream, epoch, seq, n, body)
  local owner, next, ended = at(hash)
  if ended then return 'ended' end
  if not owner then
    if seq > 1 then return 'regressed' end
  elseif epoch < owner then return 'fenced'
  elseif epoch > owner or seq > next then return 'regressed'
  elseif seq < next then
    -- The whole batch is in the log, or another writer has used these numbers.
    if next >= seq + n then return 'applied' else return 'fenced' end
  end
  write(hash, stream, epoch, seq, n, body)
  keep(hash, stream)
  return 'ok'
end
local verdicts = {}
for i = 1, #KEYS / 2 do
  local epoch, seq, n, body = unpack(ARGV, 4 * i - 2, 4 * i + 1)
  verdicts[i] = append(KEYS[2 * i - 1], KEYS[2 * i], tonumber(epoch), tonumber(seq), tonumber(n), body)
end
return verdicts
`;

/** Fences older writers. The hash and the stream; epoch. Returns the next number. */
export const own: string = `${shared}
local epoch = tonumber(ARGV[2])
local owner, next, ended = at(KEYS[1])
if ended then return 'ended' end
if owner and epoch < owner then return 'fenced' end
redis.call('HSET', KEYS[1], 'epoch', epoch, 'next', next or 1)
keep(KEYS[1], KEYS[2])
return next or 1
`;

/** Closes the log. The hash and the stream; epoch, seq, n, body. */
export const close: string = `${shared}
local seq = tonumber(ARGV[3])
local _, next, ended = at(KEYS[1])
if ended then return 'ended' end
if (next or 1) == seq then write(KEYS[1], KEYS[2], tonumber(ARGV[2]), seq, tonumber(ARGV[4]), ARGV[5]) end
redis.call('HSET', KEYS[1], 'ended', 'closed')
keep(KEYS[1], KEYS[2])
return 'ok'
`;

/** Drops the log. The hash and the stream. A marker remains, so that writers and readers find that the log was dropped. */
export const drop = `
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'ended', 'dropped')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 'ok'
`;
