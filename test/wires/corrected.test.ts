import { expect } from 'chai';
import {
  openSse,
  replyJson,
  startHost,
  type StubHandler,
  type StubUpstream,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { eventsOf, eventText, hello, PATH, VENDOR_EVENTS, vendorMessage } from './messages-kit.ts';

/** A deployment's name says nothing of the model behind it. */
const MODEL = 'claude-prod';
const REFUSAL = "messages.1: role 'system' is not supported on this model";
const messages = [
  { role: 'user', content: 'go' },
  { role: 'system', content: 'note' },
];

const refuse = (response: Parameters<StubHandler>[1], message: string, status = 400): void =>
  replyJson(response, status, { type: 'error', error: { type: 'invalid_request_error', message } });

/** A service that refuses the role, and says so. */
const refusing =
  (answer: StubHandler, message = REFUSAL, status = 400): StubHandler =>
  (request, response) => {
    if (request.text.includes('"role":"system"')) refuse(response, message, status);
    else void answer(request, response);
  };

const answering: StubHandler = (_request, response) =>
  replyJson(response, 200, vendorMessage([{ type: 'text', text: 'hello' }]));

const configOf = (...models: string[]): object => ({ targets: [{ virtual_key: 'azure-foundry', models }] });

async function open(handler: StubHandler): Promise<{ t: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream(handler);
  const t = await startHost(configOf(MODEL, 'claude-other'), {
    variables: { AZURE_FOUNDRY_API_KEY: 'foundry-key-0123456789', AZURE_FOUNDRY_ENDPOINT: upstream.url },
  });
  return { t, upstream };
}

const rolesIn = (upstream: StubUpstream): string[][] =>
  upstream.seen.map((seen) => (seen.json()['messages'] as any[]).map(({ role }) => role));

describe('a request that is refused for its late system messages', () => {
  it('goes out once more with turns of the user, and the next one at once', async () => {
    const { t, upstream } = await open(refusing(answering));
    const first = await t.post(PATH, { ...hello, model: MODEL, messages });
    expect(first.status, first.text).to.equal(200);
    expect(rolesIn(upstream)).to.deep.equal([['user', 'system'], ['user']]);
    expect(first.headers.get('x-gateway-attempts')).to.equal('2');
    expect(first.headers.get('x-gateway-ignored-params')).to.equal('messages[1].role');
    const second = await t.post(PATH, { ...hello, model: MODEL, messages });
    expect(rolesIn(upstream).slice(2)).to.deep.equal([['user']]);
    expect(second.headers.get('x-gateway-attempts')).to.equal('1');
    expect(t.lines.filter(({ msg }) => msg === 'a request was corrected after the provider refused it')).to.have.length(
      1,
    );
    expect(
      t.samples.filter(({ name }) => name === 'gateway_upstream_repairs_total').map(({ labels }) => labels),
    ).to.deep.equal([{ provider: 'azure-foundry', kind: 'late_system', result: 'ok' }]);
  });

  it('is learned of one model, and forgotten with the configuration', async () => {
    const { t, upstream } = await open(
      refusing(answering, 'Unexpected role "system". Allowed roles are "user" or "assistant"'),
    );
    for (const model of [MODEL, 'claude-other']) await t.post(PATH, { ...hello, model, messages });
    expect(upstream.seen).to.have.length(4);
    await t.apply(configOf(MODEL));
    await t.post(PATH, { ...hello, model: MODEL, messages });
    expect(rolesIn(upstream).slice(4)).to.deep.equal([['user', 'system'], ['user']]);
  });

  it('streams after the second request', async () => {
    const { t, upstream } = await open(
      refusing((_request, response) => {
        openSse(response);
        response.end(VENDOR_EVENTS.map(eventText).join(''));
      }),
    );
    const answer = await t.post(PATH, { ...hello, model: MODEL, messages, stream: true });
    expect(answer.status).to.equal(200);
    expect(eventsOf(answer.text).at(-1)).to.deep.equal({ type: 'message_stop' });
    expect(upstream.seen).to.have.length(2);
  });

  it('has the error of the second one', async () => {
    const { t } = await open(refusing((_request, response) => refuse(response, 'tools: too many')));
    const answer = await t.post(PATH, { ...hello, model: MODEL, messages });
    expect([answer.status, answer.json().error.message]).to.deep.equal([400, 'tools: too many']);
    expect(t.samples.find(({ name }) => name === 'gateway_upstream_repairs_total')?.labels).to.include({
      result: 'failed',
    });
  });

  for (const [what, handler, body] of [
    ['says something else', refusing(answering, 'messages.1: too long'), messages],
    ['has another status', refusing(answering, REFUSAL, 403), messages],
    ['is of a request without any', (_request, response) => refuse(response, REFUSAL), messages.slice(0, 1)],
    [
      'quotes the request',
      refusing(answering),
      [...messages, { role: 'assistant', content: 'ok' }, { role: 'user', content: `why ${REFUSAL}?` }],
    ],
    ['comes again', (_request, response) => refuse(response, REFUSAL), messages],
  ] as readonly (readonly [string, StubHandler, readonly object[]])[])
    it(`is not repeated where the refusal ${what}`, async () => {
      const { t, upstream } = await open(handler);
      expect((await t.post(PATH, { ...hello, model: MODEL, messages: body })).status).to.be.oneOf([400, 502]);
      const calls = upstream.seen.length;
      expect(calls).to.equal(what === 'comes again' ? 2 : 1);
      await t.post(PATH, { ...hello, model: MODEL, messages: body });
      expect(upstream.seen).to.have.length(calls + 1);
    });

  it("is not repeated in the client's own wire", async () => {
    const upstream = await stubUpstream(refusing(answering));
    const t = await startHost(
      { targets: [{ virtual_key: 'anthropic', models: [MODEL] }] },
      { variables: { ANTHROPIC_API_KEY: 'vendor-key-0123456789', ANTHROPIC_BASE_URL: `${upstream.url}/v1` } },
    );
    const answer = await t.post(PATH, { ...hello, model: MODEL, messages });
    expect([answer.status, upstream.seen.length]).to.deep.equal([400, 1]);
  });
});
