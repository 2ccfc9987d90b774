import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, defineStrategy, rewrite, type RouteTarget, type SettledCall } from 'gw/contract';
import { fakeClock } from '../kit/index.ts';
import { type Fleet, startFleet, to } from './fleet.ts';

/** A strategy whose ranking a test decides; it keeps what it saw. */
function asked(
  rank: (routes: readonly RouteTarget[]) => readonly RouteTarget[],
  settled?: (call: SettledCall) => void,
) {
  return defineStrategy({
    name: 'of-this-test',
    summary: 'For this test',
    advances: true,
    settings: Joi.object({}),
    create: () => ({ rank, ...(settled && { settled }) }),
  });
}

const served = async (fleet: Fleet, model: string, headers: Record<string, string> = {}): Promise<string> => {
  const { calls } = await fleet.ask(model, {}, headers);
  return calls.join(' ');
};

describe('a route of a group', () => {
  it('has the name of its target as its key, and where the target has several routes the model as written', async () => {
    const seen: RouteTarget[][] = [];
    const strategy = asked((routes) => (seen.push([...routes]), routes));
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          {
            name: 'oss/*',
            routes: [
              { target: 'a', model: 'x-*', weight: 2 },
              { target: 'b' },
              { target: 'a', model: 'y' },
              { target: 'a' },
            ],
            strategy: { mode: 'of-this-test' },
          },
        ],
      },
      { modules: [strategy] },
    );
    await fleet.ask('oss/1');
    expect(seen).to.deep.equal([
      [
        { virtualKey: 'a@x-*', weight: 2, serves: true, model: 'x-*' },
        { virtualKey: 'b', weight: 0, serves: true },
        { virtualKey: 'a@y', weight: 0, serves: true, model: 'y' },
        { virtualKey: 'a@oss/*', weight: 0, serves: true },
      ],
    ]);
  });

  it('is what conditions, contents and variants name', async () => {
    const routes = [
      { target: 'a', model: 'x' },
      { target: 'a', model: 'y' },
      { target: 'b', model: 'z' },
    ];
    const fleet = await startFleet(['a', 'b'], {
      models: [
        {
          name: 'conditional',
          routes,
          strategy: {
            mode: 'conditional',
            conditions: [
              { key: 'metadata', field: 'team', value: 'one', target_key: 'a@y' },
              { key: 'metadata', field: 'team', value: 'two', target_key: 'b' },
            ],
          },
        },
        {
          name: 'content',
          routes,
          strategy: {
            mode: 'content-based',
            content_conditions: [{ type: 'prompt_contains', value: 'hi', target_key: 'a@y' }],
          },
        },
        {
          name: 'variants',
          routes,
          strategy: { mode: 'ab-test', ab_variants: [{ target_key: 'a@y', weight: 1 }] },
        },
      ],
    });
    expect(await served(fleet, 'conditional')).to.equal('a/x');
    expect(await served(fleet, 'conditional', { 'X-Gateway-Metadata': '{"team":"one"}' })).to.equal('a/y');
    expect(await served(fleet, 'conditional', { 'X-Gateway-Metadata': '{"team":"two"}' })).to.equal('b/z');
    expect(await served(fleet, 'content')).to.equal('a/y');
    expect(await served(fleet, 'variants')).to.equal('a/y');
    const labels = fleet.host.lines.filter(({ msg }) => msg === 'request completed').map((line) => line['ab_label']);
    expect(labels.at(-1), 'a variant without a label goes by its route').to.equal('a@y');
  });

  it('is measured by its upstream model inside groups; outside them the target is measured by itself', async () => {
    const clock = fakeClock();
    const fleet = await startFleet(
      ['a', 'b'],
      {
        strategy: { mode: 'least-latency' },
        models: [{ name: 'fast', ...to('a/slow', 'a/quick', 'b/slow'), strategy: { mode: 'least-latency' } }],
      },
      { more: { a: { models: ['m'] }, b: { models: ['m'] } }, clock, random: () => 0.999 },
    );
    const { median } = fleet.host.host.current!.hooks;
    const takes = async (model: string, ms: number): Promise<string> => {
      fleet.pause = () => clock.advance(ms);
      return served(fleet, model);
    };
    expect(await takes('fast', 30)).to.equal('a/slow');
    expect(await takes('fast', 10)).to.equal('a/quick');
    expect(await takes('fast', 20)).to.equal('b/slow');
    expect(await takes('fast', 10)).to.equal('a/quick');
    expect([median.call('a', 'slow'), median.call('a', 'quick'), median.call('b', 'slow')]).to.deep.equal([30, 10, 20]);
    expect(median.call('a'), 'nothing was called outside groups').to.equal(undefined);
    await takes('m', 70);
    expect([median.call('a'), median.call('a', 'm')]).to.deep.equal([70, undefined]);
  });

  it('shares breaker and limiter of its target with the other routes of it', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      { models: [{ name: 'smart', ...to('a/x', 'a/y', 'b/z') }] },
      { more: { a: { circuit_breaker: { failure_threshold: 2 } } } },
    );
    fleet.does.set('a', 503);
    expect(await served(fleet, 'smart')).to.equal('a/x a/y b/z');
    expect(fleet.host.host.current!.hooks.circuit.call('a')).to.equal('open');
    expect(await served(fleet, 'smart'), 'both routes are passed over').to.equal('b/z');
  });

  it('rests with the other routes of its target after a 429', async () => {
    const fleet = await startFleet(['a', 'b'], { models: [{ name: 'smart', ...to('a/x', 'a/y', 'b/z') }] });
    fleet.does.set('a/x', 429);
    expect(await served(fleet, 'smart')).to.equal('a/x a/y');
    fleet.does.clear();
    expect(await served(fleet, 'smart'), 'an answer ends the rest').to.equal('a/x');
    fleet.does.set('a', 429);
    expect(await served(fleet, 'smart')).to.equal('a/x a/y b/z');
    expect(await served(fleet, 'smart')).to.equal('b/z');
  });

  it('is passed over where its provider has no such surface, and priced by its own model', async () => {
    const fleet = await startFleet(['a', 'b'], {
      models: [{ name: 'cheap', ...to('a/dear', 'a/low', 'b/middle'), strategy: { mode: 'cost-optimized' } }],
    });
    const prices: Record<string, number> = { dear: 30, low: 1, middle: 5 };
    const { host } = fleet.host;
    host.services.catalog = {
      ...host.services.catalog,
      tokenPrice: (_provider, model) => {
        const input = prices[model];
        return input === undefined
          ? undefined
          : {
              input,
              output: input,
              cacheRead: undefined,
              cacheWrite: undefined,
              embedding: undefined,
              image: undefined,
            };
      },
    };
    fleet.does.set('a', 503);
    expect(await served(fleet, 'cheap')).to.equal('a/low b/middle');
    const { status } = await fleet.host.post('/v1/embeddings', { model: 'cheap', input: 'hi' });
    expect(status).to.equal(404);
  });

  it('is what strategies of third parties return: copies stand for it, repeats and inventions are left out', async () => {
    const settled: SettledCall[] = [];
    const strategy = asked(
      (routes) => {
        const [first, second] = routes;
        return [
          { ...second!, weight: 99 },
          second!,
          { virtualKey: 'a', weight: 1, serves: true },
          { ...first! },
          { virtualKey: 'invented', weight: 1, serves: true },
        ];
      },
      (call) => settled.push(call),
    );
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          { name: 'smart', ...to('a/x', 'a/y', 'b/z'), strategy: { mode: 'of-this-test' } },
          { name: 'other', ...to('b/z'), strategy: { mode: 'fallback' } },
        ],
      },
      { modules: [strategy], more: { a: { models: ['m'] } } },
    );
    fleet.does.set('a', 503);
    expect(await served(fleet, 'smart')).to.equal('a/y a/x');
    expect(settled.map(({ virtualKey, outcome }) => `${virtualKey} ${outcome}`)).to.deep.equal([
      'a@y failure',
      'a@x failure',
    ]);
    const warned = fleet.host.lines.filter(({ msg }) => msg.startsWith('strategy ranked what is not a target'));
    expect(warned.map(({ count }) => count)).to.deep.equal([3]);
    await fleet.ask('other');
    await fleet.ask('m');
    expect(settled, 'calls of other groups and of targets are not its own').to.have.lengthOf(2);
  });

  it('keeps the settings that the strategy of its group declares', async () => {
    const ranks: unknown[] = [];
    const module = defineStrategy({
      name: 'of-this-test',
      summary: 'For this test',
      settings: Joi.object({}),
      targetSettings: Joi.object({ tier: Joi.number().default(7) }),
      create: () => (routes) => {
        ranks.push(routes.map(({ virtualKey, settings }) => [virtualKey, settings]));
        return routes;
      },
    });
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          {
            name: 'smart',
            routes: [
              { target: 'a', settings: { tier: 1 } },
              { target: 'b', model: 'z' },
            ],
            strategy: { mode: 'of-this-test' },
          },
        ],
      },
      { modules: [module] },
    );
    await fleet.ask('smart');
    expect(ranks).to.deep.equal([
      [
        ['a', { tier: 1 }],
        ['b', { tier: 7 }],
      ],
    ]);
  });

  it('is that of the model which a transform put there', async () => {
    const transform = definePlugin({
      name: 'renames',
      type: 'transform',
      summary: 'For this test',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({ before_request: ({ request }) => rewrite({ ...request, model: 'plain' }) }),
    });
    const fleet = await startFleet(
      ['a', 'b', 'c'],
      {
        models: [
          { name: 'smart', ...to('a/x'), fallbacks: ['m'] },
          { name: 'plain', ...to('b/y'), strategy: { mode: 'single' }, fallbacks: ['m'] },
        ],
        plugins: [{ name: 'renames', stage: 'before_request', enabled: true, config: {} }],
      },
      { modules: [transform], more: { c: { models: ['m'] } } },
    );
    expect(await served(fleet, 'smart')).to.equal('b/y');
    fleet.does.set('b', 503);
    expect(await served(fleet, 'smart'), 'and its fallbacks').to.equal('b/y c/m');
    expect((await fleet.ask('no-group-at-all')).calls).to.deep.equal(['b/y', 'c/m']);
  });
});
