import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import OpenAI, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import {
  forSuite,
  type GatewayProcess,
  openSse,
  replyJson,
  sseEvent,
  startGateway,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { ANTHROPIC, COMMON, GEMINI, SAID } from './support/speakers.ts';
import { expectClosed, holding } from './support/upstream.ts';

const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOOLS: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: 'tide',
    description: 'the tide',
    parameters: {
      type: 'object',
      properties: { harbour: { type: 'string' } },
      required: ['harbour'],
      additionalProperties: false,
    },
    strict: false,
  },
];
const SPEAKERS = [COMMON, ANTHROPIC, GEMINI];
const OWN = 'gpt-5.1';

interface Setup {
  readonly gateway: GatewayProcess;
  readonly upstream: StubUpstream;
  readonly client: OpenAI;
}

/** One gateway process for all tests of a suite, whose targets all call one loopback upstream. What is returned says, test by test, how that answers. */
function withTargets(): (handler: StubHandler) => Setup {
  let answering: StubHandler = () => {};
  const opened = forSuite(async (): Promise<Setup> => {
    const upstream = await stubUpstream((request, response) => answering(request, response));
    const folder = await temporaryFolder();
    const path = join(folder, 'config.yaml');
    const models = [['openai', OWN], ...SPEAKERS.map(({ target, model }) => [target, model])];
    await writeFile(
      path,
      `strategy:\n  mode: fallback\ntargets:\n${models.map(([name, model]) => `  - virtual_key: ${name}\n    models: [${model}]\n`).join('')}responses:\n  translate: auto\n`,
    );
    const variables = Object.fromEntries(
      models.flatMap(([name = '']) => [
        [`${name.toUpperCase()}_API_KEY`, 'upstream-key'],
        [`${name.toUpperCase()}_BASE_URL`, upstream.url],
      ]),
    );
    const gateway = await startGateway({ cwd: folder, variables: { GATEWAY_CONFIG: path, ...variables } });
    return {
      gateway,
      upstream,
      client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 }),
    };
  });
  return (handler) => {
    const setup = opened();
    answering = handler;
    setup.upstream.seen.length = 0;
    return setup;
  };
}

type Ask = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;

/** Asks whole, or streamed by the client's own assembly. */
const asking =
  (client: OpenAI, isStreamed: boolean) =>
  async (ask: Ask): Promise<OpenAI.Responses.Response> =>
    isStreamed ? client.responses.stream(ask).finalResponse() : client.responses.create(ask);

describe('the openai client on its Responses API', () => {
  const targetsBefore = withTargets();

  for (const speaker of SPEAKERS) {
    for (const isStreamed of [false, true]) {
      it(`finishes two turns with a tool, an image and reasoning through ${speaker.target}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
        const { client, upstream } = targetsBefore(speaker.answer);
        const create = asking(client, isStreamed);
        const input: OpenAI.Responses.ResponseInput = [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'how is the tide?' },
              { type: 'input_image', image_url: IMAGE, detail: 'auto' },
            ],
          },
        ];
        const ask: Ask = {
          model: speaker.model,
          input,
          instructions: 'be brief',
          tools: TOOLS,
          reasoning: { effort: 'low', summary: 'auto' },
          include: ['reasoning.encrypted_content'],
          store: false,
        };
        const first = await create(ask);
        expect(first.status).to.equal('completed');
        expect(first.output.filter(({ type }) => type !== 'reasoning').map(({ type }) => type)).to.deep.equal([
          'message',
          'function_call',
        ]);
        expect(first.output[0]).to.deep.include({
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'let me see' }],
        });
        expect(first.output_text).to.equal(SAID);
        expect(first.usage).to.deep.include({ input_tokens: 11, output_tokens: 7, total_tokens: 18 });
        const call = first.output.find((item) => item.type === 'function_call');
        expect(JSON.parse(call?.arguments ?? '')).to.deep.equal({ harbour: 'Brest' });
        const second = await create({
          ...ask,
          input: [
            ...input,
            ...(first.output as OpenAI.Responses.ResponseInputItem[]),
            { type: 'function_call_output', call_id: call?.call_id ?? '', output: '4 m' },
          ],
        });
        expect(second.output_text).to.equal('it is high');
        const [one, two] = upstream.seen;
        if (!one || !two) throw new Error('the upstream was not asked twice');
        expect(speaker.read(one)).to.deep.equal({ images: 1, results: [] });
        expect(speaker.read(two).results.join('')).to.include('4 m');
        expect(speaker.proofIn(two)).to.deep.equal(speaker.proof);
      });
    }
  }

  it('is served by its own vendor byte for byte', async () => {
    const reply = '{ "id": "resp_1",  "object":"response","output":[],"x":1e400 }';
    const { gateway, upstream } = targetsBefore((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
    });
    const body = `{"input":"hi", "model":"${OWN}",\n "previous_response_id":"resp_0"}`;
    const answer = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body,
    });
    expect(await answer.text()).to.equal(reply);
    expect(upstream.seen[0]).to.include({ url: '/v1/responses', text: body });
  });

  it('parses an answer by the schema that it asked for', async () => {
    const { client } = targetsBefore((_request, response) =>
      replyJson(response, 200, {
        choices: [{ index: 0, message: { role: 'assistant', content: '{"berths":42}' }, finish_reason: 'stop' }],
      }),
    );
    const schema = {
      type: 'object',
      properties: { berths: { type: 'integer' } },
      required: ['berths'],
      additionalProperties: false,
    };
    const { output_parsed: parsed } = await client.responses.parse({
      model: COMMON.model,
      input: 'hi',
      text: { format: { type: 'json_schema', name: 'harbour', schema, strict: true } },
    });
    expect(parsed).to.deep.equal({ berths: 42 });
  });

  for (const [status, type] of [
    [400, BadRequestError],
    [404, NotFoundError],
    [429, RateLimitError],
    [500, InternalServerError],
    [401, InternalServerError],
  ] as const) {
    it(`throws ${type.name} where the upstream answers ${status}`, async () => {
      const { client } = targetsBefore((_request, response) =>
        replyJson(response, status, { error: { message: 'no' } }),
      );
      for (const isStreamed of [false, true]) {
        const error: unknown = await asking(
          client,
          isStreamed,
        )({ model: COMMON.model, input: 'hi' }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).to.be.instanceOf(status === 404 ? NotFoundError : type);
      }
    });
  }

  it('throws for a wrong key, an unknown model and what needs state', async () => {
    const { client, gateway } = targetsBefore(COMMON.answer);
    const thrown = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(
      await thrown(
        new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'wrong', maxRetries: 0 }).responses.create({
          model: COMMON.model,
          input: 'hi',
        }),
      ),
    ).to.be.instanceOf(AuthenticationError);
    expect(await thrown(client.responses.create({ model: 'unheard', input: 'hi' }))).to.be.instanceOf(NotFoundError);
    const refused = await thrown(
      client.responses.create({ model: COMMON.model, input: 'hi', previous_response_id: 'resp_1' }),
    );
    expect(refused)
      .to.be.instanceOf(BadRequestError)
      .and.to.include({ code: 'unsupported_parameter', type: 'invalid_request_error', param: null });
  });

  it('does not repeat what cannot succeed', async () => {
    const { gateway, upstream } = targetsBefore((_request, response) => replyJson(response, 500, {}));
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 2 });
    await client.responses
      .create({ model: COMMON.model, input: 'hi', tools: [{ type: 'web_search' }] })
      .catch(() => {});
    expect(upstream.seen).to.have.length(0);
  });

  it('ends with an answer that failed where a stream breaks off', async () => {
    const { client } = targetsBefore((_request, response) => {
      openSse(response);
      response.end(
        sseEvent({ choices: [{ index: 0, delta: { content: 'half' } }] }) +
          sseEvent({ error: { message: 'the harbour is closed' } }),
      );
    });
    const events = await Array.fromAsync(
      await client.responses.create({ model: COMMON.model, input: 'hi', stream: true }),
    );
    const last = events.at(-1);
    expect(last?.type === 'response.failed' && last.response).to.deep.include({
      status: 'failed',
      error: { code: 'server_error', message: 'the harbour is closed' },
    });
  });

  for (const isStreamed of [false, true]) {
    it(`hangs up on the upstream when ${isStreamed ? 'a stream' : 'a call'} is aborted`, async () => {
      const held = holding({ isSilent: !isStreamed });
      const { client } = targetsBefore(held.handler);
      const controller = new AbortController();
      if (isStreamed) {
        const stream = await client.responses.create(
          { model: COMMON.model, input: 'hi', stream: true },
          { signal: controller.signal },
        );
        for await (const event of stream) if (event.type === 'response.output_text.delta') controller.abort();
      } else {
        const answer = client.responses
          .create({ model: COMMON.model, input: 'hi' }, { signal: controller.signal })
          .then(
            () => undefined,
            (error: unknown) => error,
          );
        await held.asked;
        controller.abort();
        expect(await answer).to.be.instanceOf(APIUserAbortError);
      }
      await expectClosed(held);
    });
  }
});
