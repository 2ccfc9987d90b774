/**
 * Says that a process lives, and counts those that do, by the server's time. KEYS: the set of them, and a mark that is lost with all that the server holds; ARGV: the
 * process, milliseconds, a new mark, which gets the server's time as its end. Answers with their number and the mark that stands.
 */
export const MEMBER_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], 60000)
local mark = redis.call('GET', KEYS[2])
if not mark then
  mark = ARGV[3] .. ':' .. string.format('%.0f', now)
end
redis.call('SET', KEYS[2], mark, 'PX', 86400000)
return { redis.call('ZCARD', KEYS[1]), mark }
`;
