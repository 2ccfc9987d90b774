import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import type { Schema } from '../../builtins/stores/database/migrate.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { SESSION_SCHEMA } from '../../builtins/stores/session-schema.ts';
import {
  chatReply,
  eventually,
  type GatewayProcess,
  replyJson,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { calling } from '../mcp/setup.ts';
import { SILENT } from '../stores/backends.ts';

/** Milliseconds of CPU that no list and no answer of a tool server may hold everybody up for. */
const MOST_MS = 250;
const KEYS = 100_000;
const SESSIONS = 10_000;
const MODELS = 40_000;
const TOOLS = 50_000;

async function filled(folder: string, file: string, schema: Schema, sql: string): Promise<void> {
  const database = await openSqlite(join(folder, file), folder);
  await migrate(database, schema, SILENT, Date.now);
  await database.knex.raw(sql);
  await database.close();
}

const numbers = (count: number): string =>
  `WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${count})`;
const MOMENT = (ageS: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (0 - ${ageS}) || ' seconds')`;

async function fillStores(folder: string): Promise<void> {
  await filled(
    folder,
    'keys.db',
    KEY_SCHEMA,
    `${numbers(KEYS)} INSERT INTO api_keys (id, key_hash, key_display, name, scopes, created_at, active, tags, rpm, usage_count)
      SELECT printf('%032x', n), printf('%064x', n), 'gw_01234...', 'key number ' || n, '["read_only"]', ${MOMENT('(100000 + n)')}, 1, '["team","project ' || n || '"]', 600, n % 1000 FROM number`,
  );
  await filled(
    folder,
    'keys-sessions.db',
    SESSION_SCHEMA,
    `${numbers(SESSIONS)} INSERT INTO sessions (id, token_hash, subject, credential_id, scopes, created_at, expires_at)
      SELECT printf('%032x', n), printf('%064x', n), 'key number ' || n, printf('%032x', n), '["read_only"]', ${MOMENT('(n / 10)')}, ${MOMENT('(0 - 86000)')} FROM number`,
  );
}

type Message = { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };

/** A tool server that lists many tools, one of which gives 9 MB. */
async function toolServer(results: Readonly<Record<string, () => object>>): Promise<string> {
  const tools = Array.from({ length: TOOLS }, (_, at) => ({
    name: Object.keys(results)[at] ?? `tool_${at}`,
    description: `does what number ${at} does`,
    inputSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  }));
  const upstream = await stubUpstream((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = request.json() as unknown as Message;
    const answer = (result: object): void => {
      replyJson(response, 200, { jsonrpc: '2.0', id, result });
    };
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'initialize')
      answer({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } });
    else if (method === 'tools/list') answer({ tools });
    else answer(results[params?.name ?? '']?.() ?? { content: [] });
  });
  return `${upstream.url}/mcp`;
}

const BYTES = 9 * 1024 * 1024;
const RESULTS: Readonly<Record<string, () => object>> = {
  text: () => ({ content: [{ type: 'text', text: 'x'.repeat(BYTES) }] }),
  letters: () => ({ content: [{ type: 'text', text: '\u{1f600}'.repeat(BYTES / 4) }] }),
  blocks: () => ({ content: Array.from({ length: BYTES / 30 }, () => ({ type: 'text', text: 'xyz' })) }),
  numbers: () => ({ content: [], structuredContent: { a: Array.from({ length: BYTES / 4 }, (_, at) => at % 900) } }),
  objects: () => ({ content: [], structuredContent: { a: Array.from({ length: BYTES / 12 }, () => ({ b: 1 })) } }),
  lists: () => ({ content: [], structuredContent: { a: Array.from({ length: BYTES / 4 }, () => []) } }),
  unknown: () => ({ content: [], x: Array.from({ length: BYTES / 4 }, () => 'a') }),
};

describe('how long lists and answers of tool servers hold everybody up', function lists() {
  this.timeout(600_000);
  const table: string[] = [];

  async function started(): Promise<GatewayProcess> {
    const folder = await temporaryFolder();
    await fillStores(folder);
    const url = await toolServer(RESULTS);
    const ids = (target: number): string[] => Array.from({ length: MODELS / 4 }, (_, at) => `model-${target}-${at}`);
    const targets = ['openai', 'mistral', 'groq', 'together'].map((virtual_key, at) => ({
      virtual_key,
      models: ids(at),
    }));
    const max_result_bytes = 10 * 1024 * 1024;
    await writeFile(
      join(folder, 'config.yaml'),
      JSON.stringify({
        strategy: { mode: 'fallback' },
        targets,
        mcp_servers: [{ name: 's', url, max_result_bytes }],
        aliases: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`alias-${at}`, `model-0-${at}`])),
      }),
    );
    const model = await stubUpstream((request, response) => {
      const { messages } = JSON.parse(request.text) as {
        readonly messages: readonly { readonly role: string; readonly content: string }[];
      };
      const content = messages[0]?.content ?? '';
      const isDone = content === 'nothing' || messages.some(({ role }) => role === 'tool');
      replyJson(response, 200, isDone ? chatReply('done') : calling([[content]]));
    });
    const keys = Object.fromEntries(targets.map(({ virtual_key }) => [`${virtual_key.toUpperCase()}_API_KEY`, 'k']));
    return startGateway({
      cwd: folder,
      variables: {
        ...keys,
        OPENAI_BASE_URL: model.url,
        GATEWAY_CONFIG: join(folder, 'config.yaml'),
        API_KEY_STORE_BACKEND: 'sqlite',
        API_KEY_STORE_DSN: join(folder, 'keys.db'),
      },
    });
  }

  const json = (method: string, params: object = {}): RequestInit => ({
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: { 'content-type': 'application/json' },
  });

  it('is bounded', async () => {
    const gateway = await started();
    await gateway.longestTurn();
    const tried: [what: string, ms: number][] = [];
    const measure = async (what: string, work: () => Promise<string>): Promise<void> => {
      await gateway.longestTurn();
      const answer = await work();
      tried.push([`${what}: ${answer}`, await gateway.longestTurn()]);
    };
    const call = async (path: string, init: RequestInit = {}): Promise<string> => {
      const response = await fetch(gateway.url + path, {
        ...init,
        headers: { authorization: `Bearer ${gateway.key}`, ...(init.headers as Record<string, string>) },
      });
      const text = await response.text();
      return `${response.status}, ${text.length} characters`;
    };
    await measure('the tools of the server are read', async () => {
      const ready = async (): Promise<boolean> =>
        ((await (await fetch(`${gateway.url}/readyz`)).json()) as { mcp_servers: { ready: boolean }[] }).mcp_servers[0]
          ?.ready === true;
      await eventually(ready);
      return String(await ready());
    });
    for (const path of [
      '/admin/keys',
      '/admin/keys?limit=1000',
      '/admin/keys?q=99',
      '/admin/keys/usage?limit=100&offset=50000',
      '/admin/sessions',
      '/admin/sessions?limit=1000',
      '/v1/models',
      '/v1/models',
      '/v1/models/model-3-9999',
      '/v1beta/models?pageSize=1000',
      '/v1/capabilities',
      '/admin/providers',
      '/admin/providers/catalog',
      '/admin/health',
      '/admin/config',
      '/health',
      '/metrics',
    ])
      await measure(path, () => call(path));
    await measure('/v1/models for clients of Messages', () =>
      call('/v1/models?limit=1000', { headers: { 'anthropic-version': '2023-06-01' } }),
    );
    await measure('/mcp tools/list', () => call('/mcp', json('tools/list')));
    for (const name of Object.keys(RESULTS))
      await measure(`/mcp tools/call ${name}`, () => call('/mcp', json('tools/call', { name, arguments: {} })));
    for (const content of ['nothing', ...Object.keys(RESULTS)])
      await measure(`a chat whose model calls ${content}`, () =>
        call('/v1/chat/completions', {
          method: 'POST',
          body: JSON.stringify({ model: 'model-0-1', messages: [{ role: 'user', content }] }),
          headers: { 'content-type': 'application/json' },
        }),
      );
    const worst = tried.toSorted(([, a], [, b]) => b - a);
    table.push(...worst.map(([what, ms]) => `${ms.toFixed(0).padStart(6)} ms  ${what}`));
    expect(
      worst.filter(([, ms]) => ms > MOST_MS),
      'what holds the loop for too long',
    ).to.deep.equal([]);
  });

  after(() => {
    process.stdout.write(`${table.join('\n')}\n`);
  });
});
