import { expect } from 'chai';
import { ApiClient } from '../../../builtins/dashboard/app/src/api/client.ts';
import type { Model } from '../../../builtins/dashboard/app/src/api/wire.ts';
import { chartPoints } from '../../../builtins/dashboard/app/src/charts/series.ts';
import { EventReader } from '../../../builtins/dashboard/app/src/lib/sse.ts';
import { attributionOf, readCost } from '../../../builtins/dashboard/app/src/pages/playground/attribution.ts';
import { chat } from '../../../builtins/dashboard/app/src/pages/playground/chat/chat-call.ts';
import { unsupportedParameters } from '../../../builtins/dashboard/app/src/pages/playground/chat/unsupported.ts';
import { imagesOf } from '../../../builtins/dashboard/app/src/pages/playground/images.ts';
import { chosenModel, modelGroups } from '../../../builtins/dashboard/app/src/pages/playground/models.ts';
import { enabledState, groupPlugins } from '../../../builtins/dashboard/app/src/pages/plugins/groups.ts';
import { providersOf, sortProviders } from '../../../builtins/dashboard/app/src/pages/providers/provider-states.ts';
import { SessionStore } from '../../../builtins/dashboard/app/src/session/session-store.ts';

const NOTHING_KEPT = { read: () => null, write: () => undefined, keys: () => [] };

function apiOf(...answers: readonly (() => Response)[]): ApiClient {
  const left = [...answers];
  return new ApiClient({
    base: '',
    pageOrigin: '',
    session: new SessionStore(NOTHING_KEPT, NOTHING_KEPT),
    fetch: async () => left.shift()?.() ?? Response.error(),
  });
}

const settings = { isStreaming: true, temperature: 0.7, maxTokens: 1024, system: '' };
const stream =
  (...texts: readonly string[]) =>
  (): Response =>
    new Response(texts.join(''), {
      headers: { 'Content-Type': 'text/event-stream', 'X-Gateway-Provider': 'acme', 'X-Request-ID': 'f00' },
    });
const chunk = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const ask = (api: ApiClient, isStreaming = true, seen: string[] = []) =>
  chat(api, {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    settings: { ...settings, isStreaming },
    signal: new AbortController().signal,
    onProgress: ({ text }) => seen.push(text),
  });

describe('events of a stream', () => {
  it('are the same however the text is cut', () => {
    const text =
      'data: one\n\n: comment\r\ndata:two\r\ndata: lines\r\n\r\nevent: x\n\ndata: {"a":"\u00fc"}\n\ndata: unfinished';
    for (let size = 1; size <= text.length; size++) {
      const reader = new EventReader();
      const events: string[] = [];
      for (let at = 0; at < text.length; at += size)
        for (const event of reader.push(text.slice(at, at + size))) events.push(event);
      expect(events, `pieces of ${size}`).to.deep.equal(['one', 'two\nlines', '{"a":"\u00fc"}']);
    }
  });
});

describe('a chat of the playground', () => {
  it('grows with its stream, and takes usage and attribution with it', async () => {
    const seen: string[] = [];
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const answer = await ask(
      apiOf(stream(chunk('Hel'), chunk('lo'), `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`)),
      true,
      seen,
    );
    expect([answer.text, answer.usage, answer.attribution.provider, answer.attribution.requestId]).to.deep.equal([
      'Hello',
      usage,
      'acme',
      'f00',
    ]);
    expect(seen[0]).to.equal('');
  });

  it('fails with the message of an error event, and where its end is missing', async () => {
    const failure = async (...texts: string[]): Promise<string> =>
      ask(apiOf(stream(...texts))).then(
        () => 'it went well',
        (error: Error) => error.message,
      );
    expect(
      await failure(
        chunk('Hel'),
        'data: {"error":{"message":"it broke","type":"stream_error","code":"stream_error"}}\n\n',
      ),
    ).to.equal('it broke');
    expect(await failure(chunk('Hel'))).to.equal('The stream ended before the answer was complete.');
  });

  it('shows a whole answer, and the calls of tools as text', async () => {
    const reply = (message: object) => () =>
      new Response(JSON.stringify({ provider: 'acme', choices: [{ message }], usage: { total_tokens: 1 } }), {
        headers: { 'Content-Type': 'application/json' },
      });
    const whole = await ask(apiOf(reply({ content: 'Hello' })), false);
    expect([whole.text, whole.attribution.provider, whole.usage]).to.deep.equal(['Hello', 'acme', { total_tokens: 1 }]);
    expect(
      (
        await ask(
          apiOf(reply({ content: null, tool_calls: [{ function: { name: 'find', arguments: '{"a":1}' } }] })),
          false,
        )
      ).text,
    ).to.equal('find{"a":1}');
    expect(
      await ask(
        apiOf(() => new Response('[]')),
        false,
      ).then(
        () => '',
        (error: Error) => error.message,
      ),
    ).to.match(/not a chat completion/);
  });

  it('warns of what the provider does not take', () => {
    const models: Model[] = [{ id: 'm', owned_by: 'acme' }];
    const capabilities = { providers: { acme: { temperature: 'unsupported', max_tokens: 'translate' } } };
    expect(unsupportedParameters(models, 'm', capabilities)).to.deep.equal({
      provider: 'acme',
      parameters: ['temperature'],
    });
    expect(unsupportedParameters(models, 'other', capabilities).parameters).to.deep.equal([]);
    expect(unsupportedParameters(models, 'm', undefined).parameters).to.deep.equal([]);
  });

  it('reads who served it from the headers', () => {
    const headers = new Headers({
      'X-Gateway-Provider': 'acme',
      'X-Gateway-Model': 'm-1',
      'X-Gateway-Upstream-Model': 'm-1-2026',
      'X-Gateway-Attempts': '2',
    });
    expect(attributionOf(headers)).to.deep.include({
      provider: 'acme',
      model: 'm-1-2026',
      attempts: 2,
      overheadMs: undefined,
      requestId: undefined,
    });
  });

  it('finds what it cost in its log row', async () => {
    const cost = (...rows: readonly object[]) =>
      readCost(
        apiOf(() => new Response(JSON.stringify({ data: rows }))),
        'f00',
        0,
        new AbortController().signal,
      );
    expect(await cost({ trace_id: 'other', cost_usd: 9 }, { trace_id: 'f00', cost_usd: 0.5 })).to.deep.equal({
      usd: 0.5,
    });
    expect(await cost({ trace_id: 'f00', cost_usd: null })).to.equal('unpriced');
    expect(
      await readCost(
        apiOf(() => new Response('{}', { status: 501 })),
        'f00',
        0,
        new AbortController().signal,
      ),
    ).to.equal('unrecorded');
  });
});

describe('models of the playground', () => {
  const models: Model[] = [
    { id: 'a', owned_by: 'one', mode: 'chat' },
    { id: 'b', owned_by: 'two', mode: 'embedding' },
    { id: 'c', owned_by: 'two' },
    { id: 'a', owned_by: 'two', mode: 'chat' },
    { id: 'd', owned_by: 'one', mode: 'chat', deprecated: true },
    { id: 'e', owned_by: 'one', mode: 'chat', status: 'deprecated' },
    { id: 'f', owned_by: 'one', mode: 'image' },
  ];

  it('are offered once, by owner and use; one of an unknown kind for every use', () => {
    expect(modelGroups(models, 'chat')).to.deep.equal([
      { owner: 'one', ids: ['a'] },
      { owner: 'two', ids: ['c'] },
    ]);
    expect(modelGroups(models, 'embedding')).to.deep.equal([{ owner: 'two', ids: ['b', 'c'] }]);
    expect(modelGroups(models, 'image')).to.deep.equal([
      { owner: 'two', ids: ['c'] },
      { owner: 'one', ids: ['f'] },
    ]);
  });

  it('begin with the one that was asked for', () => {
    const groups = modelGroups(models, 'chat');
    expect([chosenModel(groups, null), chosenModel(groups, 'x'), chosenModel([], null)]).to.deep.equal(['a', 'x', '']);
  });
});

describe('images of the playground', () => {
  it('are shown when they came along, and linked when they lie elsewhere on the web', () => {
    expect(
      imagesOf([
        { b64_json: 'iVBORw0KGgo=', revised_prompt: 'a cat' },
        { url: 'https://files.example/1.png' },
        { b64_json: '/9j/4AAQ' },
      ]),
    ).to.deep.equal([
      { source: 'data:image/png;base64,iVBORw0KGgo=', link: undefined, revisedPrompt: 'a cat' },
      { source: undefined, link: 'https://files.example/1.png', revisedPrompt: undefined },
      { source: 'data:image/jpeg;base64,/9j/4AAQ', link: undefined, revisedPrompt: undefined },
    ]);
    expect(
      imagesOf([{ url: 'javascript:alert(1)' }, { url: 'data:text/html,x' }, { b64_json: '"><script>' }, 7, null]),
    ).to.deep.equal([]);
    expect(imagesOf(undefined)).to.deep.equal([]);
  });
});

describe('providers of the dashboard', () => {
  const catalog = {
    providers: ['ready', 'open', 'half', 'down', 'lone', 'none'].map((id) => ({
      id,
      registered: id !== 'none' && id !== 'down',
      catalog_models: 4,
    })),
  };
  const circuit = (name: string, state: 'closed' | 'open' | 'half-open') =>
    ({ name, status: 'available', circuit: state, models: 7 }) as const;
  const providers = providersOf({
    catalog,
    models: [{ id: 'm', owned_by: 'ready', deprecated: true }],
    listed: [
      {
        name: 'ready',
        models: [
          { id: 'm', owned_by: 'ready' },
          { id: 'n', owned_by: 'ready' },
        ],
      },
    ],
    deep: {
      status: 'degraded',
      components: [],
      providers: [{ name: 'down', status: 'unavailable', models: 0, message: 'DOWN_KEY is not set' }],
    },
    health: {
      status: 'ok',
      providers: [
        circuit('ready', 'closed'),
        circuit('open', 'open'),
        circuit('half', 'half-open'),
        circuit('extra', 'closed'),
      ],
    },
  });

  it('are in the state that the gateway says, those of modules too', () => {
    expect(Object.fromEntries(providers.map(({ name, state }) => [name, state]))).to.deep.equal({
      ready: 'connected',
      open: 'open',
      half: 'recovering',
      down: 'unavailable',
      lone: 'registered',
      none: 'absent',
      extra: 'connected',
    });
    const byName = new Map(providers.map((provider) => [provider.name, provider]));
    expect([
      byName.get('down')?.message,
      byName.get('none')?.modelCount,
      byName.get('ready')?.modelCount,
    ]).to.deep.equal(['DOWN_KEY is not set', 4, 7]);
    expect(byName.get('ready')?.models).to.deep.equal([
      { id: 'm', owned_by: 'ready', deprecated: true },
      { id: 'n', owned_by: 'ready' },
    ]);
  });

  it('are sorted by what needs a look first, by name or by models', () => {
    expect(sortProviders(providers, 'state').map(({ name }) => name)).to.deep.equal([
      'down',
      'open',
      'half',
      'extra',
      'ready',
      'lone',
      'none',
    ]);
    expect(sortProviders(providers, 'name')[0]?.name).to.equal('down');
    expect(sortProviders(providers, 'models').map(({ modelCount }) => modelCount)).to.deep.equal([7, 7, 7, 7, 4, 4, 0]);
  });
});

describe('plugins of the dashboard', () => {
  const entry = (name: string, stage: string, enabled: boolean, config: Record<string, unknown> = {}) => ({
    name,
    stage,
    enabled,
    config,
  });

  it('are one group for each name, with what the catalogue knows and what is withheld', () => {
    const catalog = {
      data: [{ name: 'budget', type: 'ratelimit', summary: 's', settings: ['spend_limit_usd'], fails_open: false }],
    };
    const groups = groupPlugins(
      [
        entry('budget', 'before_request', true, { spend_limit_usd: 5, '[REDACTED_KEY_0]': '[REDACTED]' }),
        entry('mine', 'on_error', false),
        entry('budget', 'after_request', true),
      ],
      catalog,
    );
    expect(groups.map(({ name, type, entries }) => [name, type, entries.length])).to.deep.equal([
      ['budget', 'ratelimit', 2],
      ['mine', '', 1],
    ]);
    expect(groups[0]?.settings.map(({ name, value, isRedacted }) => [name, value, isRedacted])).to.deep.equal([
      ['spend_limit_usd', '5', false],
      ['[REDACTED_KEY_0]', '[REDACTED]', true],
    ]);
  });

  it('are enabled, partly or not at all', () => {
    const state = (...flags: boolean[]): string => enabledState(flags.map((enabled) => entry('a', 's', enabled))).name;
    expect([state(true, true), state(true, false), state(false)]).to.deep.equal([
      'Enabled',
      'Partly enabled',
      'Disabled',
    ]);
  });
});

describe('points of a chart', () => {
  it('have a dash for a moment that is not one', () => {
    const points = ['soon', '2026-01-01T00:00:00Z', null].map((start) => ({
      start: start as string,
      requests: 3,
      errors: 1,
      prompt_tokens: 5,
      completion_tokens: 6,
    }));
    expect(chartPoints(points).map(({ label }) => label)).to.deep.equal([
      '–',
      chartPoints(points.slice(1, 2))[0]?.label,
      '–',
    ]);
  });

  it('count what was answered, and name the day of a window that is longer than one', () => {
    const at = (start: string) => ({ start, requests: 3, errors: 1, prompt_tokens: 5, completion_tokens: 6 });
    expect(chartPoints([at('2026-01-01T00:00:00Z')])[0]).to.deep.include({ ok: 2, failed: 1, input: 5, output: 6 });
    expect(chartPoints([at('2026-01-01T00:00:00Z'), at('2026-01-01T12:00:00Z')])[0]?.label).to.match(/^\d\d:\d\d$/);
    expect(chartPoints([at('2026-01-01T00:00:00Z'), at('2026-01-05T00:00:00Z')])[0]?.label).to.match(/Jan/);
  });
});
