import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
  ThinkingLevel,
  Type,
} from '@google/genai';
import { expect } from 'chai';
import { eventually } from '../kit/holdings.ts';
import {
  forSuite,
  type GatewayProcess,
  openSse,
  replyJson,
  type SeenRequest,
  sseEvent,
  startGateway,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

const CALL = { place: 'Grüße', n: 12 };
const SIGNED = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };

function gemini(isStream: boolean, response: ServerResponse): void {
  const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, thoughtsTokenCount: 2, totalTokenCount: 21 };
  const parts = [
    { text: 'hm', thought: true },
    { text: 'Grüße zurück' },
    { functionCall: { id: 'call_1', name: 'tide', args: CALL }, thoughtSignature: 'Z2VtaW5p' },
  ];
  const of = (some: readonly object[], more: object = {}): object => ({
    candidates: [{ index: 0, content: { role: 'model', parts: some }, ...more }],
    usageMetadata,
    modelVersion: 'g',
  });
  if (!isStream) return replyJson(response, 200, of(parts, { finishReason: 'STOP' }));
  openSse(response);
  response.end(
    parts
      .map((part, at) => `data: ${JSON.stringify(of([part], at === 2 ? { finishReason: 'STOP' } : {}))}\r\n\r\n`)
      .join(''),
  );
}

function common(body: Record<string, unknown>, response: ServerResponse): void {
  const head = { id: 'c', object: 'chat.completion', created: 1, model: 'up' };
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 9,
    total_tokens: 21,
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const call = (text: string): object => ({
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'tide', arguments: text },
  });
  if (body['stream'] !== true)
    return replyJson(response, 200, {
      ...head,
      usage,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Grüße zurück',
            reasoning_content: 'hm',
            tool_calls: [call(JSON.stringify(CALL))],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  openSse(response);
  for (const delta of [
    { reasoning_content: 'h' },
    { reasoning_content: 'm' },
    { content: 'Grüße ' },
    { content: 'zurück' },
    { tool_calls: [call('')] },
    ...Array.from(JSON.stringify(CALL), (piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  ]) {
    response.write(
      sseEvent({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] }),
    );
  }
  response.end(
    `${sseEvent({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}${sseEvent({ ...head, choices: [], usage })}data: [DONE]\n\n`,
  );
}

interface Event {
  readonly type: string;
  readonly [name: string]: unknown;
}

function anthropic(body: Record<string, unknown>, response: ServerResponse): void {
  const message = { id: 'msg', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null };
  const call = { type: 'tool_use', id: 'call_1', name: 'tide' };
  if (body['stream'] !== true)
    return replyJson(response, 200, {
      ...message,
      content: [SIGNED, { type: 'text', text: 'Grüße zurück' }, { ...call, input: CALL }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 12, output_tokens: 9 },
    });
  const delta = (index: number, of: object): Event => ({ type: 'content_block_delta', index, delta: of });
  const events: readonly Event[] = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 12, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    delta(1, { type: 'text_delta', text: 'Grüße ' }),
    delta(1, { type: 'text_delta', text: 'zurück' }),
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { ...call, input: {} } },
    ...Array.from(JSON.stringify(CALL), (piece) => delta(2, { type: 'input_json_delta', partial_json: piece })),
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  openSse(response);
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

const VECTORS = {
  gemini: { embeddings: [{ values: [0.25, 0.5] }, { values: [0.75, 1] }] },
  common: {
    object: 'list',
    model: 'up',
    data: [
      [0.25, 0.5],
      [0.75, 1],
    ].map((embedding, index) => ({ object: 'embedding', index, embedding })),
    usage: { prompt_tokens: 2, total_tokens: 2 },
  },
};

interface Setting {
  readonly gateway: GatewayProcess;
  readonly upstream: StubUpstream;
  readonly ai: GoogleGenAI;
}

/** A real gateway before one server that plays all three vendors. */
async function start(): Promise<Setting> {
  const upstream = await stubUpstream((request: SeenRequest, response) => {
    const { url, text } = request;
    if (text.includes('hang')) return; // never answered
    const [, status] = /fail with (\d+)/.exec(text) ?? [];
    if (status !== undefined)
      replyJson(response, Number(status), {
        error: { code: Number(status), message: 'the vendor says no', status: 'X' },
      });
    else if (url.includes(':countTokens')) replyJson(response, 200, { totalTokens: 77 });
    else if (url.includes(':batchEmbedContents')) replyJson(response, 200, VECTORS.gemini);
    else if (url.endsWith('/embeddings')) replyJson(response, 200, VECTORS.common);
    else if (url.includes('/messages')) anthropic(request.json(), response);
    else if (url.includes('/chat/completions')) common(request.json(), response);
    else gemini(url.includes('stream'), response);
  });
  const folder = await temporaryFolder();
  const file = join(folder, 'gw.yaml');
  await writeFile(
    file,
    'strategy: {mode: fallback}\naliases: {short: gpt-x}\ntargets:\n  - {virtual_key: gemini, models: [gemini-x]}\n  - {virtual_key: openai, models: [gpt-x, o4-mini], chat_via: chat}\n  - {virtual_key: anthropic, models: [claude-sonnet-4-5]}\n',
  );
  const gateway = await startGateway({
    cwd: folder,
    variables: {
      GATEWAY_CONFIG: file,
      ANTHROPIC_API_KEY: 'vendor-1',
      ANTHROPIC_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'vendor-2',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      GEMINI_API_KEY: 'vendor-3',
      GEMINI_BASE_URL: `${upstream.url}/v1beta`,
    },
  });
  return { gateway, upstream, ai: clientOf(gateway) };
}

function clientOf({ url, key }: Pick<GatewayProcess, 'url' | 'key'>): GoogleGenAI {
  return new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });
}

const CONTENTS: Content[] = [
  { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] },
];
const CONFIG = {
  systemInstruction: 'be brief',
  maxOutputTokens: 4000,
  thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW },
  tools: [
    {
      functionDeclarations: [
        {
          name: 'tide',
          description: 'the tide',
          parameters: { type: Type.OBJECT, properties: { place: { type: Type.STRING } } },
        },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
};

const partsOf = ({ candidates }: GenerateContentResponse): Part[] => candidates?.[0]?.content?.parts ?? [];

/** What a client shows of an answer, whole or in pieces. */
function shown(responses: readonly GenerateContentResponse[]): object {
  const parts = responses.flatMap(partsOf);
  const said = (isThought: boolean): string =>
    parts
      .filter(({ thought, functionCall }) => functionCall === undefined && (thought ?? false) === isThought)
      .map(({ text }) => text ?? '')
      .join('');
  const last = responses.at(-1);
  return {
    thoughts: said(true),
    text: said(false),
    calls: parts.flatMap(({ functionCall }) => functionCall ?? []),
    finish: responses.flatMap(({ candidates }) => candidates?.[0]?.finishReason ?? []),
    usage: JSON.parse(JSON.stringify(last?.usageMetadata)) as object,
  };
}

describe('the SDK of the Gemini API', () => {
  const setting = forSuite(start);
  const thrown = (asking: Promise<unknown>): Promise<unknown> =>
    asking.then(
      () => undefined,
      (error: unknown) => error,
    );

  for (const model of ['gemini-x', 'gpt-x', 'claude-sonnet-4-5']) {
    const asking = { model, contents: CONTENTS, config: CONFIG };

    it(`asks ${model} for a whole answer`, async () => {
      const answer = await setting().ai.models.generateContent(asking);
      const counted =
        model === 'claude-sonnet-4-5'
          ? { candidatesTokenCount: 9 }
          : { candidatesTokenCount: 7, thoughtsTokenCount: 2 };
      expect(shown([answer])).to.deep.equal({
        thoughts: 'hm',
        text: 'Grüße zurück',
        calls: [{ id: 'call_1', name: 'tide', args: CALL }],
        finish: ['STOP'],
        usage: { promptTokenCount: 12, ...counted, totalTokenCount: 21 },
      });
      expect(answer.modelVersion).to.equal(model === 'gemini-x' ? 'g' : model);
    });

    it(`puts the stream of ${model} together as the whole answer`, async () => {
      const whole = await setting().ai.models.generateContent(asking);
      const pieces = await Array.fromAsync(await setting().ai.models.generateContentStream(asking));
      expect(pieces.length).to.be.greaterThan(2);
      expect(shown(pieces)).to.deep.equal(shown([whole]));
    });

    it(`gives the answer of ${model} back with the result of its function`, async () => {
      for (const isStream of [false, true]) {
        const answers = isStream
          ? await Array.fromAsync(await setting().ai.models.generateContentStream(asking))
          : [await setting().ai.models.generateContent(asking)];
        const turns = answers.map((answer): Content => ({ role: 'model', parts: partsOf(answer) }));
        setting().upstream.seen.length = 0;
        await setting().ai.models.generateContent({
          ...asking,
          contents: [
            ...CONTENTS,
            ...turns,
            {
              role: 'user',
              parts: [{ functionResponse: { id: 'call_1', name: 'tide', response: { output: 'high' } } }],
            },
          ],
        });
        const sent = setting().upstream.seen[0]?.json() as Record<string, any>;
        if (model === 'gemini-x') expect(JSON.stringify(sent)).to.include('"thoughtSignature":"Z2VtaW5p"');
        if (model === 'gpt-x')
          expect(sent['messages'].slice(2)).to.deep.equal([
            {
              role: 'assistant',
              content: 'Grüße zurück',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'tide', arguments: JSON.stringify(CALL) } },
              ],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'high' },
          ]);
        if (model === 'claude-sonnet-4-5')
          expect(sent['messages'][1].content[0], `stream: ${isStream}`).to.deep.equal(SIGNED);
      }
    });

    it(`keeps a chat with ${model}, streamed, over a call`, async () => {
      const chat = setting().ai.chats.create({ model, config: CONFIG });
      await Array.fromAsync(await chat.sendMessageStream({ message: 'hi' }));
      setting().upstream.seen.length = 0;
      await chat.sendMessage({
        message: [{ functionResponse: { id: 'call_1', name: 'tide', response: { output: 'high' } } }],
      });
      const sent = setting().upstream.seen[0]?.json() as Record<string, any>;
      if (model === 'claude-sonnet-4-5')
        expect(
          sent['messages'].map(({ role, content }: Record<string, any>) => [
            role,
            ...[content]
              .flat()
              .map((block: string | { type: string }) => (typeof block === 'string' ? 'text' : block.type)),
          ]),
        ).to.deep.equal([
          ['user', 'text'],
          ['assistant', 'thinking', 'text', 'tool_use'],
          ['user', 'tool_result'],
        ]);
      if (model === 'gpt-x')
        expect(sent['messages'].map(({ role }: Record<string, any>) => role)).to.deep.equal([
          'system',
          'user',
          'assistant',
          'tool',
        ]);
    });
  }

  it('sends its own vendor what it sends, and the gateway changes nothing but the address', async () => {
    setting().upstream.seen.length = 0;
    await setting().ai.models.generateContent({ model: 'gemini-x', contents: CONTENTS, config: CONFIG });
    const [seen] = setting().upstream.seen;
    expect(seen?.headers['x-goog-api-key']).to.equal('vendor-3');
    expect(seen?.json()).to.deep.equal({
      contents: CONTENTS,
      systemInstruction: { parts: [{ text: 'be brief' }], role: 'user' },
      tools: CONFIG.tools,
      toolConfig: CONFIG.toolConfig,
      generationConfig: { maxOutputTokens: 4000, thinkingConfig: CONFIG.thinkingConfig },
    });
  });

  it('makes vectors', async () => {
    for (const model of ['gemini-x', 'gpt-x']) {
      const { embeddings } = await setting().ai.models.embedContent({ model, contents: ['a', 'b'] });
      expect(embeddings?.map(({ values }) => values)).to.deep.equal([
        [0.25, 0.5],
        [0.75, 1],
      ]);
    }
  });

  it('counts tokens and lists models', async () => {
    expect((await setting().ai.models.countTokens({ model: 'gemini-x', contents: 'hi' })).totalTokens).to.equal(77);
    expect((await setting().ai.models.countTokens({ model: 'gpt-x', contents: 'hi' })).totalTokens).to.equal(5);
    const names: (string | undefined)[] = [];
    for await (const { name } of await setting().ai.models.list({ config: { pageSize: 7 } })) names.push(name);
    expect(names).to.include.members(['models/gemini-x', 'models/gpt-x', 'models/claude-sonnet-4-5', 'models/short']);
    expect((await setting().ai.models.get({ model: 'gpt-x' })).name).to.equal('models/gpt-x');
  });

  it('throws its error with the status', async () => {
    const failing = (words: string, model = 'gemini-x', ai = setting().ai): Promise<unknown> =>
      thrown(ai.models.generateContent({ model, contents: words }));
    for (const [words, status, model] of [
      ['fail with 400', 400, 'gemini-x'],
      ['fail with 429', 429, 'gpt-x'],
      ['fail with 500', 502, 'gemini-x'],
      ['hi', 404, 'missing'],
    ] as const) {
      expect(await failing(words, model), words)
        .to.be.instanceOf(ApiError)
        .that.includes({ status });
    }
    expect(await failing('hi', 'gemini-x', clientOf({ url: setting().gateway.url, key: 'wrong' })))
      .to.be.instanceOf(ApiError)
      .that.includes({ status: 401 });
    expect(await thrown(setting().ai.models.generateContentStream({ model: 'gpt-x', contents: 'fail with 400' })))
      .to.be.instanceOf(ApiError)
      .that.includes({ status: 400 });
  });

  it('leaves, and the upstream is let go', async () => {
    for (const model of ['gemini-x', 'gpt-x']) {
      setting().upstream.seen.length = 0;
      const abort = new AbortController();
      const running = thrown(
        setting().ai.models.generateContentStream({ model, contents: 'hang', config: { abortSignal: abort.signal } }),
      );
      const isHanging = (): boolean => setting().upstream.seen.some(({ text }) => text.includes('hang'));
      await eventually(isHanging);
      expect(isHanging()).to.equal(true);
      abort.abort();
      expect(await running)
        .to.be.instanceOf(Error)
        .that.has.property('name')
        .that.matches(/Abort/);
    }
    expect(await setting().gateway.leftover()).to.deep.equal({});
  });
});
