import { holdings } from './holdings.ts';

/** CPU of the thread that serves, in milliseconds, from one turn of the event loop to the next: the most since it was last asked for. */
let longestMs = 0;
let sampling: NodeJS.Timeout | undefined;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function sample(): NodeJS.Timeout {
  let before = cpuMs();
  const onTurn = (): void => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  };
  return setInterval(onTurn, 1).unref();
}

/** The longest turn so far; what comes afterwards is counted anew. */
function longestTurn(): number {
  sampling ??= sample();
  const longest = longestMs;
  longestMs = 0;
  return longest;
}

/** Loaded into a gateway's process before anything else: tells the test that started it what the process holds, and for how long it held others up. */
process.on('message', (asked) => process.send?.(asked === 'longest turn' ? longestTurn() : holdings()));
process.channel?.unref(); // listening must not keep the process alive
