import { holdings } from './holdings.ts';

/** Loaded into a gateway's process before anything else: tells the test that started it what the process holds. */
process.on('message', () => process.send?.(holdings()));
process.channel?.unref(); // listening must not keep the process alive
