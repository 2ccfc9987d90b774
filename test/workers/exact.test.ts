import { expect } from 'chai';
import { chatReply, type GatewayProcess, replyJson, stubUpstream, forSuite, type StubUpstream } from '../kit/index.ts';
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
  workersIn,
  patiently,
} from './gateway.ts';

/** Calls that the stub is answering now, and the most that it ever was; `hold` keeps answers back. */
class Load {
  now = 0;
  most = 0;
  seen = 0;
  hold: Promise<void> | undefined;
}

describe('three workers', () => {
  const load = new Load();
  let stub: StubUpstream;
  let gateway: GatewayProcess;
  const ask = (key: string, body = chat()): Promise<Reply> => send(`${gateway.url}${CHAT}`, { key, body });

  forSuite(async () => {
    stub = await stubUpstream(async (_request, response) => {
      load.now += 1;
      load.seen += 1;
      load.most = Math.max(load.most, load.now);
      await load.hold;
      load.now -= 1;
      replyJson(response, 200, {
        ...chatReply('hello'),
        usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
      });
    });
    gateway = await startWorkers(
      {
        strategy: { mode: 'fallback' },
        targets: [
          { virtual_key: 'one', models: ['m'] },
          { virtual_key: 'two', models: ['few'], concurrency: { max_concurrency: 2 } },
        ],
        providers: {
          one: instance(stub.url),
          two: instance(stub.url, { models: ['few'] }),
        },
        plugins: [{ name: 'request-logger', stage: 'after_request', enabled: true, config: { persist: true } }],
      },
      { API_KEY_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_BACKEND: 'sqlite' },
    );
  });

  it('take no more requests than the limit of a key by the minute', async () => {
    const { key } = await makeKey(gateway.url, { rpm: 30 });
    const replies = await atOnce(60, () => ask(key));
    expect(counted(replies, 200)).to.be.within(20, 31); // an answer that came late counts twice, and one comes back in two seconds
    expect(counted(replies, 200) + counted(replies, 429)).to.equal(60);
    await patiently(() => workersIn(gateway).size === 3);
  });

  it('know a key as soon as it is made, and refuse it once it is revoked', async () => {
    const { key, id } = await makeKey(gateway.url);
    expect(counted(await atOnce(30, () => ask(key)), 200)).to.equal(30);
    const revoked = await send(`${gateway.url}/admin/keys/${id}/revoke`, { method: 'POST' });
    expect(revoked.status).to.equal(200);
    expect(counted(await atOnce(60, () => ask(key)), 401)).to.equal(60);
    expect(counted(await atOnce(20, () => ask('gw_not-a-key')), 401)).to.equal(20);
    await patiently(async () => {
      const { json } = await send(`${gateway.url}/admin/logs/denied`);
      return JSON.stringify(json).includes('"invalid":20');
    });
  });

  it('count each use of a key once, and show it at once', async () => {
    const { key, id } = await makeKey(gateway.url);
    await atOnce(20, () => ask(key));
    const { json } = await send(`${gateway.url}/admin/keys/${id}`);
    expect(json.usage_count).to.equal(20);
  });

  it('hold a place of a target together', async () => {
    const held = Promise.withResolvers<void>();
    load.hold = held.promise;
    load.most = 0;
    const asking = atOnce(12, () => ask(gateway.key, chat({ model: 'few' })));
    await patiently(() => load.now === 2);
    held.resolve();
    load.hold = undefined;
    expect(counted(await asking, 200)).to.equal(12);
    expect(load.most).to.equal(2);
  });

  it('spend a budget together, and write each row and each cent once', async () => {
    const { key, id } = await makeKey(gateway.url, { budgets: [{ requests: 10, every: 'day' }] });
    const replies = await atOnce(40, () => ask(key));
    expect(counted(replies, 200)).to.equal(10);
    expect(counted(replies, 402)).to.equal(30);
    await patiently(async () => {
      const { json } = await send(`${gateway.url}/admin/logs?api_key_id=${id}&limit=100`);
      return json.data.length === 10;
    });
  });

  it('are all on another configuration before the change is answered', async () => {
    const { json: before } = await send(`${gateway.url}/admin/config`);
    const next = { ...before, aliases: { other: 'm' } };
    const changed = await send(`${gateway.url}/admin/config`, { method: 'PUT', body: next });
    expect(changed.status, changed.text).to.equal(200);
    expect(counted(await atOnce(30, () => ask(gateway.key, chat({ model: 'other' }))), 200)).to.equal(30);
    const refused = await send(`${gateway.url}/admin/config`, { method: 'PUT', body: { ...next, aliases: { a: 1 } } });
    expect(refused.status).to.equal(400);
  });

  it('add their figures up', async () => {
    let text = '';
    await patiently(async () => {
      ({ text } = await send(`${gateway.url}/metrics`));
      return text.match(/^process_resident_memory_bytes\{/gm)?.length === 4;
    });
    const total = [...text.matchAll(/^gateway_requests_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
    const answered = gateway.lines.filter(({ msg, path }) => msg === 'http request' && path === CHAT).length;
    expect(total).to.be.greaterThan(0).and.at.most(answered);
    expect(text.match(/^# TYPE process_resident_memory_bytes /gm)).to.have.lengthOf(1);
    expect(text.match(/^process_resident_memory_bytes\{worker="[^"]+"\} /gm)).to.have.lengthOf(4);
    expect(text.match(/^gateway_worker_up\{worker="\d"\} 1$/gm)).to.have.lengthOf(3);
  });

  it('end with their primary, and leave nothing undone', async () => {
    expect(await gateway.stop()).to.equal(0);
  });
});
