import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../kit/index.ts';
import { installedBefore, versionOf } from './installed.ts';
import { type Agent, FILES, LINE, type Mode } from './mode.ts';
import { heardIn, isAsking, resultsIn, wordsOf } from './reading.ts';
import { rowsOf, runAgent, type Run, type Scene, sceneOf } from './scene.ts';
import { ADDRESS, LAST_TEXT, toolsIn, turnsIn, WORD } from './script.ts';

interface Guard {
  readonly plugins: readonly object[];
  /** The last text as it gets to the agent. */
  readonly last: string;
}

const GUARDS: Readonly<Record<string, Guard>> = {
  'no guard': { plugins: [], last: LAST_TEXT },
  'pii-redact that masks': {
    plugins: [{ name: 'pii-redact', stage: 'after_request', enabled: true }],
    last: LAST_TEXT.replace(ADDRESS, '[EMAIL_1]'),
  },
  'word-filter in a window': {
    plugins: [
      {
        name: 'word-filter',
        stage: 'after_request',
        enabled: true,
        config: { blocked_words: [WORD], stream: 'window' },
      },
    ],
    last: LAST_TEXT,
  },
};

/** Runs every version of an agent in every mode, through its targets, with each guard: two turns with commands, then a last text. */
export function describeTasks(agent: Agent): void {
  describe(`${agent.name} through a gateway`, () => {
    installedBefore();

    agent.aliases.forEach((alias, age) => {
      for (const mode of agent.modes)
        for (const target of age === 0 ? mode.targets : mode.targets.slice(0, 3))
          for (const [guard, { plugins, last }] of Object.entries(GUARDS))
            it(`${versionOf(alias)} (${mode.name}) finishes a task through ${target}, with ${guard}`, async () => {
              const scene = await sceneOf(mode, target, plugins);
              const run = await runAgent(alias, mode, scene);
              const isForwarded = mode.forwarded?.includes(target) ?? false;
              const text = isForwarded ? LAST_TEXT : last;
              await expectDone(scene, run, text);
              expectAnswers(mode, scene, text);
              await expectRows(mode, scene);
            });
    });
  });
}

/** It ended well, printed what the model said last, and its tools did what they were called for, once each. */
export async function expectDone(
  { work, seen, recorder }: Scene,
  { code, stdout, stderr }: Run,
  last: string,
): Promise<void> {
  const exchanges = recorder.exchanges.map((one) => ({ ...one, asked: one.asked.slice(0, 2_000) }));
  const all = `${stdout}\n${stderr}\n${JSON.stringify(exchanges, null, 1)}`;
  expect(seen.refusals, all).to.deep.equal([]);
  expect(code, all).to.equal(0);
  expect(stdout, all).to.include(last);
  for (const file of FILES) expect(await readFile(join(work, file), 'utf8'), all).to.equal(LINE);
  expect(seen.turns, all).to.deep.equal([1, 2, 3]);
  const results = recorder.exchanges.filter(isAsking).flatMap(({ asked }) => resultsIn(asked));
  expect(results, all).to.not.deep.equal([]);
  for (const result of results) expect(wordsOf(seen.bodies[2] ?? ''), all).to.include(wordsOf(result));
}

/** Every answer was whole and without an error, and said what the upstream had said, call by call. */
export function expectAnswers(mode: Mode, { recorder }: Scene, last: string): void {
  const asking = recorder.exchanges.filter(isAsking);
  expect(asking.filter(({ status }) => status !== 200)).to.deep.equal([]);
  for (const exchange of asking) {
    const heard = heardIn(exchange);
    expect(heard.errors).to.deep.equal([]);
    const turns = mode.turns(toolsIn(exchange.asked));
    if (!turns) continue;
    const number = turnsIn(exchange.asked) + 1;
    expect(heard.calls, exchange.answer).to.deep.equal(turns[number - 1]?.calls ?? []);
    expect(heard.text, exchange.answer).to.equal(number === turns.length ? last : (turns[number - 1]?.say ?? ''));
  }
}

/** One row for each answer: whose it was, what it cost, in which wire and session. */
async function expectRows({ wire, hasSession }: Mode, scene: Scene): Promise<void> {
  const asked = scene.recorder.exchanges.filter(isAsking).length;
  let rows: readonly Record<string, any>[] = [];
  await eventually(async () => (rows = await rowsOf(scene)).length >= asked);
  const said = JSON.stringify(rows, null, 1);
  expect(rows, said).to.have.length(asked);
  for (const row of rows) {
    expect(row['api_key_id'], said).to.equal(scene.keyId);
    expect(row['cost_usd'], said).to.be.greaterThan(0);
    expect(row['client_wire'], said).to.equal(wire);
  }
  if (!hasSession) return;
  const sessions = new Set(rows.map(({ session_id: session }) => session as string | undefined));
  expect([...sessions], said).to.have.length(1);
  expect(sessions.has(undefined), said).to.equal(false);
}
