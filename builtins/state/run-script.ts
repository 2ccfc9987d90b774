import { hash } from 'node:crypto';
import type { RedisClientType } from '@redis/client';

/** Bytes of a digest that name what is held there. */
const NAME_BYTES = 16;

/** What all keys of these gateways begin with. The braces keep them together where a proxy divides keys. */
export const rootOf = (prefix: string): string => `gw:{${prefix}}:1:`;

/** A digest: what it is for cannot be read there. */
export function nameOf(group: string | undefined, key: string): string {
  return hash('sha256', `${group ?? ''}\0${key}`, 'buffer')
    .subarray(0, NAME_BYTES)
    .toString('base64url');
}

/** Runs a script that the server may have forgotten. */
export async function runScript(
  client: RedisClientType,
  script: string,
  keys: string[],
  args: string[],
): Promise<readonly unknown[]> {
  const call = { keys, arguments: args };
  let answer: unknown;
  try {
    answer = await client.evalSha(hash('sha1', script), call);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    answer = await client.eval(script, call);
  }
  return Array.isArray(answer) ? answer : [];
}
