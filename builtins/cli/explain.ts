import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../host/cli/command.ts';
import { withoutQuote } from '../../host/config/parse.ts';
import { buildOffline } from '../../host/generation/offline.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import type { ExplainedBudget, ExplainedPlace } from '../../host/pipeline/explained.ts';
import { redactedCopy } from '../../host/log/redacted-copy.ts';
import { explain, type Explanation } from '../../host/explain/explain.ts';
import type { ExplainedCall } from '../../host/explain/explained-targets.ts';
import { readAsker, readQuestion, type RouteQuestion } from '../../host/explain/question.ts';
import { parseMetadata } from '../../host/http/metadata-header.ts';
import { readConfig } from './configuration/checked-config.ts';
import { table } from './report.ts';

/** `gw explain`: where a request would go and why, without sending it. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => explainRequest(await place.host(), input, io);

async function explainRequest(host: Host, { options, format }: CommandInput, io: CommandIo): Promise<number> {
  const question = await readInput(host, options);
  const config = await readConfig(host, options['config'], io);
  if (!config) return 1;
  const generation = await buildOffline(host, config);
  try {
    const explanation = redactedCopy(
      explain(generation, question, { services: host.services, registry: host.registry, plugins: config.plugins }),
      host.redactor,
    );
    if (format === 'json') io.out(`${JSON.stringify(explanation, null, 2)}\n`);
    else if (format === 'yaml') io.out(stringify(explanation));
    else io.out(`${report(explanation)}\n`);
    return 0;
  } finally {
    await generation.dispose();
  }
}

async function readInput(host: Host, options: CommandInput['options']): Promise<RouteQuestion> {
  const { request, metadata, surface, session } = options;
  if (typeof request !== 'string' || request === '')
    throw new UsageError('name the file with the request body: --request <file>');
  const text = await readFile(resolve(host.workingDirectory, request), 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${request} cannot be read: ${(cause as Error).message}`, { cause });
  });
  const question = readQuestion(
    typeof surface === 'string' ? surface : 'chat',
    parseRequest(request, text),
    parseMetadata(typeof metadata === 'string' ? metadata : ''),
  );
  const { keyId, account, tag } = options;
  const asker = { keyId: textOf(keyId), account: textOf(account), tags: tagsIn(textOf(tag)), limits: undefined };
  return { ...question, session: textOf(session), ...readAsker(asker) };
}

const textOf = (option: unknown): string | undefined => (typeof option === 'string' ? option : undefined);

/** Names between commas; `#` before one is left out. */
const tagsIn = (text: string | undefined): readonly string[] | undefined =>
  text?.split(',').map((name) => name.trim().replace(/^#/, ''));

function parseRequest(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${path} is not valid JSON: ${withoutQuote(cause)}`, { cause });
  }
}

function report(explanation: Explanation): string {
  const {
    model,
    requested_model,
    surface,
    streaming,
    strategy,
    on_failure,
    rule,
    condition,
    ab_label,
    refusal,
    order,
    dropped,
    plugins,
    notes,
    group,
    affinity,
    price,
    budgets,
    over,
  } = explanation;
  const facts = [
    `Model: ${model}${model === requested_model ? '' : ` (asked for as ${requested_model})`}`,
    `Surface: ${surface}${streaming ? ', streamed' : ''}`,
    ...(group ? [`Group: ${group.name}${fallbacksText(group.fallbacks)}`] : []),
    ...(affinity ? [`Session: ${sessionText(affinity)}`] : []),
    `Strategy: ${strategy} (on failure: ${on_failure})`,
    ...(rule === null ? [] : [`Rule: ${rule}${conditionText(condition)}`]),
    ...(ab_label === null ? [] : [`Variant: ${ab_label}`]),
    ...(plugins.length === 0 ? [] : [`Plugins: ${plugins.map(({ name, stage }) => `${name} (${stage})`).join(', ')}`]),
    ...(refusal === null ? [] : [`Refused: ${refusal.code}: ${refusal.message}`]),
    ...priceLines(price),
    ...(over === undefined ? [] : [`Beyond a budget: ${over} is used`]),
    ...notes.map((note) => `Note: ${note}`),
  ];
  const tried = order.map(({ target, route, via, upstream_model, reason, figures, circuit, attempt }, at) => [
    String(at + 1),
    route ?? target,
    upstream_model,
    `${reason}${behindText(via)}${circuit === null || circuit === 'closed' ? '' : `; its circuit is ${circuit}`}${viaText(attempt)}${figuresText(figures)}`,
  ]);
  const left = dropped.map(({ target, route, via, reason, figures }) => [
    route ?? target,
    `${reason}${behindText(via)}${figuresText(figures)}`,
  ]);
  return [
    ...facts,
    ...(tried.length === 0 ? [] : ['', table(['', 'TARGET', 'UPSTREAM MODEL', 'WHY'], tried)]),
    ...(left.length === 0 ? [] : ['', table(['DROPPED', 'WHY'], left)]),
    ...(budgets ? ['', table(['BUDGET', 'LIMIT', 'SPENT', 'EXPECTED', 'GRANTS'], budgets.map(budgetCells))] : []),
  ].join('\n');
}

function budgetCells({ name, unit, limit, spent, expected, grants }: ExplainedBudget): string[] {
  const known = grants === null ? '-' : grants ? 'yes' : 'no';
  return [
    name,
    `${limit} ${unit}`,
    spent === null ? '-' : String(spent),
    expected === null ? '-' : String(expected),
    known,
  ];
}

/** Where a session goes, and its home where that is another place. */
function sessionText({ source, digest, home, override }: NonNullable<Explanation['affinity']>): string {
  const goes = override ?? home;
  const to = goes ? ` goes to ${placeText(goes)}` : '';
  return `${digest} (${source})${to}${override && home ? `, where it was served last; its home is ${placeText(home)}` : ''}`;
}

const placeText = ({ target, route, credential, vendor_account: account }: ExplainedPlace): string =>
  [
    route ?? target,
    ...(credential === undefined ? [] : [`credential ${credential}`]),
    ...(account === undefined ? [] : [`vendor account ${account}`]),
  ].join(', ');

/** What the first target would cost, and whose word counts; nothing where neither is known. */
function priceLines(price: Explanation['price']): string[] {
  if (!price || (price.expected_usd === null && price.reported !== 'prefer')) return [];
  const { line, expected_usd: usd, reported } = price;
  const own = usd === null ? 'none is known' : `up to $${Number(usd.toPrecision(4))} by the line ${line ?? ''}`;
  return [`Price: ${reported === 'prefer' ? `${own}; what the vendor reports is booked` : own}`];
}

const fallbacksText = (names: readonly string[]): string =>
  names.length === 0 ? '' : ` (fallbacks: ${names.join(', ')})`;

/** Where a target stands because a fallback of the group names it. */
const behindText = (via: string | undefined): string => (via === undefined ? '' : `; by the fallback ${via}`);

/** Named where it is not the API that chats go to anyway. */
const viaText = (attempt: ExplainedCall | null): string =>
  attempt?.via === 'responses' ? `; by the Responses API (${attempt.via_reason})` : '';

/** What a condition asks, as it is configured. */
function conditionText(condition: Explanation['condition']): string {
  const members = Object.entries(condition ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return members.length === 0 ? '' : ` (${members.join(', ')})`;
}

function figuresText(figures: Readonly<Record<string, number>>): string {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${Number(value.toPrecision(6))}`);
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}
