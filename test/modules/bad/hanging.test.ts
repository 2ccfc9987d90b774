import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginHandlers, type PluginModule, reject, type Stage } from 'gw/contract';
import {
  ask,
  eventually,
  fakeClock,
  type FakeClock,
  MASTER_KEY,
  startGateway,
  startHost,
  type TestHost,
} from '../../kit/index.ts';
import { writeTree } from '../../registry/support.ts';
import { plugin, provider, strategy } from './bad-module.ts';

const PATH = '/v1/chat/completions';
const ECHO = { virtual_key: 'echo', models: ['m'] };
const never = (): Promise<never> => new Promise(() => {});

function listed(
  name: string,
  handlers: PluginHandlers,
  type: PluginModule['type'] = 'guardrail',
): { module: PluginModule; entries: object[] } {
  const stages = (['before_request', 'after_request', 'on_error'] as const satisfies Stage[]).filter(
    (stage) => handlers[stage],
  );
  const module = definePlugin({ name, type, summary: 's', stages, settings: Joi.object({}), create: () => handlers });
  return { module, entries: stages.map((stage) => ({ name, stage, enabled: true })) };
}

async function hostWith(
  plugins: readonly ReturnType<typeof listed>[],
  config: object = {},
): Promise<{ host: TestHost; clock: FakeClock }> {
  const clock = fakeClock();
  const host = await startHost(
    { targets: [ECHO], plugins: plugins.flatMap(({ entries }) => entries), ...config },
    { clock, modules: plugins.map(({ module }) => module) },
  );
  return { host, clock };
}

const linesOf = ({ lines }: TestHost, name: string): object[] =>
  lines
    .filter((line) => line['plugin'] === name)
    .map(({ msg, function: functionName, error }) => ({ msg, functionName, error: String(error) }));

describe('modules that never end what they began', () => {
  for (const stage of ['before_request', 'after_request'] as const) {
    it(`${stage} of a guardrail ends as a failure after ten minutes, where nothing shorter bounds the request; of a logging plugin it is passed over`, async () => {
      for (const [type, status] of [
        ['guardrail', 500],
        ['logging', 200],
      ] as const) {
        const reached = Promise.withResolvers<void>();
        const { host, clock } = await hostWith([
          listed('hangs', { [stage]: () => (reached.resolve(), never()) }, type),
        ]);
        const answer = host.post(PATH, ask());
        await reached.promise;
        clock.advance(599_999);
        expect(linesOf(host, 'hangs')).to.deep.equal([]);
        clock.advance(1);
        expect((await answer).status).to.equal(status);
        expect(linesOf(host, 'hangs')).to.have.lengthOf(1);
        expect(linesOf(host, 'hangs')[0]).to.include({
          functionName: stage,
          error: `${stage} did not finish within 600000 ms`,
        });
      }
    });
  }

  it('on_error holds the answer up for ten seconds at most, is named, and the next plugin still hears of the failure', async () => {
    const reached = Promise.withResolvers<void>();
    const heard: string[] = [];
    const refuses = listed('refuses', { before_request: () => reject('no') });
    const hangs = listed('hangs', { on_error: () => (reached.resolve(), never()) });
    const records = listed('records', { on_error: ({ error }) => void heard.push(String(error?.code)) }, 'logging');
    const { host, clock } = await hostWith([refuses, hangs, records]);
    const answer = host.post(PATH, ask());
    await reached.promise;
    clock.advance(10_000);
    expect((await answer).status).to.equal(400);
    await eventually(() => heard.length > 0);
    expect(heard).to.deep.equal(['request_rejected']);
    expect(linesOf(host, 'hangs')).to.deep.equal([
      {
        msg: 'plugin failed, the request goes on',
        functionName: 'on_error',
        error: 'on_error did not finish within 10000 ms',
      },
    ]);
  });

  it('on_error holds the answer up no longer than request_timeout, runs on, and keeps its plugin from being closed', async () => {
    const events: string[] = [];
    const done = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow = listed('slow', {
      before_request: () => reject('no'),
      on_error: async () => {
        reached.resolve();
        await done.promise;
        events.push('recorded');
      },
      dispose: () => void events.push('closed'),
    });
    const { host, clock } = await hostWith([slow], { request_timeout: '1s' });
    const answer = host.post(PATH, ask());
    await reached.promise;
    clock.advance(1000);
    expect((await answer).status).to.equal(400);
    await host.apply({ targets: [ECHO] });
    expect(events).to.deep.equal([]);
    done.resolve();
    await eventually(() => events.length === 2);
    expect(events).to.deep.equal(['recorded', 'closed']);
  });

  it('a finished that leaves a promise behind is named after ten seconds, and no request waits for it', async () => {
    const leaves: object = { before_request: () => {}, finished: never };
    const { host, clock } = await hostWith([listed('leaves', leaves)]);
    expect((await host.post(PATH, ask())).status).to.equal(200);
    clock.advance(10_000);
    await eventually(() => linesOf(host, 'leaves').length > 0);
    expect(linesOf(host, 'leaves')).to.deep.equal([
      {
        msg: 'plugin failed at the end of a request',
        functionName: 'finished',
        error: 'finished did not finish within 10000 ms',
      },
    ]);
  });

  it('dispose of a plugin, a strategy and a provider keep a stop no longer than GW_SHUTDOWN_TIMEOUT: it ends with exit code 0, and each is named', async () => {
    const dispose = 'dispose: () => new Promise(() => {})';
    const folder = await writeTree({
      'config.json': JSON.stringify({
        strategy: { mode: 'holds' },
        targets: [ECHO, { virtual_key: 'opens' }],
        plugins: [{ name: 'keeps', stage: 'before_request', enabled: true }],
      }),
      'plugins/keeps.ts': plugin(
        'keeps',
        `create: (_settings, { carryover }) => { carryover.lease('kept', () => 1, () => new Promise(() => {})); return { before_request() {}, ${dispose} }; }`,
      ),
      'strategies/holds.ts': strategy('holds', `create: () => ({ rank: (targets) => targets, ${dispose} })`),
      'providers/opens.ts': provider('opens', '', `open: () => ({ authorize: () => ({}), ${dispose} })`),
    });
    const gateway = await startGateway({
      variables: { GATEWAY_CONFIG: join(folder, 'config.json'), GW_SHUTDOWN_TIMEOUT: '1s', ACME_API_KEY: 'k' },
    });
    expect(await gateway.stop()).to.equal(0);
    const named = (name: string): unknown[] =>
      gateway.lines
        .filter(({ error }) => String(error).includes(`"${name}" did not finish within`))
        .map(({ function: functionName }) => functionName);
    const limits = gateway.lines
      .flatMap(({ error }) => / did not finish within (\d+) ms$/.exec(String(error))?.[1] ?? [])
      .map(Number);
    expect(limits, 'far less than the 5 s that one dispose has otherwise')
      .to.have.length(4)
      .and.satisfy((all: number[]) => all.every((ms) => ms <= 1000));
    expect([named('keeps'), named('holds'), named('opens')]).to.deep.equal([
      ['dispose', 'dispose'],
      ['dispose'],
      ['dispose'],
    ]);
  });

  it('a request that a plugin never lets go ends with the stop, with exit code 0', async () => {
    const folder = await writeTree({
      'config.json': JSON.stringify({
        strategy: { mode: 'single' },
        targets: [ECHO],
        plugins: [
          { name: 'holds-on', stage: 'before_request', enabled: true },
          { name: 'holds-on', stage: 'on_error', enabled: true },
        ],
      }),
      'plugins/holds-on.ts': plugin(
        'holds-on',
        "stages: ['before_request', 'on_error'], create: (_settings, { log }) => ({ before_request() { log.info('reached'); return new Promise(() => {}); }, on_error: () => new Promise(() => {}) })",
      ),
    });
    const gateway = await startGateway({
      variables: { GATEWAY_CONFIG: join(folder, 'config.json'), GW_SHUTDOWN_TIMEOUT: '1s' },
    });
    const answer = fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      body: JSON.stringify(ask()),
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    });
    await eventually(() => gateway.lines.some(({ msg }) => msg === 'reached'));
    expect(await gateway.stop()).to.equal(0);
    expect((await answer).status).to.equal(503);
  });
});

describe('log lines of modules', () => {
  it('name the module and, for as long as a request is served, its id; what they say themselves wins', async () => {
    const body = `create: (_settings, { log }) => { log.warn('made'); return { async before_request(e) { log.info('at once'); await new Promise((done) => setTimeout(done, 1)); log.info('later', { plugin: 'mine' }); }, finished() { log.info('over'); } }; }`;
    const folder = await writeTree({
      'config.json': JSON.stringify({
        strategy: { mode: 'talks' },
        targets: [ECHO],
        plugins: [{ name: 'says', stage: 'before_request', enabled: true }],
      }),
      'plugins/says.ts': plugin('says', body),
      'strategies/talks.ts': strategy(
        'talks',
        "create: (_settings, { log }) => (targets) => { log.info('ranked'); return targets; }",
      ),
    });
    const gateway = await startGateway({ variables: { GATEWAY_CONFIG: join(folder, 'config.json') } });
    const response = await fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      body: JSON.stringify(ask()),
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', connection: 'close' },
    });
    expect(response.status).to.equal(200);
    const trace_id = response.headers.get('x-request-id');
    await response.text();
    await eventually(() => gateway.lines.some(({ msg }) => msg === 'over'));
    const said = (wanted: string): object =>
      gateway.lines
        .filter(({ msg }) => msg === wanted)
        .map(({ time: _time, level: _level, msg: _msg, ...rest }) => rest);
    expect(said('made')).to.deep.equal([{ plugin: 'says' }]);
    expect(said('at once')).to.deep.equal([{ plugin: 'says', trace_id }]);
    expect(said('later')).to.deep.equal([{ plugin: 'mine', trace_id }]);
    expect(said('over')).to.deep.equal([{ plugin: 'says', trace_id }]);
    expect(said('ranked')).to.deep.equal([{ strategy: 'talks', trace_id }]);
  });
});
