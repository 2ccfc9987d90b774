import { expect } from 'chai';
import { SURFACES } from '../../host/contract/index.ts';
import { cases, Dice, MASTER_KEY } from '../kit/index.ts';
import { type Question, question, shapesOf, SURFACES_ASKED } from './questions.ts';
import { CLAUDE, GEMINI_MODEL, OPENAI_MODEL, RERANKER, type Vendors, withVendors } from './vendors.ts';

const ROUTES = [
  { target: 'anthropic', model: CLAUDE },
  { target: 'openai', model: OPENAI_MODEL },
  { target: 'openai', model: 'gpt-4o-mini' },
  { target: 'gemini', model: GEMINI_MODEL },
  { target: 'together', model: RERANKER },
] as const;
const KEYS = ['anthropic', `openai@${OPENAI_MODEL}`, 'openai@gpt-4o-mini', 'gemini', 'together'] as const;

/** Every shipped strategy. */
const STRATEGIES: readonly object[] = [
  { mode: 'fallback' },
  { mode: 'single' },
  { mode: 'loadbalance' },
  { mode: 'least-latency' },
  { mode: 'cost-optimized' },
  { mode: 'conditional', conditions: [{ key: 'model_prefix', value: 'group', target_key: KEYS[1] }] },
  { mode: 'content-based', content_conditions: [{ type: 'prompt_contains', value: 'tide', target_key: KEYS[3] }] },
  {
    mode: 'ab-test',
    ab_variants: [
      { target_key: KEYS[0], weight: 1, label: 'one' },
      { target_key: KEYS[3], weight: 1, label: 'two' },
    ],
  },
];
/** Strategies that draw, or go by what was measured: the next request may go elsewhere. */
const CHANGING: ReadonlySet<unknown> = new Set(['loadbalance', 'ab-test', 'least-latency']);

const plugin = (name: string, stage: string, config: object): object => ({ name, stage, enabled: true, config });
const PLUGINS: readonly (readonly object[])[] = [
  [],
  [
    plugin('word-filter', 'before_request', { blocked_words: ['never-said'] }),
    plugin('word-filter', 'after_request', { blocked_words: ['never-said'] }),
  ],
  [plugin('response-cache', 'before_request', {}), plugin('response-cache', 'after_request', {})],
];

/** How clients name it. */
const NAMES = { 'group-exact': 'group-exact', nick: 'group-exact', 'group/any-name': 'group/any-name' } as const;

interface World {
  readonly vendors: Vendors;
  readonly strategy: { readonly mode?: string };
  readonly allowed: readonly string[] | undefined;
  readonly authorization: string;
}

async function worldOf(dice: Dice): Promise<World> {
  const strategy = dice.pick(STRATEGIES);
  const routes = ROUTES.map((route) => ({ ...route, weight: 1 }));
  const vendors = await withVendors({
    models: [
      { name: 'group-exact', routes, strategy },
      { name: 'group/*', routes, strategy },
    ],
    aliases: { nick: 'group-exact' },
    plugins: dice.pick(PLUGINS),
    responses: { translate: dice.pick(['auto', 'off']) },
  });
  const allowed = dice.pick([undefined, ['openai'], ['anthropic', 'gemini'], ['together', 'openai']]);
  const limits = {
    ...(allowed && { providers: allowed }),
    ...(dice.below(2) === 0 && { models: ['group-exact', 'group/any-name'] }),
  };
  if (Object.keys(limits).length === 0) return { vendors, strategy, allowed, authorization: `Bearer ${MASTER_KEY}` };
  const made = await vendors.host.post('/admin/keys', { name: 'k', scopes: [], ...limits });
  expect(made.status, made.text).to.equal(201);
  return { vendors, strategy, allowed, authorization: `Bearer ${made.json().key}` };
}

const MODELS: ReadonlySet<unknown> = new Set(ROUTES.map(({ model }) => model));

/** The model that a vendor was asked for, where the body or the path has it. */
function modelSent({ url, text }: { readonly url: string; readonly text: string }): string | undefined {
  const inPath = /\/models\/([^:]+):/.exec(url)?.[1];
  const inBody = /"model":\s*"([^"]+)"/.exec(text)?.[1];
  const inForm = /name="model"\r\n\r\n([^\r]+)/.exec(text)?.[1];
  return inPath ?? inBody ?? inForm;
}

const send = ({ vendors, authorization }: World, { method, path, headers, body }: Question): Promise<Response> =>
  fetch(vendors.host.url + path, {
    method,
    headers: { ...headers, authorization },
    ...(body !== undefined && { body: body as string }),
  });

describe('groups of many kinds under every strategy, with plugins, keys and aliases', () => {
  for (let seed = 0; seed < cases(200); seed += 1)
    it(`answer from their routes alone, and as explained: seed ${seed}`, async () => {
      const dice = new Dice(seed);
      const world = await worldOf(dice);
      for (const surface of SURFACES_ASKED) {
        if (surface === 'passthrough') continue;
        const isStream = dice.pick(shapesOf(surface));
        const name = dice.pick(Object.keys(NAMES) as (keyof typeof NAMES)[]);
        const asked = question(surface, name, isStream);
        const said = `${asked.title} of ${name} under ${JSON.stringify(world.strategy)} for ${String(world.allowed)}`;
        world.vendors.takeSeen();
        const answer = await send(world, asked);
        const text = await answer.text();
        expect(answer.status === 400 ? text : 'request_rejected', said).to.contain('request_rejected'); // what a guardrail cannot read
        expect([200, 400, 404, 501], `${said}: ${text}`).to.include(answer.status);
        const seen = world.vendors.takeSeen();
        for (const request of seen) expect(MODELS.has(modelSent(request)), `${said}: ${request.text}`).to.equal(true);
        if (answer.status !== 200) {
          expect(seen, said).to.deep.equal([]);
          continue;
        }
        if (answer.headers.get('x-gateway-cache') === 'hit') continue;
        const target = answer.headers.get('x-gateway-target') ?? answer.headers.get('x-gateway-provider') ?? '';
        if (world.allowed) expect(world.allowed, said).to.include(target);
        if (
          !SURFACES[surface].translator ||
          CHANGING.has(world.strategy.mode) ||
          world.allowed ||
          surface === 'responses.translated'
        )
          continue;
        const body = JSON.parse(
          typeof asked.body === 'string' && asked.body.startsWith('{') ? asked.body : '{}',
        ) as object;
        const request = {
          messages: [{ role: 'user', content: 'how is the tide?' }],
          prompt: 'how is the tide?',
          ...body,
          model: name,
        };
        const explained = await world.vendors.host.post('/admin/explain', { surface, request });
        expect(explained.json().order[0]?.target, `${said}: ${explained.text}`).to.equal(target);
      }
    });
});
