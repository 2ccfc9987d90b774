import { type GatewayProcess, rawClient } from '../kit/index.ts';
import type { FramingCase } from './framing-cases.ts';

/** A request that asks for the end of its connection. */
export const LAST = 'GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';

/** The statuses of all answers in what came back, those of 1xx among them. */
export const statusesOf = (text: string): number[] =>
  Array.from(text.matchAll(/(?:^|\}|\r\n\r\n|found)HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));

/** Sends a case in these pieces, and one more request where the connection serves on; resolves with all statuses. */
export async function strike(
  { url }: GatewayProcess,
  { isKept }: FramingCase,
  pieces: readonly string[],
): Promise<number[]> {
  const client = await rawClient(url);
  for (const [at, piece] of pieces.entries()) {
    if (at > 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    client.send(piece);
  }
  if (isKept) client.send(LAST);
  return statusesOf(await client.closed());
}
