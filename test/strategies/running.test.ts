import { expect } from 'chai';
import Joi from 'joi';
import { defineStrategy, type RouteQuery, type RouteTarget, type SettledCall, type StrategyDeps } from 'gw/contract';
import { ask, chatReply, replyJson, startHost, stubUpstream } from '../kit/index.ts';

interface Seen {
  readonly queries: RouteQuery[];
  readonly targets: (readonly RouteTarget[])[];
  readonly calls: SettledCall[];
  disposed: number;
}

/** A strategy that keeps what it gets. */
function watching(
  seen: Seen,
  settled: (call: SettledCall) => void = (call) => {
    seen.calls.push(call);
  },
): ReturnType<typeof defineStrategy> {
  return defineStrategy({
    name: 'watching',
    summary: 's',
    advances: true,
    settings: Joi.object({}),
    targetSettings: Joi.object({ tier: Joi.number().default(1) }),
    create: (_settings: object, deps: StrategyDeps) => {
      const kept = deps.carryover.lease('watching', () => ({ made: 0 }));
      kept.made += 1;
      return {
        rank: (targets, query) => {
          if (query.isListing) return targets;
          seen.queries.push(query);
          seen.targets.push(targets);
          return targets;
        },
        settled,
        dispose: () => {
          seen.disposed += 1;
        },
      };
    },
  });
}

const nothing = (): Seen => ({ queries: [], targets: [], calls: [], disposed: 0 });

describe('a strategy that returns more than a ranking', () => {
  it('sees user, principal, metadata and streaming, the settings of targets, and how each call ended; and is disposed of with its configuration', async () => {
    const seen = nothing();
    const broken = await stubUpstream((_request, response) => replyJson(response, 500, {}));
    const sound = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    const config = {
      strategy: { mode: 'watching' },
      targets: [broken.target('a', { settings: { tier: 3 } }), sound.target('b')],
    };
    const host = await startHost(config, { modules: [watching(seen)] });
    const answer = await host.post('/v1/chat/completions', ask('hi', { user: 'ada' }), {
      'x-gateway-metadata': '{"team":"research"}',
    });
    expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([200, 'b']);
    expect(seen.queries[0]).to.deep.include({ user: 'ada', streaming: false, metadata: { team: 'research' } });
    expect(seen.queries[0]?.principal?.scopes).to.include('admin');
    expect(seen.targets[0]?.map(({ settings }) => settings)).to.deep.equal([{ tier: 3 }, { tier: 1 }]);
    expect(
      seen.calls.map(({ virtualKey, outcome, exchangeId }) => [
        virtualKey,
        outcome,
        exchangeId === answer.headers.get('x-request-id'),
      ]),
    ).to.deep.equal([
      ['a', 'failure', true],
      ['b', 'success', true],
    ]);
    expect(seen.calls[1]?.durationMs).to.be.a('number');
    expect(seen.disposed).to.equal(0);
    await host.apply(config);
    await host.close();
    expect(seen.disposed).to.equal(2);
  });

  it('learns of surfaces beside chat too', async () => {
    const seen = nothing();
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }),
    );
    const { commonTranslators } = await import('gw/common-wire');
    const host = await startHost(
      {
        strategy: { mode: 'watching' },
        targets: [upstream.target('a', {}, { translators: commonTranslators(['chat', 'embeddings'], {}) })],
      },
      { modules: [watching(seen)] },
    );
    const answer = await host.post('/v1/embeddings', { model: 'm', input: 'hi', user: 'grace' });
    expect(answer.status, answer.text).to.equal(200);
    expect(seen.queries[0]).to.deep.include({ surface: 'embeddings', user: 'grace', metadata: {}, streaming: false });
  });

  it('changes nothing when it fails to take an outcome, which is logged', async () => {
    const seen = nothing();
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    const host = await startHost(
      { strategy: { mode: 'watching' }, targets: [upstream.target('a')] },
      {
        modules: [
          watching(seen, () => {
            throw new Error('lost count');
          }),
        ],
      },
    );
    expect((await host.post('/v1/chat/completions', ask())).status).to.equal(200);
    expect(host.lines.filter(({ msg }) => msg === 'strategy failed to take an outcome')).to.have.lengthOf(1);
  });
});
