import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from 'anthropic-sdk-0137';
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
import { eventText, VENDOR_EVENTS, vendorMessage, type VendorEvent } from '../wires/messages-kit.ts';

/** Two majors: the newer sends its key as a bearer and says another version of the API. */
const CLIENTS = [
  ['1.12', Anthropic],
  ['0.137', AnthropicBefore as unknown as typeof Anthropic],
] as const;

const CALL = { place: 'Grüße', n: 12 };
const CALL_EVENTS: readonly VendorEvent[] = [
  ...VENDOR_EVENTS.slice(0, 10),
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'tide', input: {} },
  },
  ...Array.from(JSON.stringify(CALL), (piece) => ({
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: piece },
  })),
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

function vendor(body: Record<string, unknown>, response: ServerResponse): void {
  if (body['stream'] !== true)
    return replyJson(
      response,
      200,
      vendorMessage(
        [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'text', text: 'Grüße zurück' },
          { type: 'tool_use', id: 'toolu_1', name: 'tide', input: CALL },
        ],
        { stop_reason: 'tool_use' },
      ),
    );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(CALL_EVENTS.map(eventText).join(''));
}

const call = (text: string): object => ({
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'tide', arguments: text },
});

function common(body: Record<string, unknown>, response: ServerResponse): void {
  const head = { id: 'c', object: 'chat.completion', created: 1, model: 'up' };
  const usage = { prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 };
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

function gemini(isStream: boolean, response: ServerResponse): void {
  const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 9, totalTokenCount: 21 };
  const parts = [
    { text: 'hm', thought: true },
    { text: 'Grüße zurück' },
    { functionCall: { name: 'tide', args: CALL }, thoughtSignature: 'Z2VtaW5p' },
  ];
  const of = (some: readonly object[], more: object = {}): object => ({
    candidates: [{ index: 0, content: { role: 'model', parts: some }, ...more }],
    usageMetadata,
    modelVersion: 'g',
  });
  if (!isStream) return replyJson(response, 200, of(parts, { finishReason: 'STOP' }));
  openSse(response);
  response.end(parts.map((part, at) => sseEvent(of([part], at === 2 ? { finishReason: 'STOP' } : {}))).join(''));
}

interface Setting {
  readonly gateway: GatewayProcess;
  readonly upstream: StubUpstream;
}

/** A real gateway before one server that plays all three vendors. */
async function start(): Promise<Setting> {
  const upstream = await stubUpstream((request: SeenRequest, response) => {
    const { url } = request;
    if (request.text.includes('hang')) return; // never answered
    if (request.text.includes('fail with')) {
      const status = Number(/fail with (\d+)/.exec(request.text)?.[1]);
      replyJson(
        response,
        status,
        { type: 'error', error: { type: 'x', message: 'the vendor says no' } },
        { 'retry-after': '0' },
      );
    } else if (url.endsWith('/count_tokens')) replyJson(response, 200, { input_tokens: 77 });
    else if (url.includes('/messages')) vendor(request.json(), response);
    else if (url.includes('/chat/completions')) common(request.json(), response);
    else gemini(url.includes('stream'), response);
  });
  const folder = await temporaryFolder();
  const file = join(folder, 'gw.yaml');
  await writeFile(
    file,
    'strategy: {mode: fallback}\ntargets:\n  - {virtual_key: anthropic, models: [claude-x]}\n  - {virtual_key: openai, models: [gpt-x], chat_via: chat}\n  - {virtual_key: gemini, models: [gemini-x]}\n',
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
  return { gateway, upstream };
}

const TOOLS: Anthropic.Tool[] = [
  { name: 'tide', input_schema: { type: 'object', properties: { place: { type: 'string' } } } },
];
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } } as const;

/** Whether a signature is an envelope, which names calls by ids that each answer has of its own. */
const isEnvelope = (value: unknown): boolean =>
  typeof value === 'string' && Buffer.from(value, 'base64').toString('latin1').startsWith('gw1:');

describe('the SDK of Anthropic', () => {
  const setting = forSuite(start);

  for (const [version, Client] of CLIENTS) {
    const connect = (more: object = {}): Anthropic =>
      new Client({ apiKey: setting().gateway.key, baseURL: setting().gateway.url, maxRetries: 0, ...more });

    for (const model of ['claude-x', 'gpt-x', 'gemini-x']) {
      const asking = {
        model,
        max_tokens: 2048,
        tools: TOOLS,
        thinking: { type: 'enabled' as const, budget_tokens: 1024 },
        messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }, IMAGE] }],
      };

      it(`${version} asks ${model} for a whole message`, async () => {
        const message = await connect().messages.create(asking);
        const shown = message.content.filter((block) => block.type !== 'thinking' || block.thinking !== '');
        expect(shown.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
        expect(message.content.find(({ type }) => type === 'tool_use')).to.deep.include({ name: 'tide', input: CALL });
        expect(message.stop_reason).to.equal('tool_use');
        expect(message.usage.output_tokens).to.be.greaterThan(0);
        expect(message._request_id).to.match(/^[0-9a-f]{32}$/);
      });

      it(`${version} puts the stream of ${model} together as the whole message`, async () => {
        const whole = await connect().messages.create(asking);
        const streamed = await connect().messages.stream(asking).finalMessage();
        const plain = (content: readonly object[]): unknown =>
          JSON.parse(JSON.stringify(content), (name, value: unknown) =>
            ['citations', 'id', 'parsed_output', 'parsed'].includes(name) || isEnvelope(value) ? undefined : value,
          );
        expect(plain(streamed.content)).to.deep.equal(plain(whole.content));
        expect(streamed.stop_reason).to.equal(whole.stop_reason);
      });

      it(`${version} gives the answer of ${model} back with the result of its tool`, async () => {
        const { content } = await connect().messages.create(asking);
        const used = content.find(({ type }) => type === 'tool_use') as Anthropic.ToolUseBlock;
        setting().upstream.seen.length = 0;
        await connect().messages.create({
          ...asking,
          messages: [
            ...asking.messages,
            { role: 'assistant', content },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: used.id, content: 'high' }] },
          ],
        });
        const sent = setting().upstream.seen[0]?.text ?? '';
        if (model === 'claude-x')
          expect(JSON.parse(sent).messages[1].content[0]).to.deep.equal({
            type: 'thinking',
            thinking: 'hm',
            signature: 'c2ln',
          });
        if (model === 'gemini-x') expect(sent).to.include('"thoughtSignature":"Z2VtaW5p"');
        if (model === 'gpt-x') expect(sent).to.include('"tool_call_id":"call_1"');
      });
    }

    it(`${version} counts tokens and lists models`, async () => {
      const messages = [{ role: 'user' as const, content: 'hi' }];
      expect((await connect().messages.countTokens({ model: 'claude-x', messages })).input_tokens).to.equal(77);
      expect((await connect().messages.countTokens({ model: 'gpt-x', messages })).input_tokens).to.equal(5);
      const ids: string[] = [];
      for await (const { id } of connect().models.list({ limit: 1 })) ids.push(id);
      expect(ids).to.include.members(['claude-x', 'gpt-x', 'gemini-x']);
      expect(await connect().models.retrieve('gpt-x')).to.include({ type: 'model', id: 'gpt-x' });
    });

    it(`${version} throws the errors of its types`, async () => {
      const failing = (words: string, client = connect()): Promise<unknown> =>
        client.messages.create({ model: 'claude-x', max_tokens: 1, messages: [{ role: 'user', content: words }] }).then(
          () => undefined,
          (error: unknown) => error,
        );
      expect(await failing('fail with 400')).to.be.instanceOf(Client.BadRequestError);
      expect(await failing('fail with 429')).to.be.instanceOf(Client.RateLimitError);
      expect(await failing('fail with 500')).to.be.instanceOf(Client.InternalServerError);
      expect(await failing('hi', connect({ apiKey: 'wrong' }))).to.be.instanceOf(Client.AuthenticationError);
      expect(
        await connect()
          .messages.create({ model: 'missing', max_tokens: 1, messages: [] })
          .catch((error: unknown) => error),
      ).to.be.instanceOf(Client.NotFoundError);
    });

    it(`${version} leaves a stream, and the upstream is let go`, async () => {
      const abort = new AbortController();
      const running = connect()
        .messages.create(
          { model: 'gpt-x', max_tokens: 1, stream: true, messages: [{ role: 'user', content: 'hang' }] },
          { signal: abort.signal },
        )
        .catch((error: unknown) => error);
      const isHanging = (): boolean => setting().upstream.seen.some(({ text }) => text.includes('hang'));
      await eventually(isHanging);
      expect(isHanging()).to.equal(true);
      abort.abort();
      expect(await running).to.be.instanceOf(Client.APIUserAbortError);
    });
  }
});
