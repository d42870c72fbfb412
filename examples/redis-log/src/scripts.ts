// A run has two keys: a hash that says who may write (`epoch`), the next number (`next`) and whether it takes no more (`ended`),
// and a stream with an entry for each batch, whose id is the writer's epoch and the number of its last event. What a script
// reads and writes, it does in one step. All of them: KEYS[1] the hash, KEYS[2] the stream, ARGV[1] how long both are kept.

const write = `
local function write(epoch, seq, n, body)
  if n > 0 then redis.call('XADD', KEYS[2], epoch .. '-' .. (seq + n - 1), 'n', n, 'body', body) end
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'next', seq + n)
end
local function keep()
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
local at = redis.call('HMGET', KEYS[1], 'epoch', 'next', 'ended')
local owner, next, ended = tonumber(at[1]), tonumber(at[2]), at[3]
`;

/** ARGV: epoch, seq, n, body. */
export const append: string = `${write}
local epoch, seq, n = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if ended then return 'ended' end
if not owner then
  if seq > 1 then return 'regressed' end
elseif epoch < owner then return 'fenced'
elseif epoch > owner or seq > next then return 'regressed'
elseif seq < next then
  -- All of it is there, or another writer has used these numbers.
  if next >= seq + n then return 'applied' else return 'fenced' end
end
write(epoch, seq, n, ARGV[5])
keep()
return 'ok'
`;

/** ARGV: epoch. Gives the next number. */
export const own: string = `${write}
local epoch = tonumber(ARGV[2])
if ended then return 'ended' end
if owner and epoch < owner then return 'fenced' end
redis.call('HSET', KEYS[1], 'epoch', epoch, 'next', next or 1)
keep()
return next or 1
`;

/** ARGV: epoch, seq, n, body. */
export const close: string = `${write}
local seq = tonumber(ARGV[3])
if ended then return 'ended' end
if (next or 1) == seq then write(tonumber(ARGV[2]), seq, tonumber(ARGV[4]), ARGV[5]) end
redis.call('HSET', KEYS[1], 'ended', 'closed')
keep()
return 'ok'
`;

/** What is left says that the log is gone, to those who still write or read it. */
export const drop = `
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'ended', 'dropped')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 'ok'
`;
