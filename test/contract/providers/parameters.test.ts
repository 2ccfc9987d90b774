import { expect } from 'chai';
import { CHAT, gatewayOf, type ProviderGateway, sendText } from '../../kit/index.ts';
import { isHeld } from '../../providers/places.ts';
import { FACTS } from './facts.ts';
import { goldenJson } from './support.ts';

const matrix = goldenJson('capability-matrix.json') as {
  readonly params: readonly string[];
  readonly providers: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

/** Every parameter of the matrix, set so that it counts. See docs/reference/providers.md#unsupported-parameters. */
const ALL: Readonly<Record<string, unknown>> = {
  temperature: 0,
  top_p: 1,
  n: 1,
  seed: 0,
  max_tokens: 64,
  presence_penalty: 0,
  frequency_penalty: 0,
  stop: ['END'],
  tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
  tool_choice: 'auto',
  response_format: { type: 'text' },
  logprobs: true,
  top_logprobs: 1,
  parallel_tool_calls: false,
  user: 'u',
  logit_bias: { 1: 1 },
};

/** Set, and yet not counted. */
const IDLE: Readonly<Record<string, unknown>> = {
  n: null,
  seed: null,
  presence_penalty: null,
  frequency_penalty: null,
  stop: [],
  tools: [],
  tool_choice: null,
  response_format: null,
  logprobs: false,
  top_logprobs: null,
  parallel_tool_calls: null,
  user: '',
  logit_bias: {},
};

/** What a provider cannot express, in the order of the matrix; the second ceiling is never reported, it always equals the first. */
const unsupportedBy = (name: string): string[] =>
  matrix.params.filter(
    (param) => matrix.providers[name]?.[param] === 'unsupported' && param !== 'max_completion_tokens',
  );

const isInMatrix = ({ name }: { readonly name: string }): boolean =>
  isHeld(name, 'test/fixtures/capability-matrix.json');
const ROWS = FACTS.filter(isInMatrix);
const ROW_NAMES = ROWS.map(({ name }) => name);

describe('parameters a provider cannot express', () => {
  it('exist at five providers of this build', () => {
    expect(ROW_NAMES.filter((name) => unsupportedBy(name).length > 0)).to.deep.equal(
      ['deepseek', 'groq', 'mistral', 'ollama', 'ollama-cloud'].filter((name) => ROW_NAMES.includes(name)),
    );
  });

  for (const facts of ROWS) {
    const {
      name,
      surfaces: {
        chat: { model },
      },
    } = facts;
    const unsupported = unsupportedBy(name);
    const request = { model, messages: [{ role: 'user', content: 'hi' }], ...ALL };
    const gateway = (policy: string): Promise<ProviderGateway> =>
      gatewayOf(
        facts,
        ({ text }, response) => {
          const isStream = text.includes('"stream":true');
          sendText(
            response,
            200,
            isStream ? 'text/event-stream' : 'application/json',
            facts.golden(isStream ? 'stream.txt' : 'reply.json'),
          );
        },
        {
          config: {
            targets: [{ virtual_key: name, models: [model] }],
            compatibility: { on_unsupported_param: policy },
          },
        },
      );

    it(`of ${name} are refused, reported or dropped: ${unsupported.length}`, async () => {
      const rejecting = await gateway('reject');
      const refused = await rejecting.host.post(CHAT, request);
      if (unsupported.length === 0) {
        expect([refused.status, refused.headers.get('x-gateway-ignored-params')]).to.deep.equal([200, null]);
        return;
      }
      expect([refused.status, rejecting.upstream.seen.length]).to.deep.equal([400, 0]);
      expect(refused.json().error).to.include({ type: 'invalid_request_error', code: 'unsupported_parameter' });
      const message: string = refused.json().error.message;
      expect(message).to.include(name);
      expect(unsupported.map((param) => message.search(new RegExp(`\\b${param}\\b`)))).to.satisfy(
        (places: number[]) => places.every((place, at) => place > (places[at - 1] ?? -1)),
        message,
      );
      expect((await rejecting.host.post(CHAT, { ...request, ...IDLE })).status, 'what is set to nothing').to.equal(200);

      const warning = await gateway('warn');
      for (const stream of [false, true]) {
        const warned = await warning.host.post(CHAT, { ...request, ...(stream && { stream }) });
        expect(warned.headers.get('x-gateway-ignored-params')?.split(/, ?/)).to.deep.equal(unsupported);
        const body = warning.upstream.seen.at(-1)!.json();
        const isClosed = name === 'mistral'; // fields that its schema does not have would be answered with 422
        for (const param of unsupported) expect(body[param], param).to.deep.equal(isClosed ? undefined : ALL[param]);
      }

      const dropping = await gateway('drop');
      expect((await dropping.host.post(CHAT, request)).headers.get('x-gateway-ignored-params')).to.equal(null);
      expect(dropping.upstream.seen[0]!.json()).to.not.have.any.keys(...unsupported);
    });
  }
});
