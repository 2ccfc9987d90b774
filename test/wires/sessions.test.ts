import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { OPERATIONS, type Operation } from '../../builtins/openapi/operations.ts';
import { SESSION_HEADERS } from '../../host/common/session-headers.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { BuiltinModule } from '../../host/builtin.ts';
import { type RequestLogRow, type Surface, SURFACE_NAMES, SURFACES } from '../../host/contract/index.ts';
import { MASTER_KEY, replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { keptRows, LOGGING } from './kept-rows.ts';

const MODEL = 'm';
const TEXT = { parts: [{ text: 'hi' }] };

/** What every route of JSON finds its own members in. */
const BODY = {
  model: MODEL,
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 9,
  prompt: 'hi',
  input: 'hi',
  voice: 'alloy',
  query: 'hi',
  documents: ['a', 'b'],
  contents: [TEXT],
  content: TEXT,
  requests: [{ content: TEXT }],
};

/** Routes of the gateway that ask some target: all that need a credential, but for what it answers itself, and calls of tools, which go to tool servers. */
const ASKING: readonly Operation[] = OPERATIONS.filter(
  ({ method, path, scope }) =>
    scope === 'any' &&
    /^\/v1(?:beta)?\//.test(path) &&
    !(method === 'get' && /\/models|\/capabilities|\/key$/.test(path)),
);

interface Scene {
  readonly host: TestHost;
  readonly rows: RequestLogRow[];
  readonly surfaces: Set<Surface>;
  readonly upstream: StubUpstream;
}

async function scene(responses: 'native' | 'translate' = 'native', plugins: readonly object[] = []): Promise<Scene> {
  const surfaces = new Set<Surface>();
  const { rows, builtin } = keptRows();
  const watch: BuiltinModule = defineBuiltin({
    name: 'watch',
    apply: ({ hooks }) =>
      hooks.assemble.tapPromise('watch', async ({ hooks: pipeline }) => {
        pipeline.finished.tap('watch', ({ surface }) => {
          surfaces.add(surface);
        });
      }),
  });
  const upstream = await stubUpstream((_seen, response) =>
    replyJson(response, 200, { id: 'x', object: 'x', data: [] }, { 'x-request-id': 'req_vendor' }),
  );
  const able = { ...everySurface, passthrough: true, responses: true, batches: true };
  const host = await startHost(
    {
      strategy: { mode: 'single' },
      responses: { translate: 'auto' },
      responses_target: 'a',
      batch_target: 'a',
      targets: [upstream.target('a', { models: [MODEL], responses }, able)],
      plugins: [...plugins, ...LOGGING],
    },
    { builtins: [builtin, watch] },
  );
  return { host, rows, surfaces, upstream };
}

/** The row that ends a request of this route, with these headers. */
async function rowOf(
  { host, rows }: Scene,
  { method, path, body }: Pick<Operation, 'method' | 'path' | 'body'>,
  headers: Record<string, string>,
): Promise<RequestLogRow> {
  rows.length = 0;
  const address = path.replaceAll('{model}', MODEL).replaceAll('{id}', 'resp_1');
  const form = new FormData();
  form.set('model', MODEL);
  form.set('file', new Blob(['RIFF']), 'a.wav');
  const isForm = body === 'multipart';
  const { prompt: _stateful, ...ofResponses } = BODY; // there it names a template that the vendor keeps
  const sent = isForm ? form : JSON.stringify(path.startsWith('/v1/responses') ? ofResponses : BODY);
  const answer = await fetch(`${host.url}${address}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${MASTER_KEY}`,
      ...(method === 'get' || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(method !== 'get' && { body: sent }),
  });
  await answer.text();
  const row = rows.at(-1);
  expect(row?.stage, `${method} ${path}: ${answer.status}`).to.be.oneOf(['after_request', 'on_error']);
  return row as RequestLogRow;
}

const everyHeader = (value: string): Record<string, string> =>
  Object.fromEntries(SESSION_HEADERS.map((name) => [name, `${value} of ${name}`]));

const [CREATE] = ASKING.filter(({ path }) => path === '/v1/responses') as [Operation];

describe('the session of a request', () => {
  it('stands in the row of every route, by each header that names it', async () => {
    const at = await scene();
    for (const route of ASKING) {
      for (const name of SESSION_HEADERS) {
        const { session_id: session } = await rowOf(at, route, { [name]: `by ${name}` });
        expect(session, `${route.method} ${route.path}`).to.equal(`by ${name}`);
      }
      expect((await rowOf(at, route, {})).session_id, route.path).to.equal(undefined);
    }
    const left = new Set(SURFACE_NAMES).difference(at.surfaces);
    expect([...left], 'one goes to a tool server, the other is tried below').to.have.members([
      'mcp',
      'responses.translated',
    ]);
  }).timeout(60_000);

  it('is never sent on where the gateway is asked for it by its own header, on any route', async () => {
    const at = await scene();
    const own = { 'x-gateway-session': 'kept here', 'x-gateway-affinity': 'off', 'x-gateway-tags': 'kept here' };
    for (const route of ASKING) await rowOf(at, route, own);
    expect(at.upstream.seen.length).to.be.above(ASKING.length / 2);
    for (const { headers, url } of at.upstream.seen) {
      expect(
        Object.keys(headers).filter((name) => /gateway.(session|affinity|tags)/.test(name)),
        url,
      ).to.deep.equal([]);
      expect(Object.values(headers), url).not.to.include('kept here');
    }
  }).timeout(60_000);

  it('stands in the row of a translated request of the Responses API', async () => {
    const at = await scene('translate');
    for (const name of SESSION_HEADERS)
      expect(await rowOf(at, CREATE, { [name]: `by ${name}` })).to.deep.include({
        surface: SURFACES.responses.tag,
        client_wire: 'responses',
        same_wire: false,
        session_id: `by ${name}`,
      });
    expect([...at.surfaces]).to.deep.equal(['responses.translated']);
  });

  it('is named by the headers that the documentation lists, in their order', async () => {
    for (const page of ['docs/reference/ingress.md', 'docs/admin.md']) {
      const text = await readFile(new URL(`../../${page}`, import.meta.url), 'utf8');
      const [, list = ''] = /first of ((?:`[\w-]+`(?:,| and)?\s+)+)that is not empty/.exec(text) ?? [];
      expect(
        list.match(/[\w-]+(?=`)/g)?.map((name) => name.toLowerCase()),
        page,
      ).to.deep.equal([...SESSION_HEADERS]);
    }
  });

  it('is that of the first header that is not empty', async () => {
    const at = await scene();
    const [chat] = ASKING.filter(({ path }) => path === '/v1/chat/completions') as [Operation];
    const headers = everyHeader('it');
    for (const name of SESSION_HEADERS) {
      expect((await rowOf(at, chat, headers)).session_id).to.equal(`it of ${name}`);
      headers[name] = '';
    }
    expect((await rowOf(at, chat, headers)).session_id).to.equal(undefined);
  });
});

describe('rows of the Responses API', () => {
  const OF_RESPONSES = ASKING.filter(({ path }) => path.startsWith('/v1/responses'));

  it('say that the client speaks it, also where it is forwarded by its id', async () => {
    expect(OF_RESPONSES.length).to.be.above(5);
    const at = await scene();
    for (const route of OF_RESPONSES)
      expect(await rowOf(at, route, { session_id: 'codex' }), `${route.method} ${route.path}`).to.deep.include({
        surface: SURFACES.responses.tag,
        client_wire: 'responses',
        same_wire: true,
        session_id: 'codex',
        upstream_request_id: 'req_vendor',
      });
    const lines = at.host.lines.filter(({ msg }) => msg === 'pass-through request completed');
    expect(lines).to.have.length(OF_RESPONSES.length);
    for (const line of lines)
      expect(line).to.include({ surface: 'responses', client_wire: 'responses', same_wire: true, session_id: 'codex' });
  });

  it('say so of a request that a guardrail refused', async () => {
    const filter = { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['hi'] } };
    expect(await rowOf(await scene('native', [filter]), CREATE, { session_id: 'codex' })).to.deep.include({
      stage: 'on_error',
      surface: SURFACES.responses.tag,
      client_wire: 'responses',
      same_wire: true,
      session_id: 'codex',
    });
  });

  it('alone say a wire: other paths of the common wire, and what is passed through, have none', async () => {
    const at = await scene();
    for (const route of ASKING.filter(({ path }) => /^\/v1\/(?!responses|messages|models)/.test(path))) {
      const { client_wire: wire, same_wire: isSame } = await rowOf(at, route, { session_id: 's' });
      expect([wire, isSame], route.path).to.deep.equal([undefined, undefined]);
    }
  }).timeout(60_000);
});
