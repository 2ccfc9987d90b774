import { HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { MASTER_KEY, openSse, replyJson, sseBytes, startHost, type StubHandler, stubUpstream } from '../kit/index.ts';

type Turn = Readonly<Record<string, any>>;

/** A vendor that wants thoughts of earlier turns back, at its own API or at a host of its models. */
interface Vendor {
  readonly provider: string;
  readonly variable: string;
  readonly model: string;
  /** What the vendor refuses of an earlier turn; `undefined` where it takes it. */
  readonly refuses: (turn: Turn) => string | undefined;
  readonly thought: (text: string) => object;
}

const inText = (text: string): object => ({ reasoning_content: text });
const ofEveryTurn = ({ reasoning_content: text }: Turn): string | undefined =>
  typeof text === 'string' ? undefined : 'The `reasoning_content` in the thinking mode must be passed back to the API.';
const ofCalls = ({ tool_calls: calls, reasoning_content: text }: Turn): string | undefined =>
  !calls || typeof text === 'string' ? undefined : 'reasoning_content is missing in assistant tool call message';

/** Sources: GitHub openclaw/openclaw issue 73417, earendil-works/pi issue 987; platform.minimax.io, "Tool use and interleaved thinking"; 2026-11-27. */
const VENDORS: Readonly<Record<string, Vendor>> = {
  'DeepSeek V4': {
    provider: 'deepseek',
    variable: 'DEEPSEEK',
    model: 'deepseek-v4',
    refuses: ofEveryTurn,
    thought: inText,
  },
  'DeepSeek V4 at a host': {
    provider: 'together',
    variable: 'TOGETHER',
    model: 'deepseek-ai/DeepSeek-V4',
    refuses: ofEveryTurn,
    thought: inText,
  },
  Kimi: { provider: 'moonshot', variable: 'MOONSHOT', model: 'kimi-k2.6', refuses: ofCalls, thought: inText },
  'DeepSeek V4 through OpenRouter': {
    provider: 'openrouter',
    variable: 'OPENROUTER',
    model: 'deepseek/deepseek-v4',
    refuses: ({ reasoning: text, reasoning_details: details }) =>
      typeof text === 'string' || Array.isArray(details) ? undefined : 'reasoning must be passed back',
    thought: (text) => ({
      reasoning: text,
      reasoning_details: [{ type: 'reasoning.text', format: 'unknown', index: 0, text }],
    }),
  },
  MiniMax: {
    provider: 'novita',
    variable: 'NOVITA',
    model: 'minimax/minimax-m3',
    refuses: () => undefined,
    thought: (text) => ({
      reasoning_details: [{ type: 'reasoning.text', format: 'MiniMax-response-v1', index: 0, text }],
    }),
  },
};

const CALL_TURNS = 2;

/** Calls a tool in the first two turns, and answers in the third. */
function answering({ refuses, thought }: Vendor, seen: Turn[][]): StubHandler {
  return (request, response) => {
    const body = request.json() as any;
    const turns = (body.messages as Turn[]).filter(({ role }) => role === 'assistant');
    seen.push(turns);
    const refusal = turns.map(refuses).find((why) => why !== undefined);
    if (refusal !== undefined) {
      replyJson(response, 400, { error: { message: refusal, type: 'invalid_request_error' } });
      return;
    }
    const at = turns.length;
    const call = { id: `call_${at}`, type: 'function', function: { name: 'tide', arguments: `{"at":${at}}` } };
    const said = { ...thought(`thought ${at}`), ...(at < CALL_TURNS ? { tool_calls: [call] } : { content: 'calm' }) };
    const finish_reason = at < CALL_TURNS ? 'tool_calls' : 'stop';
    if (body.stream !== true) {
      const message = { role: 'assistant', content: null, ...said };
      replyJson(response, 200, {
        id: 'x',
        object: 'chat.completion',
        model: 'up',
        choices: [{ index: 0, message, finish_reason }],
      });
      return;
    }
    openSse(response);
    const delta = { ...said, ...('tool_calls' in said && { tool_calls: [{ index: 0, ...call }] }) };
    const chunk = { id: 'x', model: 'up', choices: [{ index: 0, delta, finish_reason: null }] };
    const end = { id: 'x', model: 'up', choices: [{ index: 0, delta: {}, finish_reason }] };
    response.end(sseBytes([chunk, end, { type: '', data: '[DONE]' }]));
  };
}

const TIDE = {
  type: 'function' as const,
  name: 'tide',
  description: 'the tide',
  parameters: {
    type: 'object',
    properties: { at: { type: 'integer' } },
    required: ['at'],
    additionalProperties: false,
  },
  strict: false,
};

/** A client in its defaults, until the model calls nothing more. Resolves with the last text. */
type Client = (baseURL: string, model: string) => Promise<string>;

/** The items of an answer go back as they came, as the Agents SDK of OpenAI sends them. */
const replaying =
  (isStream: boolean): Client =>
  async (baseURL, model) => {
    const client = new OpenAI({ baseURL, apiKey: MASTER_KEY, maxRetries: 0 });
    const input: any[] = [{ role: 'user', content: 'how is the sea?' }];
    for (;;) {
      const body = { model, input, tools: [TIDE] };
      const { output, output_text: text } = isStream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      const calls = output.flatMap((item) => (item.type === 'function_call' ? item : []));
      if (calls.length === 0) return text;
      input.push(...output, ...calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'calm' })));
    }
  };

const langChain: Client = async (baseURL, model) => {
  const chat = new ChatOpenAI({
    model,
    apiKey: MASTER_KEY,
    maxRetries: 0,
    useResponsesApi: true,
    configuration: { baseURL },
  }).bindTools([{ type: 'function', function: TIDE }]);
  const messages: BaseMessage[] = [new HumanMessage('how is the sea?')];
  for (;;) {
    const answer = await chat.invoke(messages);
    messages.push(answer);
    if (!answer.tool_calls?.length) return answer.text;
    for (const { id = '' } of answer.tool_calls) messages.push(new ToolMessage({ tool_call_id: id, content: 'calm' }));
  }
};

const CLIENTS: Readonly<Record<string, Client>> = {
  'openai, whole': replaying(false),
  'openai, streamed': replaying(true),
  LangChain: langChain,
};

async function finish(
  vendor: Vendor,
  client: Client,
): Promise<{ readonly text: string; readonly seen: readonly Turn[][] }> {
  const seen: Turn[][] = [];
  const upstream = await stubUpstream(answering(vendor, seen));
  const { provider, variable, model } = vendor;
  const host = await startHost(
    { responses: { translate: 'auto' }, targets: [{ virtual_key: provider, models: [model] }] },
    { variables: { [`${variable}_API_KEY`]: 'vendor-key-0123456789', [`${variable}_BASE_URL`]: `${upstream.url}/v1` } },
  );
  return { text: await client(`${host.url}/v1`, model), seen };
}

/** Thoughts that stand in each turn of the last request. */
const thoughtsIn = (turns: readonly Turn[] = []): unknown[] =>
  turns.map((turn) => [...new Set(JSON.stringify(turn).match(/thought \d/g))]);

describe('a client of Responses that asks for nothing', () => {
  for (const [name, vendor] of Object.entries(VENDORS))
    for (const [title, client] of Object.entries(CLIENTS))
      it(`comes to the end of its third turn with ${name}, which gets its thoughts back: ${title}`, async () => {
        const { text, seen } = await finish(vendor, client);
        expect(text).to.equal('calm');
        expect(seen.map(({ length }) => length)).to.deep.equal([0, 1, 2]);
        expect(thoughtsIn(seen.at(-1))).to.deep.equal([['thought 0'], ['thought 1']]);
      });
});
