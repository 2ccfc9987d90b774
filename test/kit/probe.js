/** CPU of the thread that serves, in milliseconds, from one turn of the event loop to the next: the most since it was last asked for. */
let longestMs = 0;
let sampling;

function cpuMs() {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function sample() {
  let before = cpuMs();
  const onTurn = () => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  };
  return setInterval(onTurn, 1).unref();
}

/** The longest turn so far; what comes afterwards is counted anew. */
function longestTurn() {
  sampling ??= sample();
  const longest = longestMs;
  longestMs = 0;
  return longest;
}

/**
 * Loaded into a gateway's process before anything else: tells the test that started it what the process holds, and for how long it held others up.
 * Plain JavaScript, as `frozen.js` is; what is TypeScript is loaded when it is asked for, from the compile cache of the gateway.
 */
async function answer(asked) {
  const { holdings } = await import('./holdings.ts');
  process.send?.(asked === 'longest turn' ? longestTurn() : holdings());
}

process.on('message', (asked) => {
  if (typeof asked === 'string') void answer(asked); // else one process of the gateway asks another
});
process.channel?.unref(); // listening must not keep the process alive
