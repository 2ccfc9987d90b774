import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, defineStrategy, type Exchange, type Principal, type RouteQuery, STAGES } from 'gw/contract';
import { defineBuiltin } from '../../host/builtin.ts';
import type { PrincipalFacts } from '../../host/common/host-principal.ts';
import { digestOf, PrincipalTable } from '../../host/stores/principals.ts';
import { ask, chatChunks, chatReply, replyJson, replyStream, sseEvent, startHost, stubUpstream } from '../kit/index.ts';

/** What the type lists; it does not compile when a member is missing or is one too many. */
const LISTED = Object.keys({ id: true, name: true, scopes: true } satisfies Record<keyof Principal, true>);

const BEARER = 'gw_with-everything';
const ADA: PrincipalFacts = {
  id: 'k1',
  name: 'ada',
  scopes: ['read_only'],
  sessionId: 's1',
  limits: { tags: ['research'], rpm: 100, models: ['m'] },
};

/** What stood at each entry point, by its name; each must have the same object. */
type Seen = Map<string, Principal | undefined>;

function plugin(seen: Seen) {
  const see = (at: string, exchange: Exchange): undefined => {
    seen.set(at, exchange.principal);
  };
  return definePlugin<object>({
    name: 'looks',
    type: 'logging',
    summary: 's',
    stages: STAGES,
    settings: Joi.object<object, true>({}),
    create: () => ({
      before_request: (exchange) => see('before_request', exchange),
      after_request: (exchange) => see('after_request', exchange),
      on_error: (exchange) => see('on_error', exchange),
      stream: (exchange) => see('stream', exchange),
      finished: (exchange) => see('finished', exchange),
    }),
  });
}

function strategy(seen: Seen) {
  return defineStrategy<object>({
    name: 'looks-too',
    summary: 's',
    settings: Joi.object<object, true>({}),
    create: () => (targets, query) => {
      if (!query.isListing) seen.set('rank', query.principal);
      return targets;
    },
  });
}

/** Asks with a credential that has all there is, and says what each entry point got. */
async function seenBy(body: object, status = 200): Promise<Seen> {
  const seen: Seen = new Map();
  const upstream = await stubUpstream((request, response) => {
    if (status !== 200) replyJson(response, status, {});
    else if ((request.json() as { stream?: boolean }).stream)
      replyStream(response, [...chatChunks(['hi']), '[DONE]'].map(sseEvent));
    else replyJson(response, 200, chatReply('hi'));
  });
  const supplied = defineBuiltin({
    name: 'supplied',
    apply: ({ hooks }) =>
      hooks.open.tapPromise('supplied', async ({ stores }) => {
        const table = new PrincipalTable();
        table.set(digestOf(BEARER), ADA);
        stores.principals.supply(table);
      }),
  });
  const gateway = await startHost(
    {
      strategy: { mode: 'looks-too' },
      targets: [upstream.target('a')],
      plugins: STAGES.map((stage) => ({ name: 'looks', type: 'logging', stage, enabled: true })),
    },
    { modules: [plugin(seen), strategy(seen)], builtins: [supplied] },
  );
  const answer = await gateway.post(
    '/v1/chat/completions',
    { ...ask('hi'), ...body },
    { authorization: `Bearer ${BEARER}` },
  );
  expect(answer.status, answer.text).to.equal(status === 200 ? 200 : 502);
  await gateway.close();
  return seen;
}

describe('the principal that modules get', () => {
  const requests = [
    ['a whole answer', {}, 200, ['after_request', 'before_request', 'finished', 'rank']],
    ['a stream', { stream: true }, 200, ['after_request', 'before_request', 'finished', 'rank', 'stream']],
    ['a failure', {}, 500, ['before_request', 'finished', 'on_error', 'rank']],
  ] as const;
  for (const [what, body, status, points] of requests)
    it(`is one frozen object with what its type lists, at every entry point of ${what}`, async () => {
      const seen = await seenBy(body, status);
      expect([...seen.keys()].toSorted()).to.deep.equal(points);
      for (const [at, principal] of seen) {
        expect(Reflect.ownKeys(principal ?? {}), at).to.deep.equal(LISTED);
        expect(principal, at).to.deep.equal({ id: 'k1', name: 'ada', scopes: ['read_only'] });
        expect(Object.isFrozen(principal) && Object.isFrozen(principal?.scopes), at).to.equal(true);
        expect(principal, at).to.equal(seen.get('before_request'));
        expect(Object.getPrototypeOf(principal), at).to.equal(Object.prototype);
      }
    });

  it('has neither limits nor a session that would compile in a plugin or a strategy', () => {
    const read = ({ principal }: Exchange, query: RouteQuery): readonly unknown[] => [
      // @ts-expect-error the limits of a key are the host's
      principal?.limits,
      // @ts-expect-error the session is the host's
      principal?.sessionId,
      // @ts-expect-error strategies see what plugins see
      query.principal?.limits,
      // @ts-expect-error strategies see what plugins see
      query.principal?.sessionId,
      principal?.id,
      query.principal?.scopes,
    ];
    expect(read).to.be.a('function');
  });
});
