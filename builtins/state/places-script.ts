/**
 * Takes places, by the server's time: one of each set for every name that is offered, as many names as all sets have room for. KEYS: the mark of what the
 * server holds, the sets, and where others may wait the table of those who do. ARGV: milliseconds that a place holds unless it is renewed, the process,
 * milliseconds for which a new mark is not relied on, the number of sets, the most of each, and the names. Who has waited longer, by microseconds, goes first: one place is
 * left for each of them. Answers with how many names were taken and the first set that was short of room (0: none); -1 where the mark is new or none.
 */
export const PLACES_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moment = time[1] * 1000000 + time[2]
local lease = tonumber(ARGV[1])
local mark = redis.call('GET', KEYS[1])
local since = mark and tonumber(string.match(mark, ':(%d+)$'))
if not since or now - since < tonumber(ARGV[3]) then
  return { -1, 0 }
end
local sets = tonumber(ARGV[4])
local wanted = #ARGV - 4 - sets
local room = wanted
local refused = 0
for i = 1, sets do
  redis.call('ZREMRANGEBYSCORE', KEYS[i + 1], '-inf', now)
  local free = math.max(0, tonumber(ARGV[4 + i]) - redis.call('ZCARD', KEYS[i + 1]))
  if free < room then
    room = free
    refused = i
  end
end
local waiting = KEYS[sets + 2]
if waiting then
  local mine = moment
  local known = redis.call('HGETALL', waiting)
  for i = 1, #known, 2 do
    local from, seen = string.match(known[i + 1], '(%d+):(%d+)')
    if now - tonumber(seen) > 1000 then
      redis.call('HDEL', waiting, known[i])
      known[i] = false
    elseif known[i] == ARGV[2] then
      mine = tonumber(from)
      known[i] = false
    end
  end
  local free = math.max(0, tonumber(ARGV[5]) - redis.call('ZCARD', KEYS[2]))
  for i = 1, #known, 2 do
    local from = known[i] and tonumber(string.match(known[i + 1], '(%d+):'))
    if from and (from < mine or from == mine and known[i] < ARGV[2]) then
      free = free - 1
    end
  end
  if math.max(0, free) < room then
    room = math.max(0, free)
    refused = 1
  end
  if room < wanted then
    if room > 0 then
      mine = moment
    end
    redis.call('HSET', waiting, ARGV[2], string.format('%.0f:%.0f', mine, now))
    redis.call('PEXPIRE', waiting, 5000)
  else
    redis.call('HDEL', waiting, ARGV[2])
  end
end
for i = 1, sets do
  for j = 1, room do
    redis.call('ZADD', KEYS[i + 1], now + lease, ARGV[4 + sets + j])
  end
  if room > 0 then
    redis.call('PEXPIRE', KEYS[i + 1], lease * 2)
  end
end
return { room, refused }
`;

/** Holds places for longer, also those that the server has forgotten. KEYS: a set; ARGV: milliseconds, and the names. */
export const RENEW_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[1])
for i = 2, #ARGV do
  redis.call('ZADD', KEYS[1], now + lease, ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], lease * 2)
return { #ARGV - 1 }
`;
