import { expect } from 'chai';
import { chatReply, forSuite, type GatewayProcess, replyJson, type StubUpstream, stubUpstream } from '../kit/index.ts';
import {
  atOnce,
  chat,
  CHAT,
  counted,
  instance,
  makeKey,
  type Reply,
  send,
  startWorkers,
  patiently,
} from './gateway.ts';

describe('between three workers', () => {
  let stub: StubUpstream;
  let answering: (port: string) => number = () => 200;
  let gateway: GatewayProcess;
  const ask = (body: object, headers: Readonly<Record<string, string>> = {}, key?: string): Promise<Reply> =>
    send(`${gateway.url}${CHAT}`, { body, headers, ...(key !== undefined && { key }) });

  forSuite(async () => {
    stub = await stubUpstream((request, response) => {
      const status = answering(String(request.headers['authorization']));
      if (status === 200)
        replyJson(response, 200, {
          ...chatReply('hello'),
          usage: { prompt_tokens: 10, completion_tokens: 90, total_tokens: 100 },
        });
      else replyJson(response, status, { error: { message: 'no', code: 'no' } });
    });
    gateway = await startWorkers(
      {
        strategy: { mode: 'fallback', affinity: 'session' },
        targets: [
          { virtual_key: 'first', models: ['m'] },
          { virtual_key: 'second', models: ['m'] },
        ],
        providers: {
          first: instance(stub.url, { api_key: '${FIRST_KEY}' }),
          second: instance(stub.url, { api_key: '${SECOND_KEY}' }),
        },
        plugins: [{ name: 'rate-limit', stage: 'before_request', enabled: true, config: { key_rpm: 12 } }],
      },
      {
        FIRST_KEY: 'sk-first-of-tests',
        SECOND_KEY: 'sk-second-of-tests',
        RATE_LIMIT_RPS: '0.01',
        RATE_LIMIT_BURST: '60',
        TRUSTED_PROXIES: '127.0.0.0/8',
      },
    );
  });

  let address = 0;
  const from = (more: object = {}): Record<string, string> => ({
    'x-forwarded-for': `10.0.0.${(address += 1)}`,
    ...more,
  });

  it('a session stays where it moved to', async () => {
    const session = { 'x-session-id': 'a-session-that-moves' };
    answering = (credential) => (credential.includes('first') ? 500 : 200);
    const { key } = await makeKey(gateway.url);
    const moved = await ask(chat(), from(session), key);
    expect(moved.headers['x-gateway-target'], moved.text).to.equal('second');
    answering = () => 200;
    const replies = await atOnce(8, () => ask(chat(), from(session), key));
    expect(replies.map(({ headers }) => headers['x-gateway-target'])).to.deep.equal(Array(8).fill('second'));
  });

  it('a limit of a plugin is one', async () => {
    const { key } = await makeKey(gateway.url);
    const replies = await atOnce(30, () => ask(chat(), from(), key));
    expect(counted(replies, 200)).to.equal(12);
    expect(counted(replies, 429)).to.equal(18);
  });

  it('tokens of a key by the minute are one', async () => {
    const { key } = await makeKey(gateway.url, { tpm: 250 });
    const statuses: number[] = [];
    for (let call = 0; call < 8; call += 1) statuses.push((await ask(chat(), from(), key)).status);
    expect(statuses).to.deep.equal([200, 200, 200, 429, 429, 429, 429, 429]);
  });

  it('the limit of an address is one, whatever it asks for', async () => {
    const there = { 'x-forwarded-for': '10.9.9.9' };
    const replies = await atOnce(100, (at) =>
      at % 2 === 0
        ? ask(chat(), there, 'gw_not-a-key')
        : send(`${gateway.url}/admin/health`, { headers: there, key: 'gw_not-a-key' }),
    );
    expect(counted(replies, 429)).to.equal(40);
    expect(counted(replies, 401)).to.equal(60);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
  });

  it('attempts to sign in are counted together', async () => {
    const replies = await atOnce(30, () =>
      send(`${gateway.url}/admin/session`, {
        method: 'POST',
        key: 'gw_wrong',
        headers: { 'x-forwarded-for': '10.8.8.8' },
      }),
    );
    expect(counted(replies, 429)).to.be.greaterThan(0);
    expect(counted(replies, 401) + counted(replies, 429)).to.equal(30);
  });

  it('a header of workers that a client sends counts nowhere', async () => {
    const forged = Buffer.from(JSON.stringify({ id: 'f'.repeat(32), address: '1.2.3.4' })).toString('base64url');
    const reply = await send(`${gateway.url}/admin/health`, { headers: { 'x-gateway-worker': forged, ...from() } });
    expect(reply.status).to.equal(200);
    expect(reply.headers['x-request-id']).not.to.equal('f'.repeat(32));
    await patiently(() => gateway.lines.some(({ trace_id: id }) => id === reply.headers['x-request-id']));
    const lines = gateway.lines.filter(({ trace_id: id }) => id === reply.headers['x-request-id']);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0])
      .to.include({ remote: `10.0.0.${address}`, path: '/admin/health' })
      .and.not.to.have.property('worker');
  });
});
