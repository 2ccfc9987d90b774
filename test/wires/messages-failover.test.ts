import { expect } from 'chai';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { chatReply, replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { eventsOf, hello, PATH, sameWire, saying, vendorMessage } from './messages-kit.ts';

const VARIABLES = { ANTHROPIC_API_KEY: 'vendor-key-0123456789', OPENAI_API_KEY: 'vendor-key-9876543210' };

describe('Messages that go from wire to wire', () => {
  it('get each target its own body when one fails', async () => {
    const upstream = await stubUpstream((request, response) => {
      if (request.url.includes('/messages'))
        replyJson(response, 529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
      else replyJson(response, 200, chatReply('hello'));
    });
    const host = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [
          { virtual_key: 'anthropic', models: ['m'] },
          { virtual_key: 'openai', models: ['m'], model_map: { m: 'gpt-x' } },
        ],
      },
      {
        variables: { ...VARIABLES, ANTHROPIC_BASE_URL: `${upstream.url}/v1`, OPENAI_BASE_URL: `${upstream.url}/v1` },
      },
    );
    const body = { ...hello, model: 'm', top_k: 3, system: 'x-anthropic-billing-header: a=1\nterse' };
    const answer = await host.post(PATH, body);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json().content).to.deep.equal([{ type: 'text', text: 'hello', citations: null }]);
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal('top_k');
    const [first, second] = upstream.seen;
    expect(first?.text).to.equal(JSON.stringify(body));
    expect(second?.json()).to.deep.equal({
      model: 'gpt-x',
      max_completion_tokens: 64,
      messages: [
        { role: 'system', content: 'terse' },
        { role: 'user', content: 'hi' },
      ],
    });
  });

  for (const [what, said] of [
    ['a comment', ': processing\n\n'],
    ['two, and part of an event', ': a\n\n: b\n\nevent: message_start\n'],
  ] as const) {
    it(`go to the next target where a stream breaks off after ${what}`, async () => {
      const upstream = await stubUpstream((request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (!request.url.includes('/messages'))
          response.end(
            `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
          );
        else response.write(said, () => response.destroy());
      });
      const host = await startHost(
        {
          strategy: { mode: 'fallback' },
          targets: [
            { virtual_key: 'anthropic', models: ['m'] },
            { virtual_key: 'openai', models: ['m'] },
          ],
        },
        {
          variables: { ...VARIABLES, ANTHROPIC_BASE_URL: `${upstream.url}/v1`, OPENAI_BASE_URL: `${upstream.url}/v1` },
        },
      );
      const answer = await host.post(PATH, { ...hello, model: 'm', stream: true });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
      expect(
        eventsOf(answer.text)
          .map(({ delta }) => delta?.text ?? '')
          .join(''),
      ).to.equal('hello');
    });
  }

  it('leave reasoning of another vendor out where it would be refused, and a turn that held nothing else', async () => {
    const { upstream, post } = await sameWire((_request, response) =>
      replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
    );
    const foreign = { type: 'thinking', thinking: 'why', signature: sealEnvelope([]) };
    const own = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const answer = await post({
      ...hello,
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [foreign, own, { type: 'text', text: 'b' }] },
        { role: 'user', content: 'c' },
        { role: 'assistant', content: [foreign] },
        { role: 'user', content: 'd' },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.json()['messages']).to.deep.equal([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [own, { type: 'text', text: 'b' }] },
      { role: 'user', content: 'c' },
      { role: 'user', content: 'd' },
    ]);
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal('messages[1].content[0], messages[3].content[0]');
  });

  it('have their late system messages in their place, and the first that became a turn of the user named', async () => {
    const upstream = await stubUpstream(saying({ content: 'ok' }));
    const host = await startHost(
      { targets: [{ virtual_key: 'mistral', models: ['m'] }] },
      { variables: { MISTRAL_API_KEY: 'vendor-key-0123456789', MISTRAL_BASE_URL: `${upstream.url}/v1` } },
    );
    const answer = await host.post(PATH, {
      ...hello,
      model: 'm',
      system: 'first',
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'system', content: 'second' },
        { role: 'user', content: 'c' },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.json()['messages']).to.deep.equal([
      { role: 'system', content: 'first' },
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: '<system>\nsecond\n</system>' },
      { role: 'user', content: 'c' },
    ]);
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal('messages[2].role');
  });
});
