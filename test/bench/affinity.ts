/**
 * Cost of a session on the path of a request: `node test/bench/affinity.ts`. Finding it by a header and ordering three routes
 * and three credentials, and the fingerprint of a prompt of 64 KiB, which is made only where nothing else names a session.
 */
import { fileURLToPath } from 'node:url';
import { Places } from '../../builtins/routing/affinity/places.ts';
import { routeWords } from '../../builtins/routing/affinity/rendezvous.ts';
import { ServedSessions } from '../../builtins/routing/affinity/served-sessions.ts';
import { sessionKeyOf } from '../../builtins/routing/affinity/session-key.ts';
import type { SessionList, SessionRoute } from '../../builtins/routing/affinity/session-lists.ts';
import { SessionRouting } from '../../builtins/routing/affinity/session-routing.ts';
import type { RouteTarget } from '../../host/contract/index.ts';
import { systemClock } from '../../host/common/clock.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { Credential, ProviderInstance } from '../../host/upstream/instance.ts';

const NAMES = ['a', 'b', 'c'];
const ROUNDS = 5;

export interface SessionCost {
  readonly name: string;
  /** Microseconds of the best round. */
  readonly us: number;
}

const credentials = NAMES.map((name): Credential => ({
  instance: 'acme',
  name,
  vendorAccount: `acme/${name}`,
  isLabelled: false,
  weight: 1,
  maxConcurrency: undefined,
  hasModels: false,
  allows: () => true,
  connected: undefined,
  digest: '',
  refreshedAt: 0,
  takenAt: 0,
}));

const INSTANCE: ProviderInstance = {
  name: 'acme',
  kind: 'openai',
  credentials,
  baseUrl: undefined,
  catalogProvider: 'openai',
  catalog: 'openai',
  models: undefined,
  discover: undefined,
  anyModel: false,
  configuredModels: [],
};

function routing(): SessionRouting {
  const routes = new Map<string, SessionRoute>();
  for (const name of NAMES)
    routes.set(name, {
      id: name,
      words: routeWords(name, 'x'),
      target: { virtualKey: name, instance: INSTANCE } as Target,
    });
  const list: SessionList = { order: 'spread', routes };
  return new SessionRouting({
    lists: { of: () => list },
    places: new Places([INSTANCE]),
    served: new ServedSessions(),
    monotonic: systemClock.monotonic,
  });
}

const exchangeOf = (headers: Readonly<Record<string, string>>, content: string): LiveExchange =>
  new LiveExchange({
    id: 'x',
    surface: 'chat',
    clock: systemClock,
    principal: undefined,
    metadata: {},
    request: { model: 'gpt-5', messages: [{ role: 'user', content }] },
    streaming: false,
    arrivedAt: 0,
    clientHeaders: headers,
  });

function best(name: string, count: number, run: (at: number) => void): SessionCost {
  let us = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < count; at += 1) run(at);
    const { user, system } = process.cpuUsage(before);
    us = Math.min(us, (user + system) / count);
  }
  return { name, us };
}

export function sessionCosts(decisions = 50_000): readonly SessionCost[] {
  const sessions = routing();
  const ranked: readonly RouteTarget[] = NAMES.map((virtualKey) => ({ virtualKey, weight: 1, serves: true }));
  const byHeader = exchangeOf({ 'x-gateway-session': 'b7e1c2f0-4a54-4a0e-9d39-1f5a3f6a9d10' }, 'hi');
  const begin = (): void => {
    byHeader.routing.session = undefined;
    sessions.begin(byHeader);
  };
  const long = exchangeOf({}, 'All of it is one prompt. '.repeat(2700));
  return [
    best('session by header', decisions, begin),
    best('session by header, three routes and three credentials ordered', decisions, () => {
      begin();
      sessions.order(ranked, byHeader);
      sessions.credentials(byHeader, INSTANCE, 'x');
    }),
    best('fingerprint of 64 KiB', decisions / 50, () => sessionKeyOf(long)),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { name, us } of sessionCosts()) console.log(`${us.toFixed(2).padStart(8)} us  ${name}`);
