/**
 * `RateLimits.use` in one step. KEYS: the window; ARGV: now, length of a window, margin of clocks, all in ms, and the
 * weight. Answers what is used and for how long the window lasts, ms. The time is that of the asking process, so a window
 * that ends up to the margin later than possible was begun by one whose clock is ahead; any later one is of a clock that
 * was set back, and is not kept.
 */
export const countUse = `
local now, length, margin, weight = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local stored = redis.call('HMGET', KEYS[1], 'used', 'ends_at')
local used, ends_at = tonumber(stored[1] or ''), tonumber(stored[2] or '')
if used and ends_at and now < ends_at and ends_at <= now + length + margin then
  if weight ~= 0 then
    used = math.max(0, used + weight)
    redis.call('HSET', KEYS[1], 'used', used)
  end
  return {used, math.min(length, ends_at - now)}
end
if weight <= 0 then return {0, 0} end
redis.call('HSET', KEYS[1], 'used', weight, 'ends_at', now + length)
redis.call('PEXPIRE', KEYS[1], length + margin)
return {weight, length}
`;
