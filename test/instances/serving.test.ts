import { expect } from 'chai';
import { chatReply, replyJson, startHost, stubUpstream, type StubUpstream } from '../kit/index.ts';

const chat = (model: string): object => ({ model, messages: [{ role: 'user', content: 'hi' }] });

const vendor = (): Promise<StubUpstream> =>
  stubUpstream((request, response) => replyJson(response, 200, chatReply(String(request.headers.authorization))));

describe('a declared instance', () => {
  it('is called at its address, with its own credential, under its own name', async () => {
    const upstream = await vendor();
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: { 'team-a': { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: '${TEAM_A_KEY}' } },
        targets: [{ virtual_key: 'team-a', models: ['m'] }],
      },
      { variables: { TEAM_A_KEY: 'sk-of-team-a-0123456789', OPENAI_API_KEY: 'sk-of-another-0123456789' } },
    );
    const answer = await t.post('/v1/chat/completions', chat('m'));
    expect(answer.status).to.equal(200);
    expect(answer.json().choices[0].message.content).to.equal('Bearer sk-of-team-a-0123456789');
    expect(answer.headers.get('x-gateway-provider')).to.equal('openai');
    expect(answer.headers.get('x-gateway-target')).to.equal('team-a');
    expect(answer.json().provider).to.equal('team-a');
  });
});
