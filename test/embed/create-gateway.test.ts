import { createServer } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import express from 'express';
import { type ConfigRefused, createGateway, type GatewayOptions } from 'gw';
import { defineStrategy, type StrategyModule } from 'gw/contract';
import Joi from 'joi';
import { WebSocket, WebSocketServer } from 'ws';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  localServer,
  MASTER_KEY,
  replyJson,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { CONFIG, embedded, ENV, makeGateway } from './servers.ts';

const HEADERS = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };

const post = (url: string, body: object, more: RequestInit = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: HEADERS, body: JSON.stringify(body), ...more });

const refusal = (options: GatewayOptions): Promise<Error> =>
  createGateway({ env: ENV, log: () => {}, ...options }).then(
    async (gateway) => {
      await gateway.drain(0);
      throw new Error('it was made');
    },
    (error: unknown) => error as Error,
  );

/** A configuration of one server of the common wire. */
const configOf = (url: string): object => ({
  providers: { own: { kind: 'openai-compatible', base_url: url, credentials: [{ name: 'a', api_key: '${OWN_KEY}' }] } },
  strategy: { mode: 'single' },
  targets: [{ virtual_key: 'own', models: ['m'] }],
});

describe('createGateway', () => {
  describe('in Express', () => {
    it("leaves the server's own routes as they are, before it and behind it", async () => {
      const { origin, url } = await embedded('express at a path');
      expect(await (await fetch(`${origin}/before`)).text()).to.equal('before');
      expect(await (await post(`${origin}/behind`, { a: 1 })).json()).to.deep.equal({ read: { a: 1 } });
      expect((await post(`${url}/behind`, {})).status).to.equal(404);
      expect((await post(`${url}/v1/chat/completions`, ask())).status).to.equal(200);
      expect((await post(`${origin}/v1/chat/completions`, ask())).status).to.equal(404);
    });

    it('refuses a body that a parser has read, at once and before it looks at the credential, and logs it once', async () => {
      const { gateway, lines } = await makeGateway();
      const app = express();
      app.use(express.json(), gateway.handler);
      const origin = await localServer(createServer(app));
      for (const headers of [HEADERS, { 'content-type': 'application/json' }]) {
        const answer = await post(`${origin}/v1/chat/completions`, ask(), { headers });
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        expect([answer.status, error.code, error.message]).to.deep.equal([
          500,
          'internal_error',
          'the request body was read before the gateway got it: mount the gateway before body parsers',
        ]);
      }
      expect((await fetch(`${origin}/v1/models`, { headers: HEADERS })).status).to.equal(200);
      expect(lines.filter(({ msg }) => String(msg).startsWith('the request body was read'))).to.have.lengthOf(1);
    });

    it('learns of clients that leave', async () => {
      const closed = Promise.withResolvers<void>();
      const upstream = await stubUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`);
        response.on('close', () => closed.resolve());
      });
      const { url } = await embedded('express at a path', {
        config: configOf(upstream.url),
        env: { ...ENV, OWN_KEY: 'sk-own' },
      });
      const left = new AbortController();
      const answer = await post(`${url}/v1/chat/completions`, ask('hi', { stream: true }), { signal: left.signal });
      await answer.body!.getReader().read();
      left.abort();
      await closed.promise;
    });
  });

  it('serves the plane of models alone unless said, and the other with it', async () => {
    const paths = ['/admin/keys', '/metrics', '/openapi.json', '/v1/models', '/readyz'];
    const statuses = async (options: GatewayOptions, headers?: Record<string, string>): Promise<number[]> => {
      const { url } = await embedded('express at a path', options);
      return Promise.all(paths.map(async (path) => (await fetch(url + path, { headers: headers ?? {} })).status));
    };
    expect(await statuses({}, HEADERS)).to.deep.equal([404, 404, 404, 200, 200]);
    expect(await statuses({ planes: ['data', 'control'] }, HEADERS)).to.deep.equal([200, 200, 200, 200, 200]);
    expect((await statuses({ planes: ['data', 'control'] })).slice(0, 2)).to.deep.equal([401, 401]);
  });

  it('serves the dashboard at the root alone', async () => {
    const page = { headers: { accept: 'text/html' } };
    const planes = ['data', 'control'] as const;
    const inside = await embedded('express at a path', { planes });
    expect(await (await fetch(`${inside.url}/overview`, page)).text()).to.include('Cannot GET');
    const atRoot = await embedded('express at its root', { planes });
    expect(await (await fetch(`${atRoot.url}/overview`, page)).text()).to.include('<title>gw');
    expect(await (await fetch(`${atRoot.url}/before`)).text()).to.equal('before');
    expect(await (await post(`${atRoot.url}/behind`, { a: 1 })).json()).to.deep.equal({ read: { a: 1 } });
  });

  it('takes a connection over that is to be a WebSocket, and no other', async () => {
    const upstream = createServer();
    const sockets = new WebSocketServer({ server: upstream });
    sockets.on('connection', (socket) => {
      socket.on('message', (data: Buffer) => socket.send(`heard ${data.toString()}`));
    });
    atEnd(() => {
      for (const socket of sockets.clients) socket.terminate();
    });
    const { origin, url } = await embedded('express at a path', {
      config: { strategy: { mode: 'single' }, targets: [{ virtual_key: 'openai', models: ['m'] }] },
      env: { ...ENV, OPENAI_API_KEY: 'sk-none', OPENAI_BASE_URL: `${await localServer(upstream)}/v1` },
    });
    const talk = (address: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(address.replace('http', 'ws'), { headers: HEADERS });
        atEnd(() => socket.terminate());
        socket.on('open', () => socket.send('hi'));
        socket.on('message', (data: Buffer) => resolve(data.toString()));
        socket.on('error', (error) => resolve(error.message));
      });
    expect(await talk(`${url}/v1/realtime?model=m`)).to.equal('heard hi');
    expect(await talk(`${origin}/v1/realtime?model=m`)).to.equal('socket hang up');
    expect(await talk(`${url}/nothing`)).to.equal('socket hang up');
  });

  it('throws every problem of a configuration, and keeps the one in force where another is refused', async () => {
    const bad = { strategy: { mode: 'nowhere' }, targets: [{ virtual_key: 'nothing' }] };
    const error = (await refusal({ config: bad })) as ConfigRefused;
    expect(error.name).to.equal('ConfigRefused');
    expect(error.problems.map(({ path }) => path)).to.include.members(['strategy.mode', 'targets[0].virtual_key']);
    const { gateway } = await makeGateway();
    const before = await gateway.fetchModels();
    const problems = await gateway.apply(bad).catch(({ problems: found }: ConfigRefused) => found);
    expect(problems).to.deep.equal(error.problems);
    expect(await gateway.fetchModels()).to.deep.equal(before);
    await gateway.apply({ ...CONFIG, targets: [{ virtual_key: 'echo', models: ['n'] }] });
    expect(await gateway.fetchModels()).to.deep.include.members([
      { id: 'n', object: 'model', created: 0, owned_by: 'echo' },
    ]);
    expect(gateway.explain({ ...ask(), model: 'n' })).to.deep.include({ model: 'n', surface: 'chat', refusal: null });
  });

  it('reads a file that is named, from the working directory, and looks for none', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'mine.yaml');
    await writeFile(file, 'strategy: {mode: single}\ntargets: [{virtual_key: echo, models: [of-file]}]\n');
    const { gateway, lines } = await makeGateway({ config: file, env: { ...ENV, GATEWAY_CONFIG: '/nowhere.yaml' } });
    expect(JSON.stringify(await gateway.fetchModels())).to.include('of-file');
    expect(lines.find(({ variables }) => variables === 'GATEWAY_CONFIG')).to.include({ level: 'WARN' });
    const { gateway: other } = await makeGateway({ config: undefined });
    expect(other.explain({ ...ask(), model: 'echo' })).to.include({ strategy: 'fallback' });
  });

  it('warns once of what speaks of listeners, by name', async () => {
    const env = { ...ENV, PORT: '1', GW_ADMIN_PORT: '2', GW_ADMIN_ADDRESS: '::1', GW_TLS_CERT: '/x', GW_WORKERS: '4' };
    const { lines } = await makeGateway({ env: { ...env, GW_ADDRESS: '' } });
    expect(lines.flatMap(({ variables }) => (variables ? [variables] : []))).to.deep.equal([
      'GW_ADMIN_ADDRESS, GW_ADMIN_PORT, GW_TLS_CERT, GW_WORKERS, PORT',
    ]);
  });

  it('makes no key: without anything that could authenticate it throws', async () => {
    const { message } = await refusal({ env: {} });
    expect(message).to.equal('a gateway needs MASTER_KEY, a key store, or ALLOW_UNAUTHENTICATED_PROXY');
    await makeGateway({ env: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    await makeGateway({
      env: { API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(await temporaryFolder(), 'k.db') },
    });
  });

  it('takes modules that are handed over, and says what is wrong with one', async () => {
    const last: StrategyModule = defineStrategy({
      name: 'last-first',
      summary: 'Tries the targets from the last to the first',
      settings: Joi.object({}),
      create: () => (targets) => targets.toReversed(),
    });
    const { gateway } = await makeGateway({ modules: [last], config: { ...CONFIG, strategy: { mode: 'last-first' } } });
    expect(gateway.explain(ask())).to.include({ strategy: 'last-first' });
    const { problems } = (await refusal({ modules: [{ ...last, name: 'Last First' }] })) as ConfigRefused;
    expect(problems.map(({ rule }) => rule.slice(0, 2))).to.deep.equal(['MV']);
  });

  it('waits for what is in flight as it drains, then ends, and leaves the server alone', async () => {
    const answer = Promise.withResolvers<void>();
    const upstream = await stubUpstream(async (_request, response) => {
      await answer.promise;
      replyJson(response, 200, chatReply('late'));
    });
    const { gateway, origin, url, lines } = await embedded('express at a path', {
      config: configOf(upstream.url),
      env: { ...ENV, OWN_KEY: 'sk-own' },
    });
    expect(gateway.isReady).to.equal(true);
    const running = post(`${url}/v1/chat/completions`, ask());
    await eventually(() => upstream.seen.length === 1);
    const drained = gateway.drain();
    expect([gateway.isReady, gateway.drain()]).to.deep.equal([false, drained]);
    expect((await fetch(`${url}/readyz`)).status).to.equal(503);
    answer.resolve();
    expect((await running).status).to.equal(200);
    await drained;
    expect(lines.at(-1)).to.include({ msg: 'gw stopped' });
    expect(await (await fetch(`${origin}/before`)).text()).to.equal('before');
    expect((await post(`${url}/v1/chat/completions`, ask())).status).to.equal(503);
  });

  it('keeps two gateways in one process apart', async () => {
    const [one, other] = await Promise.all([
      makeGateway(),
      makeGateway({ config: { ...CONFIG, targets: [{ virtual_key: 'echo', models: ['other'] }] } }),
    ]);
    const app = express();
    app.use('/one', one.gateway.handler);
    app.use('/other', other.gateway.handler);
    const origin = await localServer(createServer(app));
    await one.gateway.apply({ ...CONFIG, targets: [{ virtual_key: 'echo', models: ['mine'] }] });
    const models = async (path: string): Promise<string> =>
      (await fetch(`${origin}${path}/v1/models`, { headers: HEADERS })).text();
    expect(await models('/one'))
      .to.include('"mine"')
      .and.to.not.include('"other"');
    expect(await models('/other'))
      .to.include('"other"')
      .and.to.not.include('"mine"');
    await one.gateway.drain();
    expect(await models('/other')).to.include('"other"');
  });

  it('adds no handler of signals or errors to the process, and none is left', async () => {
    const names = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'exit'] as const;
    const counts = (): number[] => names.map((name) => process.listenerCount(name));
    const before = counts();
    const { gateway } = await makeGateway();
    expect(counts()).to.deep.equal(before);
    await gateway.drain();
    expect(counts()).to.deep.equal(before);
  });
});
