import type { Case } from './documents.ts';
import { ask } from './observe.ts';
import { loadCode } from './code.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { openVendor, type Vendor } from './vendor.ts';

/** What requests of a gateway without instances, groups and affinity cost and leave behind. */
export interface Unused {
  /** Look-ups in maps and sets of one warm request, client and vendor included. */
  readonly lookups: Readonly<Record<'whole' | 'stream', number>>;
  /** Names and labels of `/metrics`. */
  readonly series: readonly string[];
  /** Names of attributes of spans. */
  readonly attributes: readonly string[];
}

const ASKED = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const WARM_UPS = 20;
const ROUNDS = 15;

const PLUGIN = { name: 'request-logger', enabled: true, config: { persist: true } };

function caseOf(vendorUrl: string): Case {
  const stages = ['before_request', 'after_request', 'on_error'];
  const document = {
    strategy: { mode: 'fallback' },
    targets: ['openai', 'mistral'].map((virtual_key) => ({ virtual_key, models: ['m'], model_map: { mapped: 'm' } })),
    aliases: { short: 'm' },
    plugins: stages.map((stage) => ({ ...PLUGIN, stage })),
    observability: { tracing: { enabled: true, endpoint: `${vendorUrl}/spans`, protocol: 'http' } },
  };
  return { seed: 1, document, registered: ['openai', 'mistral'], questions: [] };
}

export async function observeUnused(root: string): Promise<Unused> {
  const code = await loadCode(root);
  const vendor = await openVendor();
  const given = caseOf(vendor.url);
  const gateway = await openGateway(code, given, vendor.url);
  const refused = await gateway.apply(given.document);
  if (refused !== undefined) throw new Error(refused);
  const lookups = {
    whole: await lookupsOf(gateway, ASKED),
    stream: await lookupsOf(gateway, { ...ASKED, stream: true }),
  };
  const { body } = await ask(gateway, { path: '/metrics' });
  await gateway.close();
  const attributes = attributesOf(vendor);
  vendor.close();
  return { lookups, series: seriesOf(String(body)), attributes };
}

/** The least of several rounds: what other work looks up meanwhile comes on top of it. */
async function lookupsOf(gateway: Gateway, body: object): Promise<number> {
  const request = { path: '/v1/chat/completions', body, headers: { 'x-gateway-metadata': '{"team":"x"}' } };
  for (let times = 0; times < WARM_UPS; times += 1) await ask(gateway, request);
  const counts: number[] = [];
  for (let times = 0; times < ROUNDS; times += 1) counts.push(await counted(() => ask(gateway, request)));
  return Math.min(...counts);
}

const LOOKED_UP = [
  [Map.prototype, 'get'],
  [Map.prototype, 'has'],
  [WeakMap.prototype, 'get'],
  [WeakMap.prototype, 'has'],
  [Set.prototype, 'has'],
  [Object, 'hasOwn'],
] as const;

/** How often anything is looked up while work is done. */
async function counted(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const undo = LOOKED_UP.map(([owner, name]) => {
    const holder = owner as unknown as Record<string, (...args: unknown[]) => unknown>;
    const former = holder[name]!;
    holder[name] = function counting(this: unknown, ...args: unknown[]): unknown {
      count += 1;
      return former.apply(this, args);
    };
    return () => {
      holder[name] = former;
    };
  });
  try {
    await work();
  } finally {
    for (const each of undo) each();
  }
  return count;
}

/** Without values, and of labels their names alone. */
function seriesOf(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const own = lines.filter((line) => !line.startsWith('nodejs_')); // those come and go with collections of garbage
  const names = own.map((line) => line.replace(/ [^ ]*$/, '').replaceAll(/="(?:[^"\\]|\\.)*"/g, ''));
  return [...new Set(names)].toSorted();
}

const ATTRIBUTE = /\b(?:gw|gen_ai|http|url|server|client|error|network|user_agent|exception)\.[a-z_.]+/g;

function attributesOf(vendor: Vendor): readonly string[] {
  const exports = vendor.called().filter(({ path }) => path.startsWith('/spans'));
  return [...new Set(exports.flatMap(({ body }) => body.match(ATTRIBUTE) ?? []))].toSorted();
}
