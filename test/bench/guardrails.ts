/**
 * What the guardrails cost on a chat request of 2 KB, beside the bare proxy of `npm run bench`, and what those that detect find in labelled
 * texts: `node test/bench/guardrails.ts`, with `--no-floor` without the proxy.
 */
import { fileURLToPath } from 'node:url';
import { MODULES } from '../../builtins/manifest.ts';
import type { Exchange, PluginModule } from '../../host/contract/index.ts';
import { readSettings } from '../../host/config/module-settings.ts';
import { madeUpExchange, madeUpPluginDeps } from '../../host/testing/made-up.ts';
import { floorUs } from './floor-cost.ts';
import { attacks, credentials, type Labelled, ordinary, personalData } from './labelled.ts';

const ROUNDS = 5;
const TIMES = 2000;
const BYTES = 2048;

/** Settings under which each does its work. */
const SETTINGS: Readonly<Record<string, object>> = {
  'word-filter': { blocked_words: ['project aurora', 'nightfall'] },
  'max-token': { max_input_length: 1_000_000 },
  'pii-redact': {},
  'secret-scan': {},
  'prompt-shield': {},
  'regex-guard': { patterns: ['(?i)project[ -]?aurora', '\\bACME-\\d{4}\\b'] },
  'schema-guard': { schema: { type: 'object', required: ['note'], properties: { note: { type: 'string' } } } },
};

export interface PluginCost {
  readonly name: string;
  /** Microseconds of CPU for one request, of the best round. */
  readonly us: number;
}

export async function pluginCosts(times = TIMES): Promise<readonly PluginCost[]> {
  const costs: PluginCost[] = [];
  for (const [name, config] of Object.entries(SETTINGS)) {
    const module = MODULES.find((each): each is PluginModule => each.kind === 'plugin' && each.name === name);
    if (!module) throw new Error(`${name} is not shipped`);
    const handlers = await module.create(readSettings(module.settings, config), madeUpPluginDeps());
    const handler = handlers.before_request ?? handlers.after_request;
    const exchange = ordinaryExchange(handlers.before_request ? 'before_request' : 'after_request');
    costs.push({ name, us: bestUs(() => handler?.(exchange), times) });
  }
  return costs;
}

/** A conversation of three messages, of ordinary sentences. */
function ordinaryExchange(stage: 'before_request' | 'after_request'): Exchange {
  const text = ordinary().slice(0, 60).join(' ').slice(0, BYTES);
  const messages = [
    { role: 'system', content: 'You answer questions about our products.' },
    { role: 'user', content: text },
  ];
  const reply = {
    choices: [
      { index: 0, message: { role: 'assistant', content: JSON.stringify({ note: text }) }, finish_reason: 'stop' },
    ],
  };
  return madeUpExchange({ stage, request: { model: 'm', messages }, reply });
}

function bestUs(run: () => unknown, times: number): number {
  let best = Infinity;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < times; at += 1) run();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) best = Math.min(best, (user + system) / times); // the first one warms up
  }
  return best;
}

export interface Detection {
  readonly name: string;
  readonly kind: string;
  readonly texts: number;
  readonly found: number;
}

/** What each detecting guardrail finds: labelled texts by kind, and false alarms among the others as the kind `ordinary`. */
export async function detections(plainTexts = ordinary()): Promise<readonly Detection[]> {
  const sets: Readonly<Record<string, readonly Labelled[]>> = {
    'pii-redact': personalData(),
    'secret-scan': credentials(),
    'prompt-shield': attacks(),
  };
  const plain = plainTexts.map((text): Labelled => ({ kind: 'ordinary', text }));
  const all: Detection[] = [];
  for (const [name, labelled] of Object.entries(sets)) {
    const isFound = await finder(name);
    for (const [kind, texts] of Map.groupBy([...labelled, ...plain], (each) => each.kind)) {
      all.push({ name, kind, texts: texts.length, found: texts.filter(({ text }) => isFound(text)).length });
    }
  }
  return all;
}

/** Whether the guardrail has something to say about a text of a user's. */
export async function finder(name: string): Promise<(text: string) => boolean> {
  const module = MODULES.find((each): each is PluginModule => each.kind === 'plugin' && each.name === name);
  const handlers = await module?.create(readSettings(module.settings, {}), madeUpPluginDeps());
  return (text) =>
    handlers?.before_request?.(
      madeUpExchange({ request: { model: 'm', messages: [{ role: 'user', content: text }] } }),
    ) !== undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(16) : cell.padStart(18))).join('');
  const us = process.argv.includes('--no-floor') ? undefined : await floorUs();
  console.log(line(['plugin', 'µs for 2 KB', 'of the floor']));
  if (us !== undefined) console.log(line(['(floor)', us.toFixed(1), '1.00']));
  for (const { name, us: cost } of await pluginCosts())
    console.log(line([name, cost.toFixed(1), us === undefined ? '' : (cost / us).toFixed(2)]));
  console.log(`\n${line(['plugin', 'kind', 'found', 'of'])}`);
  for (const { name, kind, texts, found } of await detections())
    console.log(line([name, kind, String(found), String(texts)]));
  process.exit(0);
}
