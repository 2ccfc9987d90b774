import { once } from 'node:events';
import { expect } from 'chai';
import { AuthenticationError, InternalServerError, type OpenAI } from 'openai';
import { forSuite, type GatewayProcess, startGateway, temporaryFolder } from '../kit/index.ts';
import { openaiClient, WIRE_TOOLS } from './support/clients.ts';

const messages = [{ role: 'user' as const, content: 'one two  three' }];

/** `gw` in an empty folder, without a configuration, a key or a provider's credential; one for all tests of the suite. */
const withBareGateway = (): (() => { gateway: GatewayProcess; client: OpenAI }) =>
  forSuite(async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder(), variables: { MASTER_KEY: '' } });
    return { gateway, client: clientOf(gateway, await printedKey(gateway)) };
  });

function clientOf(gateway: GatewayProcess, key: string): OpenAI {
  return openaiClient({ baseURL: `${gateway.url}/v1`, gateway }, { key });
}

/** The key that the gateway made for itself; it is shown after the listener's log line. */
async function printedKey({ child, stderr }: GatewayProcess): Promise<string> {
  for (;;) {
    const [, key] = /Master key: (gw_[0-9a-f]{32}) /.exec(stderr()) ?? [];
    if (key !== undefined) return key;
    if (!child.stderr) throw new Error('the gateway has no stderr');
    await once(child.stderr, 'data');
  }
}

describe('a gateway without any configuration', () => {
  const bareGateway = withBareGateway();

  it('answers with the last message under the key it made, and word by word when streamed', async () => {
    const { client } = bareGateway();
    const { data, response } = await client.chat.completions.create({ model: 'echo', messages }).withResponse();
    expect(data.choices[0]).to.deep.include({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'one two  three' },
    });
    expect(data.usage).to.deep.equal({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
    expect(data.model).to.equal('echo');
    expect(response.headers.get('x-gateway-provider')).to.equal('echo');
    const chunks = await Array.fromAsync(
      await client.chat.completions.create({ model: 'echo', messages, stream: true }),
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').filter((text) => text !== '')).to.deep.equal([
      'one',
      ' two',
      '  three',
    ]);
    expect(chunks.at(-1)?.usage).to.include({ prompt_tokens: 3, completion_tokens: 3 });
  });

  it('refuses every other key', async () => {
    const { gateway } = bareGateway();
    const error = await clientOf(gateway, `gw_${'0'.repeat(32)}`)
      .chat.completions.create({ model: 'echo', messages })
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).to.be.instanceOf(AuthenticationError).and.to.include({ status: 401, code: 'invalid_api_key' });
  });

  it('fails on demand: echo-error-503 is an upstream error, whole and streamed', async () => {
    const { client } = bareGateway();
    for (const stream of [false, true]) {
      const error = await client.chat.completions.create({ model: 'echo-error-503', messages, stream }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(InternalServerError).and.to.include({ status: 502, code: 'upstream_error' });
    }
  });

  it('is slow on demand: echo-slow pauses between words, and ends when the client leaves', async () => {
    const { gateway, client } = bareGateway();
    const startedAt = performance.now();
    const stream = await client.chat.completions.create({ model: 'echo-slow', messages, stream: true });
    const arrivals: number[] = [];
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) arrivals.push(performance.now());
      if (arrivals.length === 2) break; // which closes the connection
    }
    expect(arrivals[1]! - startedAt, 'a pause before each word').to.be.greaterThan(500);
    while (!gateway.lines.some(({ msg }) => msg === 'request canceled by the client'))
      await once(gateway.child.stdout!, 'data');
  });

  it('calls tools on demand: echo-tools calls the first one, whole and streamed', async () => {
    const { client } = bareGateway();
    const ask = { model: 'echo-tools', messages, tools: WIRE_TOOLS };
    const whole = await client.chat.completions.create(ask);
    const streamed = await client.chat.completions.stream(ask).finalChatCompletion();
    for (const {
      choices: [choice],
    } of [whole, streamed]) {
      const [call, ...others] = choice?.message.tool_calls ?? [];
      expect(others).to.deep.equal([]);
      expect(choice?.finish_reason).to.equal('tool_calls');
      expect(call).to.deep.include({ id: 'call_echo_0', type: 'function' });
      expect(call?.type === 'function' && [call.function.name, call.function.arguments]).to.deep.equal([
        'tide',
        '{"text":"one two  three"}',
      ]);
    }
  });
});
