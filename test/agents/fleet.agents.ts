import { expect } from 'chai';
import { configurationOf, MODEL, SECRETS } from '../fleet/configuration.ts';
import { FAULTS } from '../fleet/faults.ts';
import { type Played, playVendors, VENDORS, type VendorName } from '../fleet/vendors.ts';
import { eventually } from '../kit/index.ts';
import { installedBefore, versionOf } from './installed.ts';
import { CLAUDE_CODE } from './kinds/claude-code.ts';
import { CODEX } from './kinds/codex.ts';
import { GEMINI_CLI } from './kinds/gemini-cli.ts';
import { OPENCODE } from './kinds/opencode.ts';
import { QWEN_CODE } from './kinds/qwen-code.ts';
import type { Mode } from './mode.ts';
import { LOGGED, rowsOf, runAgent, type Scene, sceneBefore } from './scene.ts';
import { ADDRESS, LAST_TEXT, toolsIn } from './script.ts';
import { expectAnswers, expectDone } from './task.ts';
import type { Seen } from './upstream.ts';

/** What another credential or vendor makes good before the agent has heard anything. */
const UNHEARD = FAULTS.filter(({ breaks }) => breaks === undefined);
const MASK = { name: 'pii-redact', stage: 'after_request', enabled: true };
const LAST = LAST_TEXT.replace(ADDRESS, '[EMAIL_1]');

interface Fleet {
  readonly scene: Scene;
  readonly played: Played;
}

/** A group for every name that the agent asks for. Something happens before each turn of the task. */
async function fleetFor(mode: Mode, before: (number: number, played: Played) => void): Promise<Fleet> {
  const seen: Seen = { turns: [], refusals: [], bodies: [] };
  const played = await playVendors((number, text) => {
    const turns = mode.turns(toolsIn(text));
    if (!turns) return { say: 'a title' };
    return turns[number - 1] ?? { say: 'the script is over' };
  });
  played.before = ({ text }, number) => {
    if (mode.turns(toolsIn(text)) && !seen.turns.includes(number)) {
      seen.turns.push(number);
      before(number, played);
    }
    if (mode.turns(toolsIn(text))) seen.bodies[number - 1] = text;
  };
  const scene = await sceneBefore({
    seen,
    configuration: {
      ...configurationOf(played.url),
      aliases: Object.fromEntries([mode.asks, ...(mode.asksInstead ?? [])].map((name) => [name, MODEL])),
      plugins: [MASK, ...LOGGED],
    },
    variables: SECRETS,
  });
  return { scene, played };
}

/** The agent finished its task, every vendor took what it got, and rows say who served. */
async function expectServed(mode: Mode, { scene, played }: Fleet, alias: string): Promise<void> {
  const run = await runAgent(alias, mode, scene);
  expect(played.refusals.join('\n')).to.equal('');
  await expectDone(scene, run, LAST);
  expectAnswers(mode, scene, LAST);
  let rows: Awaited<ReturnType<typeof rowsOf>> = [];
  await eventually(async () => (rows = await rowsOf(scene)).length >= played.answered.length);
  expect(rows.map(({ provider }) => provider as string).toSorted()).to.deep.equal(
    played.answered.map(({ vendor }) => vendor).toSorted(),
  );
  for (const row of rows) {
    expect([row['model_group'], row['prompt_tokens'], row['completion_tokens']]).to.deep.equal([MODEL, 100, 9]);
    expect(row['affinity']).to.match(/^(new|followed|moved)$/);
    expect(row['cost_usd']).to.be.above(0);
  }
}

const ORDERS: readonly (readonly VendorName[])[] = [
  ['claude', 'gemini', 'pool'],
  ['gemini', 'pool', 'claude'],
  ['pool', 'claude', 'gemini'],
];

describe('agents and a group of three vendors', () => {
  installedBefore();

  for (const { name, aliases, modes } of [CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, QWEN_CODE])
    for (const mode of modes) {
      const [alias = ''] = aliases;
      for (const order of ORDERS)
        it(`${name} ${versionOf(alias)} (${mode.name}) finishes a task whose turns ${order.join(', then ')} serve`, async () => {
          const fleet = await fleetFor(mode, (number, played) => {
            played.serving = new Set([order[number - 1] ?? 'pool']);
          });
          await expectServed(mode, fleet, alias);
          expect(new Set(fleet.played.answered.map(({ vendor }) => vendor))).to.deep.equal(new Set(VENDORS));
        });

      for (let from = 0; from < UNHEARD.length; from += 3) {
        const faults = UNHEARD.slice(from, from + 3);
        it(`${name} ${versionOf(alias)} (${mode.name}) finishes a task in spite of ${faults.map(({ title }) => title).join(', ')}`, async () => {
          const fleet = await fleetFor(mode, (number, played) => {
            played.faults.push(...faults.slice(number - 1, number));
          });
          await expectServed(mode, fleet, alias);
        });
      }
    }
});
