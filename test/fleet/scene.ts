/** A gateway whose model `smart` is a group over a pool of three keys, Claude and Gemini, with sessions and a guard that masks. */
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, startHost, temporaryFolder, type TestHost } from '../kit/index.ts';
import type { Turn } from '../agents/script.ts';
import type { Client, Heard, Talk } from './clients.ts';
import { configurationOf, MODEL, SECRETS } from './configuration.ts';
import { BILLED, type Played, playVendors, VENDORS, type VendorName } from './vendors.ts';

export const ADDRESS = 'jane.doe@example.com';
export const ASKED = `how is it at the quay? write to ${ADDRESS}`;

const call = (tool: string, harbour: string): { tool: string; args: { harbour: string } } => ({
  tool,
  args: { harbour },
});

/** Two turns with calls side by side, then a text with an address in it. */
export const TURNS: readonly Turn[] = [
  { thought: 'let me see', say: 'I look.', calls: [call('tide', 'Brest'), call('wind', 'Brest')] },
  { thought: 'and there', say: 'I look again.', calls: [call('wind', 'Oslo'), call('tide', 'Oslo')] },
  { thought: 'done', say: `it is high, says ${ADDRESS}, as ever` },
];
const LAST = TURNS.length;

export interface Scene {
  readonly gateway: TestHost;
  readonly played: Played;
  readonly key: string;
}

const masks = ['before_request', 'after_request'].map((stage) => ({ name: 'pii-redact', stage, enabled: true }));
const logged = ['after_request', 'on_error'].map((stage) => ({
  name: 'request-logger',
  stage,
  enabled: true,
  config: { persist: true },
}));

export async function openScene(strategy: object = {}): Promise<Scene> {
  const played = await playVendors((number) => TURNS[number - 1] ?? { say: 'the script is over' });
  const gateway = await startHost(
    { ...configurationOf(played.url, strategy), plugins: [...masks, ...logged] },
    {
      isLenient: true,
      variables: {
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'requests.db'),
        ...SECRETS,
      },
    },
  );
  const made = await gateway.post('/admin/keys', {
    name: 'an agent',
    scopes: ['read_only'],
    rpm: 100_000,
    budget_usd: 1000,
  });
  expect(made.status, made.text).to.equal(201);
  return { gateway, played, key: (made.json() as { key: string }).key };
}

let sessions = 0;

/** A conversation of a client, in a session of its own. */
export function talk({ gateway, key }: Scene, client: Client, isStreamed: boolean, model = MODEL): Talk {
  sessions += 1;
  return client.open({ url: gateway.url, key, model, isStreamed, session: `s-${sessions}` });
}

/** What brings a conversation on: the user's question, or the results of the calls. */
export const nextOf = ({ calls }: Heard): readonly string[] =>
  calls.map(({ name, args }) => `${name} at ${(args as { harbour: string }).harbour}`);

/** Asserts that this is the turn of the script, masked. */
export function expectTurn({ text, calls }: Heard, number: number): void {
  const turn = TURNS[number];
  expect(text).to.equal(number === LAST - 1 ? turn?.say?.replace(ADDRESS, '[EMAIL_1]') : turn?.say);
  expect(calls.map(({ name, args }) => ({ tool: name, args }))).to.deep.equal(turn?.calls ?? []);
}

/** Has the whole conversation; each turn is answered by the vendor that is named for it, and the rest are down. */
export async function converse(
  scene: Scene,
  open: Talk,
  serving: readonly VendorName[] | undefined,
  before: (number: number) => void = () => {},
): Promise<void> {
  let heard: Heard | undefined;
  for (let number = 0; number < LAST; number += 1) {
    if (serving) scene.played.serving = new Set([serving[number] ?? 'pool']);
    before(number);
    heard = await open.ask(heard ? nextOf(heard) : ASKED);
    expectTurn(heard, number);
  }
  scene.played.serving = new Set(VENDORS);
}

export type Row = Readonly<Record<string, any>>;

/** Rows of the request log that ended well, once there are so many, oldest first. */
export async function rowsOf({ gateway }: Scene, count: number): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  await eventually(async () => {
    rows = ((await gateway.get('/admin/logs?limit=100')).json() as { data: Row[] }).data;
    return rows.length >= count;
  });
  return rows.toReversed();
}

/** Asserts that rows and what the vendors would bill are one. */
export async function expectInvoice(scene: Scene): Promise<void> {
  const { answered } = scene.played;
  const served = (await rowsOf(scene, answered.length)).filter(({ stage }) => stage === 'after_request');
  expect(served).to.have.length(answered.length);
  for (const vendor of VENDORS) {
    const own = served.filter(({ provider }) => provider === vendor);
    expect(own.length, vendor).to.equal(answered.filter((one) => one.vendor === vendor).length);
    for (const row of own) {
      expect([row['prompt_tokens'], row['completion_tokens']], vendor).to.deep.equal([
        BILLED.prompt,
        BILLED.completion,
      ]);
      expect(row['cost_usd'], vendor).to.be.above(0);
      expect(row['model_group']).to.match(/^(smart|only-.*)$/);
    }
  }
}
