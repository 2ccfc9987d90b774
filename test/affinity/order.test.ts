import { expect } from 'chai';
import { Places } from '../../builtins/routing/affinity/places.ts';
import { routeWords } from '../../builtins/routing/affinity/rendezvous.ts';
import { ServedSessions } from '../../builtins/routing/affinity/served-sessions.ts';
import type { SessionList, SessionRoute } from '../../builtins/routing/affinity/session-lists.ts';
import { SessionRouting } from '../../builtins/routing/affinity/session-routing.ts';
import { GatewayError, type RouteTarget, type SessionOrder } from '../../host/contract/index.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { cases, Dice, fakeClock } from '../kit/index.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

const targetOf = (virtualKey: string, weight: number): Target =>
  ({ virtualKey, routeKey: virtualKey, weight, instance: undefined, upstreamModel: (model: string) => model }) as never;

function listOf(order: SessionOrder | undefined, weights: readonly number[]): SessionList {
  const routes = new Map<string, SessionRoute>();
  NAMES.forEach((name, at) =>
    routes.set(name, { id: `${name}\0`, words: routeWords(name, ''), target: targetOf(name, weights[at] ?? 1) }),
  );
  return { order, routes };
}

const exchangeOf = (session: string): LiveExchange =>
  new LiveExchange({
    id: 'x',
    surface: 'chat',
    clock: fakeClock(),
    principal: undefined,
    metadata: {},
    request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    streaming: false,
    arrivedAt: 0,
    clientHeaders: { 'x-gateway-session': session },
  });

describe('the order of a session', () => {
  for (const order of ['spread', 'declared', 'repeatable', undefined] as const)
    it(`holds what was left and nothing else, whatever is remembered (${order ?? 'an order that changes'})`, () => {
      const dice = new Dice(3);
      const clock = fakeClock();
      for (let world = 0; world < cases(200); world += 1) {
        const weights = NAMES.map(() => dice.below(3));
        const list = listOf(order, weights);
        const routing = new SessionRouting({
          lists: { of: () => list },
          places: new Places([]),
          served: new ServedSessions(),
          monotonic: clock.monotonic,
        });
        for (let step = 0; step < 30; step += 1) {
          const exchange = exchangeOf(`s-${dice.below(4)}`);
          const left: RouteTarget[] = NAMES.flatMap((virtualKey, at) =>
            dice.below(3) > 0 ? [{ virtualKey, weight: weights[at] ?? 1, serves: true }] : [],
          );
          clock.advance(dice.below(20) * 60_000);
          routing.begin(exchange);
          const ranked = routing.order(left, exchange);
          expect(ranked).to.have.members(left);
          if (order === 'declared' || order === 'repeatable') {
            const [first, ...rest] = ranked;
            expect(rest, 'behind what is remembered the order is the strategy’s').to.deep.equal(
              left.filter((each) => each !== first),
            );
          }
          const called = ranked[dice.below(ranked.length + 1)];
          if (!called) continue;
          routing.settled({
            exchange,
            target: list.routes.get(called.virtualKey)?.target,
            credential: undefined,
            outcome: dice.pick(['success', 'failure', 'ignored']),
          } as unknown as Attempt);
        }
      }
    });

  it('is remembered where it was served away from home alone, and not by a client that left, a failure or a count', () => {
    const list = listOf('spread', [1, 1, 1, 1, 1]);
    const all: RouteTarget[] = NAMES.map((virtualKey) => ({ virtualKey, weight: 1, serves: true }));
    const rememberedAfter = (place: number, attempt: Partial<Attempt>, isCounting = false): number => {
      const served = new ServedSessions();
      const routing = new SessionRouting({
        lists: { of: () => list },
        places: new Places([]),
        served,
        monotonic: () => 0,
      });
      const exchange = exchangeOf('s');
      exchange.isCounting = isCounting;
      routing.begin(exchange);
      const called = routing.order(all, exchange)[place];
      const { target } = list.routes.get(called?.virtualKey ?? '') ?? {};
      routing.settled({ exchange, target, credential: undefined, ...attempt } as unknown as Attempt);
      return served.size;
    };
    expect(rememberedAfter(1, { outcome: 'success' })).to.equal(1);
    expect(rememberedAfter(0, { outcome: 'success' }), 'at home').to.equal(0);
    expect(rememberedAfter(1, { outcome: 'ignored' }), 'a client that left').to.equal(0);
    expect(rememberedAfter(1, { outcome: 'failure' })).to.equal(0);
    const error = new GatewayError('invalid_request', 'no');
    expect(rememberedAfter(1, { outcome: 'success', error }), "the client's error").to.equal(0);
    expect(rememberedAfter(1, { outcome: 'success' }, true), 'a count').to.equal(0);
  });

  it('moves only the sessions of what is left out', () => {
    const list = listOf('spread', [1, 1, 1, 1, 1]);
    const routing = new SessionRouting({
      lists: { of: () => list },
      places: new Places([]),
      served: new ServedSessions(),
      monotonic: () => 0,
    });
    const all: RouteTarget[] = NAMES.map((virtualKey) => ({ virtualKey, weight: 1, serves: true }));
    const firstOf = (session: string, left: readonly RouteTarget[]): string | undefined => {
      const exchange = exchangeOf(session);
      routing.begin(exchange);
      return routing.order(left, exchange)[0]?.virtualKey;
    };
    for (let at = 0; at < cases(2000); at += 1) {
      const home = firstOf(`s-${at}`, all);
      for (const { virtualKey } of all) {
        const left = all.filter((each) => each.virtualKey !== virtualKey).toReversed();
        if (virtualKey !== home) expect(firstOf(`s-${at}`, left)).to.equal(home);
      }
    }
  });
});
