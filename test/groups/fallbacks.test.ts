import { expect } from 'chai';
import { BREAKS, type Fleet, HANGS, startFleet, to, TOO_LONG } from './fleet.ts';

/** `smart` goes to `a` and `b`, then to the groups `plain` (c) and `deep` (d), which falls back to `plain` and `last` (e). */
const chained = (strategy: object = {}): Promise<Fleet> =>
  startFleet(['a', 'b', 'c', 'd', 'e'], {
    models: [
      { name: 'smart', ...to('a/x', 'b/x'), strategy, fallbacks: ['deep', 'plain'] },
      { name: 'plain', ...to('c/y') },
      { name: 'deep', ...to('d/z'), fallbacks: ['smart', 'last', 'plain'] },
      { name: 'last', ...to('e/w'), fallbacks: ['deep'] },
    ],
  });

const failing = (fleet: Fleet, ...calls: string[]): void => {
  for (const call of calls) fleet.does.set(call, 503);
};

describe('fallbacks of a group', () => {
  it('are not asked while a route answers', async () => {
    const fleet = await chained();
    failing(fleet, 'a');
    const { status, target, model, attempts, calls } = await fleet.ask('smart');
    expect({ status, target, model, attempts, calls }).to.deep.equal({
      status: 200,
      target: 'b',
      model: 'x',
      attempts: '2',
      calls: ['a/x', 'b/x'],
    });
  });

  for (const stream of [false, true])
    it(`follow the last route depth first, each name once, cycles included (${stream ? 'streamed' : 'whole'})`, async () => {
      const fleet = await chained();
      failing(fleet, 'a', 'b', 'd', 'e');
      const served = await fleet.ask('smart', { stream });
      expect(served.status).to.equal(200);
      expect(served.calls).to.deep.equal(['a/x', 'b/x', 'd/z', 'e/w', 'c/y']);
      expect([served.target, served.model, served.attempts]).to.deep.equal(['c', 'y', '5']);
      failing(fleet, 'c');
      const failed = await fleet.ask('smart', { stream });
      expect([failed.status, failed.calls.length]).to.deep.equal([502, 5]);
    });

  it('keep the name that the client asked for in the answer', async () => {
    const fleet = await chained();
    failing(fleet, 'a', 'b');
    const { answer, target } = await fleet.ask('smart');
    expect([answer.json().model, target]).to.deep.equal(['smart', 'd']);
  });

  for (const mode of ['single', 'fallback', 'loadbalance'])
    it(`follow under ${mode}, which ${mode === 'single' ? 'does not go' : 'goes'} on to the next route by itself`, async () => {
      const fleet = await startFleet(['a', 'b', 'c'], {
        models: [
          {
            name: 'smart',
            routes: [
              { target: 'a', model: 'x', weight: 1 },
              { target: 'b', model: 'x', weight: 1 },
            ],
            strategy: { mode },
            fallbacks: ['plain'],
          },
          { name: 'plain', ...to('c/y') },
        ],
      });
      failing(fleet, 'a', 'b');
      const { status, calls } = await fleet.ask('smart');
      expect(status).to.equal(200);
      expect(calls.toSorted()).to.deep.equal(mode === 'single' ? ['a/x', 'c/y'] : ['a/x', 'b/x', 'c/y']);
    });

  it('follow under a strategy that does not advance only failures that would', async () => {
    const fleet = await chained({ mode: 'single' });
    fleet.does.set('a', 400);
    expect(await fleet.ask('smart')).to.include({ status: 400, attempts: '1' });
    fleet.does.set('a', 429);
    expect(await fleet.ask('smart')).to.include({ status: 200, target: 'd' });
  });

  for (const status of [400, 401, 403, 404, 413, 422])
    it(`do not follow ${status}`, async () => {
      const fleet = await chained();
      fleet.does.set('a', status);
      const { calls } = await fleet.ask('smart');
      expect(calls).to.deep.equal(['a/x']);
      failing(fleet, 'b');
      fleet.does.delete('a');
      failing(fleet, 'a');
      fleet.does.set('d', status);
      expect((await fleet.ask('smart')).calls, 'nor of a fallback').to.deep.equal(['a/x', 'b/x', 'd/z']);
    });

  it('follow what the failover_on of the group names, each group by its own', async () => {
    const fleet = await chained({ mode: 'fallback', failover_on: ['context_length'] });
    for (const name of ['a', 'b', 'd']) fleet.does.set(name, TOO_LONG);
    const { status, code, calls } = await fleet.ask('smart');
    expect(calls, 'the group of d lists no reasons').to.deep.equal(['a/x', 'b/x', 'd/z']);
    expect([status, code]).to.deep.equal([400, 'invalid_request']);
    expect((await fleet.ask('deep')).calls).to.deep.equal(['d/z']);
  });

  it('are tried at once where no route serves, and passed over where nothing serves them', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          { name: 'smart', ...to('a/x'), fallbacks: ['nothing-of-the-kind', 'gone', 'plain'] },
          { name: 'gone', ...to('a/z') },
          { name: 'plain', ...to('b/y') },
        ],
      },
      { more: { a: { models: [] } } },
    );
    const embedding = await fleet.host.post('/v1/embeddings', { model: 'smart', input: 'hi' });
    expect(embedding.status).to.equal(404);
    const { host } = fleet;
    expect((await fleet.ask('smart')).calls).to.deep.equal(['a/x']);
    failing(fleet, 'a');
    expect((await fleet.ask('smart')).calls, 'gone has the same target, another model').to.deep.equal([
      'a/x',
      'a/z',
      'b/y',
    ]);
    expect(host.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('may be aliases, names of a star group, and models outside groups, which go by the rules there', async () => {
    const fleet = await startFleet(
      ['a', 'b', 'c'],
      {
        aliases: { quick: 'oss/fast', spare: 'm' },
        models: [
          { name: 'smart', ...to('a/x'), fallbacks: ['quick', 'oss/llama', 'spare', 'm'] },
          { name: 'oss/*', ...to('b/up/*', 'b/fixed'), strategy: { mode: 'fallback' } },
        ],
      },
      { more: { c: { models: ['m'], model_map: { m: 'mapped' } } } },
    );
    failing(fleet, 'a', 'b', 'c');
    const { status, calls } = await fleet.ask('smart');
    expect(status).to.equal(502);
    expect(calls, 'no route twice: b/fixed of the first name is not asked again').to.deep.equal([
      'a/x',
      'b/up/fast',
      'b/fixed',
      'b/up/llama',
      'c/mapped',
    ]);
  });

  it('pass over a target that was asked for the upstream model, whatever it is called by', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          { name: 'smart', ...to('a/x'), fallbacks: ['other', 'x'] },
          { name: 'other', ...to('a/x', 'a/y', 'b/x') },
        ],
      },
      { more: { a: { models: ['x'] }, b: { models: ['x'] } } },
    );
    failing(fleet, 'a', 'b');
    expect((await fleet.ask('smart')).calls).to.deep.equal(['a/x', 'a/y', 'b/x']);
  });

  it('end with the time of the request', async () => {
    const fleet = await startFleet(['a', 'b'], {
      request_timeout: '50ms',
      models: [
        { name: 'smart', ...to('a/x'), fallbacks: ['plain'] },
        { name: 'plain', ...to('b/y') },
      ],
    });
    fleet.does.set('a', HANGS);
    expect(await fleet.ask('smart')).to.deep.include({ status: 504, code: 'gateway_timeout', calls: ['a/x'] });
  });

  it('follow a target whose own time is over', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          { name: 'smart', ...to('a/x'), fallbacks: ['plain'] },
          { name: 'plain', ...to('b/y') },
        ],
      },
      { more: { a: { request_timeout: '50ms' } } },
    );
    fleet.does.set('a', HANGS);
    expect(await fleet.ask('smart')).to.deep.include({ status: 200, calls: ['a/x', 'b/y'] });
  });

  it('do not follow a stream that has begun', async () => {
    const fleet = await chained();
    fleet.does.set('a', BREAKS);
    const { status, calls, answer } = await fleet.ask('smart', { stream: true });
    expect([status, calls]).to.deep.equal([200, ['a/x']]);
    expect(answer.events().at(-1), answer.text).to.have.nested.property('error.code');
  });

  it('use the tries of a target once for each of its models', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [
          { name: 'smart', ...to('a/x'), fallbacks: ['plain'] },
          { name: 'plain', ...to('a/y', 'b/y') },
        ],
      },
      { more: { a: { retry: { attempts: 2, initial_backoff_ms: 1 } } } },
    );
    failing(fleet, 'a');
    expect(await fleet.ask('smart')).to.deep.include({ attempts: '5', calls: ['a/x', 'a/x', 'a/y', 'a/y', 'b/y'] });
  });
});
