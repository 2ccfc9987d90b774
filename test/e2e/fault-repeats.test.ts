import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import OpenAI from 'openai';
import { MASTER_KEY, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { bodyText, FAULT_VECTORS, type FaultVector, titleOf } from '../upstream/fault-vectors.ts';
import { PROMISED } from '../upstream/fault-promises.ts';

/** A call of a client that repeats twice where it may, and how often it came to the gateway. */
type Call = (host: TestHost, count: typeof fetch) => Promise<unknown>;

const CLIENTS: Readonly<Record<string, Call>> = {
  openai: ({ url }, count) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: MASTER_KEY, maxRetries: 2, fetch: count }).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
    }),
  '@anthropic-ai/sdk': ({ url }, count) =>
    new Anthropic({ baseURL: url, apiKey: MASTER_KEY, maxRetries: 2, fetch: count }).messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    }),
};

/** A vector of each class, and each status of those that a repeat cannot mend. */
const TRIED: readonly FaultVector[] = FAULT_VECTORS.filter(
  ({ reason, status }, at) =>
    reason !== undefined &&
    FAULT_VECTORS.findIndex(
      (other) => other.reason === reason && (other.status === status || !PROMISED[reason].isFinal),
    ) === at,
).concat(FAULT_VECTORS.filter(({ id }) => id === 'E7'));

describe('clients that repeat by themselves', () => {
  for (const [client, call] of Object.entries(CLIENTS))
    for (const vector of TRIED.filter(
      ({ reason }) => reason !== 'overload' && reason !== 'key' && reason !== 'model_access',
    ))
      it(`call once: ${client}, ${titleOf(vector)}`, async () => {
        const upstream = await stubUpstream((_request, response) => {
          response.writeHead(vector.status, { 'content-type': 'application/json' }).end(bodyText(vector));
        });
        const host = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')] });
        let calls = 0;
        const outcome: unknown = await call(host, (input, init) => {
          calls += 1;
          return fetch(input, init);
        }).catch((error: unknown) => error);
        expect(outcome).to.be.instanceOf(Error);
        expect([calls, upstream.seen.length]).to.deep.equal([1, 1]);
      });
});
