import { expect } from 'chai';
import { defineBuiltin } from '../../host/builtin.ts';
import { mountJson } from '../../host/http/json-route.ts';
import { eventually, rawClient, startHost, stubUpstream } from '../kit/index.ts';

describe('requests of the admin API when their credential ends', () => {
  async function slow(): Promise<{
    t: Awaited<ReturnType<typeof startHost>>;
    asked: Promise<void>;
    answer: () => void;
  }> {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answer = async (): Promise<{ status: number; body: object }> => {
      asked.resolve();
      await answered.promise;
      return { status: 200, body: { secret: true } };
    };
    const builtin = defineBuiltin({
      name: 'slow',
      apply: ({ hooks }) => {
        hooks.mount.tap('slow', (router, host) =>
          mountJson(router, host, [
            { method: 'GET', path: '/admin/slow', scope: 'read_only', answer },
            { method: 'POST', path: '/admin/slow', scope: 'read_only', maxBytes: () => 100, answer },
          ]),
        );
      },
    });
    const stub = await stubUpstream(() => {});
    const t = await startHost({ targets: [stub.target('a')] }, { builtins: [builtin] });
    return { t, asked: asked.promise, answer: answered.resolve };
  }

  it('are a 401 at once where they read, and what they would have read is not sent', async () => {
    const { t, asked, answer } = await slow();
    const { key, record } = await t.host.stores.keys.create({ name: 'ends', scopes: ['read_only'] });
    const sent = fetch(`${t.url}/admin/slow`, { headers: { authorization: `Bearer ${key}` } });
    await asked;
    await t.host.stores.keys.revoke(record.id, 'other');
    const reply = await sent;
    expect([reply.status, ((await reply.json()) as any).error.code]).to.deep.equal([401, 'invalid_api_key']);
    answer();
    await eventually(() => t.host.activity.count === 0);
    expect(t.lines.filter(({ msg }) => msg === 'panic recovered')).to.deep.equal([]);
  });

  it('are answered where they change something: they may have ended their own', async () => {
    const { t, asked, answer } = await slow();
    const { key, record } = await t.host.stores.keys.create({ name: 'ends', scopes: ['read_only'] });
    const headers = { authorization: `Bearer ${key}` };
    const sent = fetch(`${t.url}/admin/slow`, { method: 'POST', headers });
    await asked;
    await t.host.stores.keys.revoke(record.id, 'other');
    answer();
    expect((await sent).status).to.equal(200);
    expect(t.samples.filter(({ name }) => name === 'gateway_credentials_ended_total')).to.deep.equal([]);
  });

  it('are a 401 while their body is still read', async () => {
    const { t } = await slow();
    const { key, record } = await t.host.stores.keys.create({ name: 'ends', scopes: ['admin'] });
    const client = await rawClient(t.url);
    client.send(
      `POST /admin/keys HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{"name":`,
    );
    await eventually(() => t.host.running.size === 1);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await t.host.stores.keys.create({ name: 'stays', scopes: ['admin'] });
    await t.host.stores.keys.revoke(record.id, 'other');
    expect(await client.until(/\r\n\r\n[^]*\}/)).to.match(/^HTTP\/1\.1 401 /);
    client.socket.destroy();
  });

  it('are answered where a session signs itself out, and where a key gives itself a new value', async () => {
    const { t } = await slow();
    const { keys, sessions } = t.host.stores;
    const { key, record } = await keys.create({ name: 'ends', scopes: ['admin'] });
    const { token } = await sessions.create({ credentialId: record.id, subject: 'x', scopes: ['admin'] });
    const ask = (method: string, path: string, bearer: string): Promise<Response> =>
      fetch(t.url + path, { method, headers: { authorization: `Bearer ${bearer}` } });
    expect((await ask('DELETE', '/admin/session', token)).status).to.equal(204);
    expect((await ask('POST', `/admin/keys/${record.id}/rotate`, key)).status).to.equal(200);
    expect((await ask('GET', '/admin/keys', key)).status).to.equal(401);
  });

  it('are a 401 where their key becomes one for inference, whose requests of models go on', async () => {
    const { t, asked, answer } = await slow();
    const { key, record } = await t.host.stores.keys.create({ name: 'narrows', scopes: ['read_only'] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const read = fetch(`${t.url}/admin/slow`, { headers });
    const ended = new AbortController();
    const chat = fetch(`${t.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      signal: ended.signal,
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    }).catch(() => 'left');
    await asked;
    await eventually(() => t.host.running.size === 2);
    await t.host.stores.keys.update(record.id, { name: 'other name' }, 'other');
    expect(t.host.running.size).to.equal(2);
    await t.host.stores.keys.update(record.id, { access: 'inference' }, 'other');
    const reply = await read;
    expect([reply.status, ((await reply.json()) as any).error.code]).to.deep.equal([401, 'invalid_api_key']);
    answer();
    await eventually(() => t.host.running.size === 1);
    expect(t.host.running.size, 'the request of a model').to.equal(1);
    expect(t.samples.filter(({ name }) => name === 'gateway_credentials_ended_total')).to.have.length(1);
    ended.abort();
    expect(await chat).to.equal('left');
  });
});
