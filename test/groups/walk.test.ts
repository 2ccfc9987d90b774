import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import { decodeText } from '../../host/config/decode.ts';
import { checkConfig } from '../../host/generation/check.ts';
import {
  ask,
  cases,
  chatReply,
  Dice,
  fakeClock,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { PATH } from './fleet.ts';
import {
  type Ability,
  type Failure,
  foretell,
  type ReferenceDocument,
  type ReferenceGroup,
  type ReferenceStrategy,
} from './reference.ts';

const DOCUMENTS = cases(2000);
const QUESTIONS = 6;

const ABILITIES: Readonly<Record<string, Ability>> = {
  t0: { surfaces: ['chat', 'embeddings'], isRegistered: true, takesAnyModel: false },
  t1: { surfaces: ['chat'], isRegistered: true, takesAnyModel: false },
  t2: { surfaces: ['chat', 'embeddings'], isRegistered: true, takesAnyModel: false },
  t3: { surfaces: ['chat'], isRegistered: true, takesAnyModel: true },
  t4: { surfaces: ['chat', 'embeddings'], isRegistered: false, takesAnyModel: true },
  t5: { surfaces: ['embeddings'], isRegistered: true, takesAnyModel: false },
};
const MODELS = ['m0', 'm1', 'm2', 'p/a', 'p/b'];
const EXACT = ['g0', 'g1', 'm1', 'p/a', 'p/q/x'];
const STARS = ['p/*', 'p/q/*', 'g*', '*'];
const ALIASES = ['a0', 'a1', 'p/z'];
const NAMES = [...MODELS, ...EXACT, ...ALIASES, 'p/q/y', 'p/', 'gx', 'unknown'];
const FAILURES: readonly Failure[] = [
  ...[400, 401, 403, 404, 408, 422, 429, 500, 503, 529].map((status) => ({ status })),
  { status: 400, reason: 'context_length' },
  { status: 413, reason: 'too_large' },
  { status: 429 },
  { status: 500 },
  { status: 503 },
];
const TOO_LONG = { error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } };

const few = <T>(dice: Dice, list: readonly T[], most: number): T[] => [
  ...new Set(Array.from({ length: dice.below(most + 1) }, () => dice.pick(list))),
];

function strategyOf(dice: Dice, keys: readonly string[]): ReferenceStrategy {
  const mode = dice.pick(['single', 'fallback', 'fallback', 'loadbalance', 'conditional']);
  return {
    mode,
    ...(dice.below(3) === 0 && { failover_on: few(dice, ['context_length', 'too_large', 'model_access'], 2) }),
    ...(dice.below(4) === 0 && { failover_on_status_codes: few(dice, [400, 401, 403, 404, 422], 2) }),
    ...(mode === 'conditional' && {
      conditions: Array.from({ length: 1 + dice.below(2) }, () => ({
        key: 'model',
        value: dice.pick(NAMES),
        target_key: dice.pick(keys),
      })),
    }),
  };
}

function groupOf(dice: Dice, name: string, targets: readonly string[]): ReferenceGroup {
  const routes = Array.from({ length: 1 + dice.below(4) }, () => {
    const model = dice.pick([undefined, 'u0', 'u1', 'm0', ...(name.endsWith('*') ? ['*', 'v/*'] : [])]);
    return {
      target: dice.pick(targets),
      ...(model !== undefined && { model }),
      ...(dice.below(3) > 0 && { weight: dice.below(3) }),
    };
  });
  const keys = routes.map(({ target, model }) =>
    routes.filter((route) => route.target === target).length === 1 ? target : `${target}@${model ?? name}`,
  );
  return {
    name,
    routes,
    ...(dice.below(4) > 0 && { strategy: strategyOf(dice, keys) }),
    ...(dice.below(3) > 0 && { fallbacks: few(dice, NAMES, 4) }),
  };
}

function documentOf(dice: Dice): ReferenceDocument {
  const names = Object.keys(ABILITIES)
    .map((name) => ({ name, at: dice.below(1000) }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, 2 + dice.below(5))
    .map(({ name }) => name);
  const groups = [...few(dice, EXACT, 4), ...few(dice, STARS, 2)];
  return {
    targets: names.map((virtual_key) => ({
      virtual_key,
      weight: dice.below(3),
      models: few(dice, MODELS, 3),
      model_map: dice.below(3) === 0 ? { [dice.pick(NAMES)]: dice.pick(['u0', 'u2']) } : {},
    })),
    strategy: strategyOf(dice, names),
    aliases: Object.fromEntries(
      few(dice, ALIASES, 2).map((alias) => [alias, dice.pick([...MODELS, ...EXACT, 'p/q/y'])]),
    ),
    models: groups.map((name) => groupOf(dice, name, names)),
  };
}

interface Wire {
  readonly host: TestHost;
  readonly calls: string[];
  failures: ReadonlyMap<string, Failure>;
}

/** One gateway for all documents; its upstreams fail as they are bidden. */
async function wire(clock: ReturnType<typeof fakeClock>): Promise<Wire> {
  const state: { calls: string[]; failures: ReadonlyMap<string, Failure> } = { calls: [], failures: new Map() };
  const upstream = await stubUpstream((request, response) => {
    const call = `${request.url.split('/')[1]}/${String(request.json()['model'])}`;
    state.calls.push(call);
    const failure = state.failures.get(call);
    if (failure)
      replyJson(
        response,
        failure.status,
        failure.reason !== 'context_length' ? { error: { message: 'no' } } : TOO_LONG,
      );
    else if (request.url.endsWith('/embeddings'))
      replyJson(response, 200, { data: [{ embedding: [1], index: 0 }], usage: { prompt_tokens: 1, total_tokens: 1 } });
    else if (request.json()['stream'] === true) replyStream(response, ['hello']);
    else replyJson(response, 200, chatReply('hello'));
  });
  const targets = Object.entries(ABILITIES).map(([name, { surfaces, isRegistered, takesAnyModel }]) =>
    upstream.target(
      name,
      {},
      {
        anyModel: takesAnyModel,
        translators: commonTranslators(surfaces as ['chat'], {}),
        connection: { baseUrl: `${upstream.url}/${name}`, env: isRegistered ? ['STUB_API_KEY'] : ['NOT_SET_API_KEY'] },
      },
    ),
  );
  const host = await startHost({ strategy: { mode: 'fallback' }, targets }, { clock, random: () => 0 });
  return Object.assign(state, { host });
}

describe('a request in groups of models', function () {
  this.timeout(300_000);

  it(`is tried where, and in the order, that the rules say (${DOCUMENTS} documents)`, async () => {
    const clock = fakeClock();
    const gateway = await wire(clock);
    const { host } = gateway.host;
    const keys = new Map<string, string>();
    for (const providers of [
      ['t0', 't1'],
      ['t2', 't3', 't5'],
    ])
      keys.set(
        String(providers),
        (await host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { providers } })).key,
      );
    const seen = { valid: 0, served: 0, failed: 0, 'not found': 0, behind: 0 };
    for (let seed = 1; seed <= DOCUMENTS; seed += 1) {
      const dice = new Dice(seed);
      const document = documentOf(dice);
      const decoded = decodeText(JSON.stringify(document), 'json');
      if (checkConfig(host, decoded).length > 0) continue;
      seen.valid += 1;
      await gateway.host.apply(document);
      for (let question = 0; question < QUESTIONS; question += 1) {
        clock.advance(600_000); // no target rests any more
        const asked = dice.pick(NAMES.concat(document.models.map(({ name }) => name.replace('*', 'tail'))));
        const surface = dice.below(5) === 0 ? 'embeddings' : 'chat';
        const stream = surface === 'chat' && dice.below(4) === 0;
        const allowed = dice.below(4) === 0 ? dice.pick([...keys.keys()]) : undefined;
        const failures = new Map(
          document.targets.flatMap(({ virtual_key }) =>
            ['u0', 'u1', 'u2', 'tail', 'v/tail', 'v/a', 'a', 'b', ...NAMES]
              .filter(() => dice.below(4) > 0)
              .map((model) => [`${virtual_key}/${model}`, dice.pick(FAILURES)] as const),
          ),
        );
        gateway.calls.length = 0;
        gateway.failures = failures;
        const want = foretell({
          document,
          abilities: ABILITIES,
          surface,
          asked,
          allowed: allowed?.split(','),
          failures,
        });
        const answer = await gateway.host.post(
          surface === 'chat' ? PATH : '/v1/embeddings',
          surface === 'chat' ? ask('hi', { model: asked, stream }) : { model: asked, input: 'hi' },
          allowed === undefined ? {} : { authorization: `Bearer ${keys.get(allowed)}` },
        );
        const isNotFound = answer.status === 404 && answer.headers.get('x-gateway-attempts') === null;
        const got = {
          calls: [...gateway.calls],
          end: answer.status === 200 ? 'served' : isNotFound ? 'not found' : 'failed',
        };
        const report = JSON.stringify({ seed, asked, surface, stream, allowed, document, failures: [...failures] });
        expect(got, report).to.deep.equal(want);
        seen[want.end] += 1;
        if (want.calls.length > 1) seen.behind += 1;
      }
    }
    for (const [what, count] of Object.entries(seen)) expect(count, what).to.be.above(DOCUMENTS / 20);
  });
});
