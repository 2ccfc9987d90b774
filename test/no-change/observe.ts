import { hash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { canonical } from './canonical.ts';
import { type Case, makeCase, type Question } from './documents.ts';
import { type Code, loadCode } from './code.ts';
import { type Gateway, KEY, openGateway } from './gateway.ts';
import { openVendor, type Vendor } from './vendor.ts';

/** Connections are kept between calls: each case has a port of its own. */
const AGENT = new Agent({ keepAlive: true });

/** Questions of a case that are real requests, too. */
const SENT = 2;

const PATHS = { chat: '/v1/chat/completions', embeddings: '/v1/embeddings', images: '/v1/images/generations' };
const PAGES = [
  '/v1/models',
  '/health',
  '/readyz',
  '/admin/providers',
  '/admin/providers/catalog',
  '/admin/health',
  '/admin/config',
  '/admin/plugins',
  '/admin/rules',
];

/** Everything that is compared of one case, as canonical JSON. */
export async function observed(
  code: Code,
  { given, vendor }: { readonly given: Case; readonly vendor: Vendor },
): Promise<string> {
  const gateway = await openGateway(code, given, vendor.url);
  try {
    const refused = await gateway.apply(given.document);
    const report = await ask(gateway, { path: '/admin/config/validate', body: given.document });
    if (refused !== undefined) return canonical({ refused, report }).replaceAll(...LATER_KEY);
    const explained = [];
    for (const { surface, request: asked, metadata } of given.questions)
      explained.push(
        withoutPrice(
          (await ask(gateway, { path: '/admin/explain', body: { surface, request: asked, metadata } })).body,
        ),
      );
    const sent = [];
    for (const question of given.questions.slice(0, SENT)) sent.push(await send(gateway, { question, vendor }));
    const pages = [];
    for (const path of PAGES) pages.push([path, await ask(gateway, { path })]);
    return canonical({
      report,
      explained,
      sent,
      pages,
      rows: gateway.rows.map(withoutLater),
      figures: [...gateway.figures].toSorted(),
    });
  } finally {
    await gateway.close();
  }
}

/** A key of `money` that came later stands in a list of those that there are. */
const LATER_KEY = ['use one of: unpriced, timezone, tags', 'use one of: unpriced'] as const;

/** Came with `GET /admin/config/source`. */
const LATER_HEADER = 'x-gateway-config-source';

/** Rows say how a request ended, and who asked and pays, since the digests were recorded; and they name the surfaces of the common wire too. */
const LATER_COLUMNS: ReadonlySet<string> = new Set([
  'status',
  'outcome',
  'code',
  'reason',
  'upstream_status',
  'upstream_message',
  'method',
  'path',
  'streamed',
  'user_id',
  'metadata',
  'address',
  'user_agent',
  'account',
  'tags',
  'over_from',
]);
const COMMON: ReadonlySet<unknown> = new Set(['chat', 'completions', 'embeddings', 'images', 'rerank', 'moderations']);
const withoutLater = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name, value]) => !LATER_COLUMNS.has(name) && !(name === 'surface' && COMMON.has(value)),
    ),
  );

/** Explanations say a price since the digests were recorded. */
const withoutPrice = (body: unknown): unknown =>
  typeof body === 'object' && body !== null
    ? Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'price'))
    : body;

async function send(
  gateway: Gateway,
  { question, vendor }: { readonly question: Question; readonly vendor: Vendor },
): Promise<object> {
  const { surface, request: body, metadata } = question;
  const headers = { 'x-request-id': 'asked', ...(metadata && { 'x-gateway-metadata': JSON.stringify(metadata) }) };
  const answer = await ask(gateway, { path: PATHS[surface], body, headers });
  return { answer, called: vendor.called() };
}

interface Asked {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function ask(
  { url }: Gateway,
  { path, body, headers }: Asked,
): Promise<{ readonly status: number; readonly headers: object; readonly body: unknown }> {
  const sent = request(`${url}${path}`, {
    method: body ? 'POST' : 'GET',
    agent: AGENT,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part as string;
  const { [LATER_HEADER]: _added, ...kept } = response.headers;
  return { status: response.statusCode ?? 0, headers: kept, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Calls `done` with what is observed of each seed, one after another. */
export async function observeAll(
  root: string,
  seeds: Iterable<number>,
  done: (seed: number, text: string) => void,
): Promise<void> {
  const code = await loadCode(root);
  const vendor = await openVendor();
  try {
    for (const seed of seeds) done(seed, await observed(code, { given: makeCase(seed), vendor }));
  } finally {
    vendor.close();
  }
}

/** Kept of each case. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url');
