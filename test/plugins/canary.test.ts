import { expect } from 'chai';
import { createRouter } from '../../host/http/router.ts';
import { chatChunks, openSse, replyJson, sseEvent, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { CANARY, CHAT, guard, type Json, REQUESTS } from './canary-kit.ts';

/**
 * One guardrail, every route: a text that it looks for is put into each string of each request and answer. What passes must stand in
 * the lists below, with the reason. A route that a builtin mounts and this file does not know fails the test.
 */

/** Bodies that no plugin can read are refused altogether while a guardrail reads content. */
const REFUSED: readonly string[] = ['/v1/audio/transcriptions', '/v1/audio/translations'];
/** Routes whose requests have no body, or do not call a model. */
const WITHOUT_CONTENT: readonly RegExp[] = [
  /^\/(health|livez|readyz|metrics|openapi\.json)$/,
  /^\/(admin|debug)\//,
  /^\/identity(\/|$)/,
  /^\/v1\/(models|capabilities|key)(\/|$)/,
  /^\/v1beta\/models(\/\*(id|rest))?$/,
];
/** Routes of other wires, which have a file of their own: gemini-canary.test.ts. */
const ELSEWHERE: readonly RegExp[] = [/^\/v1(beta)?\/models\/\*model/];

/** Calls of tools: test/mcp puts texts that guardrails look for into their arguments and results. */
const TOOLS = '/mcp';

/** Places whose text plugins do not read: what names the model, and what the wire defines to be an address or bytes. */
const NOT_READ: readonly RegExp[] = [/^model$/, /\.image_url\.url$/, /\.input_audio\.data$/, /\.file\.file_data$/];

/** Where only certain words are taken: another one is refused before any plugin runs. */
const CHECKED = /\.content\[\d+\]\.type$/;
const CHECKED_ROUTE = '/v1/chat/completions';

/** Code of an error, in whichever wire. */
const codeOf = (error: any): unknown => error?.code ?? error?.details?.error_code;

/** Each string of a value: where it stands, the value with another text in its place, and the string itself. */
function* variants(
  value: unknown,
  path = '',
): Generator<readonly [path: string, change: (text: string) => unknown, text: string]> {
  if (typeof value === 'string') yield [path, (text) => text, value];
  else if (Array.isArray(value))
    for (const [at, item] of value.entries())
      for (const [where, change, text] of variants(item, `${path}[${at}]`))
        yield [where, (next) => value.with(at, change(next)), text];
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      for (const [where, change, text] of variants(member, path === '' ? name : `${path}.${name}`))
        yield [where, (next) => ({ ...value, [name]: change(next) }), text];
  }
}

const escaped = (text: string): string =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const entries = (stages: readonly string[], config: object = {}): object[] =>
  stages.map((stage) => ({ name: 'canary', stage, enabled: true, config }));
let upstreamSays: (stream: boolean) => Json | readonly object[] = () => ({});
async function gateway(
  stages: readonly string[],
  config: object = {},
): Promise<{ host: TestHost; calls: () => number }> {
  const upstream = await stubUpstream((seen, response) => {
    const isStream = seen.headers['content-type']?.includes('json') === true && seen.json()['stream'] === true;
    const said = upstreamSays(isStream);
    if (!isStream) {
      replyJson(response, 200, said);
      return;
    }
    openSse(response);
    response.end([...(said as readonly object[]), '[DONE]'].map(sseEvent).join(''));
  });
  const host = await startHost(
    {
      strategy: { mode: 'single' },
      targets: [upstream.target('a', {}, { ...everySurface, passthrough: true, responses: true })],
      plugins: entries(stages, config),
    },
    { modules: [guard] },
  );
  return { host, calls: () => upstream.seen.length };
}

/** Paths of every route that builtins mount, by method. */
function routesOf({ host }: TestHost): { readonly path: string; readonly methods: readonly string[] }[] {
  const router = createRouter({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  return router.stack.flatMap(({ route }) =>
    route ? [{ path: route.path, methods: Object.keys((route as unknown as { methods: object }).methods) }] : [],
  );
}

const isElsewhere = (path: string): boolean => ELSEWHERE.some((pattern) => pattern.test(path));

describe('a canary', () => {
  it('is looked for on every route that takes content', async () => {
    const { host } = await gateway(['before_request']);
    const routes = routesOf(host);
    const known = (path: string): boolean =>
      path === TOOLS ||
      path in REQUESTS ||
      REFUSED.includes(path) ||
      WITHOUT_CONTENT.some((pattern) => pattern.test(path)) ||
      isElsewhere(path);
    expect(routes.map(({ path }) => path).filter((path) => !known(path))).to.deep.equal([]);
    const takesContent = ({ path, methods }: { readonly path: string; readonly methods: readonly string[] }): boolean =>
      methods.includes('post') && path !== TOOLS && !/^\/(admin|identity)\//.test(path);
    expect(routes.filter(takesContent).map(({ path }) => path)).to.have.members([
      ...Object.keys(REQUESTS),
      ...REFUSED,
      ...routes.map(({ path }) => path).filter(isElsewhere),
    ]);
  });

  for (const [path, body] of Object.entries(REQUESTS)) {
    it(`is blocked wherever it stands in a request: ${path}`, async () => {
      const { host, calls } = await gateway(['before_request']);
      const forms = ([place]: readonly [string, ...unknown[]]): string[] => [
        CANARY,
        `before ${CANARY} after`,
        ...(place.endsWith('.arguments') ? [`{"a":"${CANARY}"}`, `{"a":"${escaped(CANARY)}"}`] : []),
      ];
      let places = 0;
      for (const variant of variants(body)) {
        const [place, change] = variant;
        if (NOT_READ.some((pattern) => pattern.test(place))) continue;
        places += 1;
        for (const text of forms(variant)) {
          const answer = await host.post(path, change(text));
          const { error } = answer.json();
          const code = codeOf(error);
          const { message } = error ?? {};
          if (path === CHECKED_ROUTE && CHECKED.test(place))
            expect([answer.status, code], place).to.deep.equal([400, 'invalid_request']);
          else
            expect([answer.status, code, message], `${place}: ${text}`).to.deep.equal([
              400,
              'request_rejected',
              'request rejected by canary (before_request): canary',
            ]);
        }
        const asEscapes = JSON.stringify(change(CANARY)).replaceAll(JSON.stringify(CANARY), `"${escaped(CANARY)}"`);
        expect((await host.post(path, asEscapes)).status, `${place}, escaped`).to.equal(400);
      }
      expect([calls(), places > 0]).to.deep.equal([0, true]);
    });
  }

  it('is blocked where two parts of a message hold a half each', async () => {
    const { host } = await gateway(['before_request']);
    const parts = [CANARY.slice(0, 5), CANARY.slice(5)].map((text) => ({ type: 'text', text }));
    expect(
      (await host.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: parts }] })).status,
    ).to.equal(400);
  });

  it('is blocked in the names of members that are written for a tool', async () => {
    const { host, calls } = await gateway(['before_request']);
    const input = { list: [{ [CANARY]: 1 }] };
    for (const [path, message] of [
      ['/v1/messages', { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input }] }],
      [
        '/v1/chat/completions',
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(input) } }],
        },
      ],
    ] as const) {
      const answer = await host.post(path, {
        model: 'm',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'x' }, message, { role: 'user', content: 'y' }],
      });
      expect(answer.text, path).to.include('canary (before_request): canary');
    }
    for (const content of [
      { role: 'model', parts: [{ functionCall: { name: 'f', args: input } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: input } }] },
    ]) {
      expect(
        (
          await host.post('/v1beta/models/m:generateContent', {
            contents: [{ role: 'user', parts: [{ text: 'x' }] }, content],
          })
        ).text,
      ).to.include('canary (before_request): canary');
    }
    expect(calls()).to.equal(0);
  });

  it('is blocked in a file that holds text', async () => {
    const { host, calls } = await gateway(['before_request']);
    const data = Buffer.from(CANARY).toString('base64');
    for (const [path, part] of [
      [
        '/v1/chat/completions',
        { type: 'file', file: { file_data: `data:text/plain;base64,${data}`, filename: 'a.txt' } },
      ],
      ['/v1/chat/completions', { type: 'file', file: { file_data: data, filename: 'a.txt' } }],
      ['/v1/messages', { type: 'document', source: { type: 'base64', media_type: 'text/plain', data } }],
      [
        '/v1/messages',
        {
          type: 'document',
          source: { type: 'base64', media_type: 'text/plain', data: data.replaceAll(/.{4}/g, '$&\n') },
        },
      ],
      ['/v1/messages', { type: 'document', source: { type: 'url', url: `data:text/plain;base64,${data}` } }],
    ] as const) {
      expect(
        (await host.post(path, { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: [part] }] })).text,
        JSON.stringify(part),
      ).to.include('canary (before_request): canary');
    }
    for (const [mimeType, bytes] of [
      ['text/plain; charset=utf-8', data],
      ['text/plain', ` ${data}`],
    ] as const) {
      expect(
        (
          await host.post('/v1beta/models/m:generateContent', {
            contents: [{ role: 'user', parts: [{ inlineData: { mimeType, data: bytes } }] }],
          })
        ).text,
        mimeType,
      ).to.include('canary (before_request): canary');
    }
    expect(calls()).to.equal(0);
  });

  for (const path of REFUSED) {
    it(`cannot be looked for: ${path} is refused`, async () => {
      const { host, calls } = await gateway(['before_request']);
      const form =
        '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n';
      const answer = await host.post(path, form, { 'content-type': 'multipart/form-data; boundary=b' });
      expect([answer.status, answer.json().error.code, calls()]).to.deep.equal([400, 'request_rejected', 0]);
    });
  }

  const MESSAGE: Json = {
    role: 'assistant',
    content: 'text',
    reasoning_content: 'text',
    refusal: 'text',
    reasoning_details: [{ type: 'reasoning.text', text: 'text' }],
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"text"}' } }],
    annotations: [{ type: 'url_citation', url_citation: { title: 'text', url: 'https://h/' } }],
  };

  it('is blocked wherever it stands in an answer', async () => {
    const { host } = await gateway(['after_request']);
    for (const [place, change] of variants(MESSAGE)) {
      for (const text of [CANARY, ...(place.endsWith('.arguments') ? [`{"a":"${escaped(CANARY)}"}`] : [])]) {
        upstreamSays = () => ({
          id: 'x',
          object: 'chat.completion',
          choices: [
            { index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' },
            { index: 1, message: change(text), finish_reason: 'stop' },
          ],
        });
        for (const [path, body] of [
          ['/v1/chat/completions', CHAT],
          ['/v1/completions', REQUESTS['/v1/completions']],
        ] as const) {
          const answer = await host.post(path, body);
          expect([answer.status, answer.json().error?.code], `${path} ${place}: ${text}`).to.deep.equal([
            502,
            'response_rejected',
          ]);
          expect(answer.text).to.not.include('canary sings');
        }
      }
    }
  });

  it('is blocked beside the message and beside the choices of an answer', async () => {
    const { host } = await gateway(['after_request']);
    const beside: readonly (readonly [string, object, object])[] = [
      ['search results', {}, { search_results: [{ title: CANARY }] }],
      ['forwarded', {}, { deep: { list: [`a ${CANARY}`] } }],
      ['tier', {}, { service_tier: CANARY }],
      ['choice', { extra: { note: CANARY } }, {}],
    ];
    for (const [place, choice, reply] of beside) {
      upstreamSays = () => ({
        id: 'x',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop', ...choice }],
        ...reply,
      });
      expect((await host.post('/v1/chat/completions', CHAT)).json().error?.code, place).to.equal('response_rejected');
    }
  });

  it('is blocked beside the message and beside the choices of a stream', async () => {
    const beside: readonly (readonly [string, (text: string) => object])[] = [
      [
        'search results',
        (title) => ({
          choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }],
          search_results: [{ title }],
        }),
      ],
      [
        'usage',
        (note) => ({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }, odd: { note } }),
      ],
      ['choice', (note) => ({ choices: [{ index: 0, delta: { content: 'x' }, extra: [note], finish_reason: null }] })],
      ['delta', (note) => ({ choices: [{ index: 0, delta: { annotations: [{ note }] }, finish_reason: null }] })],
    ];
    for (const stream of ['end', 'window']) {
      const { host } = await gateway(['after_request'], { stream });
      for (const [place, toChunk] of beside) {
        const [head, text, ...tail] = chatChunks(['fine']) as [object, object, ...object[]];
        upstreamSays = () => [head, text, { id: 'x', ...toChunk(CANARY) }, { id: 'x', ...toChunk('') }, ...tail];
        const answer = await host.post('/v1/chat/completions', { ...CHAT, stream: true });
        if (stream === 'end') expect(answer.events().at(-1).error, place).to.include({ code: 'stream_error' });
        else expect([answer.text.includes('canary'), answer.events().at(-1)], place).to.deep.equal([false, '[DONE]']);
      }
    }
  });

  it('is blocked in every text of a stream, wherever it is cut, and with stream: window no part of it arrives', async () => {
    const fields: readonly (readonly [string, (piece: string) => object])[] = [
      ['content', (content) => ({ content })],
      ['reasoning', (reasoning_content) => ({ reasoning_content })],
      ['refusal', (refusal) => ({ refusal })],
      ['details', (text) => ({ reasoning_details: [{ index: 0, type: 'reasoning.text', text }] })],
      ['arguments', (piece) => ({ tool_calls: [{ index: 0, id: 'c', function: { name: 'tide', arguments: piece } }] })],
    ];
    for (const stream of ['end', 'window']) {
      const { host } = await gateway(['after_request'], { stream });
      for (const [field, toDelta] of fields) {
        for (let size = 1; size <= CANARY.length; size += 3) {
          const text = `<${CANARY}>`;
          const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
            text.slice(at * size, (at + 1) * size),
          );
          const [head, , ...tail] = chatChunks(['']) as [object, object, ...object[]];
          upstreamSays = () => [
            head,
            ...pieces.map((piece) => ({
              id: 'x',
              choices: [{ index: 0, delta: toDelta(piece), finish_reason: null }],
            })),
            ...tail,
          ];
          const answer = await host.post('/v1/chat/completions', { ...CHAT, stream: true });
          const events = answer.events();
          expect(events.at(-1).error, `${stream} ${field} ${size}`).to.include({
            code: 'stream_error',
            message: 'response rejected by canary (after_request): canary',
          });
          const strings = events.slice(0, -1).flatMap((event) => [...variants(event.choices[0]?.delta ?? {})]);
          const delivered = strings
            .filter(([place]) => /(content|refusal|text|arguments)$/.test(place))
            .map(([, , piece]) => piece)
            .join('');
          expect(delivered.includes('the c'), `${stream} ${field} ${size}`).to.equal(stream === 'end');
        }
      }
    }
  });
});
