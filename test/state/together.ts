import { type Clock, systemClock } from '../../host/common/clock.ts';
import { STATE_LIMIT_MS } from '../../host/stores/state-trips.ts';
import {
  ask,
  chatReply,
  eventually,
  type RedisServer,
  type Relay,
  replyJson,
  startHost,
  startRelay,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

let prefixes = 0;

/** A prefix on the server of tests that no other test has. */
export const newPrefix = (): string => `suite-${(prefixes += 1)}`;
export const lastPrefix = (): string => `suite-${prefixes}`;

export interface Replicas {
  readonly all: readonly TestHost[];
  readonly relays: readonly Relay[];
  /** So many requests, in turns over all of them: how many were answered with which status. */
  readonly send: (count: number, among?: readonly TestHost[]) => Promise<Record<string, number>>;
}

const statusesOf = (statuses: readonly number[]): Record<string, number> =>
  Object.fromEntries(Object.entries(Object.groupBy(statuses, String)).map(([status, all]) => [status, all!.length]));

/** A machine that does much else answers late, and a limit of time would then be what is tested. */
export const PATIENT: Clock = {
  ...systemClock,
  timer: (ms, then) => systemClock.timer(ms === STATE_LIMIT_MS ? 20_000 : ms, then),
};

export interface ReplicasOptions {
  readonly clock?: Clock;
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs before the gateways start. */
  readonly first?: (prefix: string) => Promise<unknown>;
}

/** Gateways of one configuration on one server, each behind a relay of its own. Unless it has targets, all call one upstream that answers. */
export async function replicas(
  url: string,
  count: number,
  config: object,
  { clock = PATIENT, variables = {}, first }: ReplicasOptions = {},
): Promise<Replicas> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const prefix = newPrefix();
  await first?.(prefix);
  const relays = await Promise.all(Array.from({ length: count }, () => startRelay(url)));
  const all: TestHost[] = [];
  for (const relay of relays)
    all.push(
      await startHost(
        { targets: [stub.target('a')], ...config },
        {
          variables: { GW_STATE_URL: relay.url, GW_STATE_PREFIX: prefix, RATE_LIMIT_RPS: '0', ...variables },
          clock,
        },
      ),
    );
  await eventually(() => all.every(({ host }) => host.limits.replicas === count));
  return {
    all,
    relays,
    send: async (times, among = all) =>
      statusesOf(
        await Promise.all(
          Array.from({ length: times }, async (_, at) => (await among[at % among.length]!.post(CHAT, ask())).status),
        ),
      ),
  };
}

/** What a server holds counts at once: no replica waits for the others to say again what they have. */
export const settled = ({ client }: RedisServer, prefix: string): Promise<unknown> =>
  client.set(`gw:{${prefix}}:1:e`, 'settled:0');
