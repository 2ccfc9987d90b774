/**
 * Takes from all buckets or from none, by the server's time. KEYS: the buckets; ARGV: four of each, tokens that come back in a millisecond, size, cost,
 * and how many must be there (empty: any debt is allowed). Answers with the place of the first one refused (0: none), milliseconds to wait, and the levels.
 */
export const TAKE_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local levels = {}
local refused = 0
local wait = 0
for i = 1, #KEYS do
  local rate = tonumber(ARGV[i * 4 - 3])
  local size = tonumber(ARGV[i * 4 - 2])
  local known = redis.call('HMGET', KEYS[i], 'n', 'at')
  local level = tonumber(known[1] or size)
  local at = tonumber(known[2] or now)
  level = math.min(size, level + math.max(0, now - at) * rate)
  levels[i] = level
  local floor = tonumber(ARGV[i * 4])
  if refused == 0 and floor and level < floor then
    refused = i
    wait = (floor - level) / rate
  end
end
local answer = { refused, string.format('%.3f', wait) }
for i = 1, #KEYS do
  local cost = tonumber(ARGV[i * 4 - 1])
  if refused == 0 and cost ~= 0 then
    local rate = tonumber(ARGV[i * 4 - 3])
    local size = tonumber(ARGV[i * 4 - 2])
    levels[i] = math.min(size, levels[i] - cost)
    redis.call('HSET', KEYS[i], 'n', string.format('%.17g', levels[i]), 'at', string.format('%.3f', now))
    local life = 172800000
    if rate > 0 then
      life = math.min(life, math.max(60000, 2 * (size - levels[i]) / rate))
    end
    redis.call('PEXPIRE', KEYS[i], string.format('%.0f', life))
  end
  answer[i + 2] = string.format('%.17g', levels[i])
end
return answer
`;
