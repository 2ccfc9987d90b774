import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { WATCH_INTERVAL_MS, watchFile } from '../../host/config/watch.ts';
import {
  atEnd,
  chatReply,
  fakeClock,
  type GatewayProcess,
  replyJson,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

/** A watched file, time that stands still, and the changes that were reported. */
async function watched(): Promise<{ path: string; look: () => Promise<void>; changes: () => number }> {
  const path = join(await temporaryFolder(), 'config.yaml');
  await writeFile(path, 'one');
  const clock = fakeClock();
  let changes = 0;
  const watch = await watchFile(path, clock, async () => {
    changes += 1;
  });
  atEnd(() => watch.stop());
  const looked = async (): Promise<void> => {
    while (clock.waiting === 0) await setImmediate();
  };
  await looked();
  const look = async (): Promise<void> => {
    clock.advance(WATCH_INTERVAL_MS);
    await looked();
  };
  return { path, look, changes: () => changes };
}

describe('a watched file', () => {
  it('is reported as changed once, when two looks saw the same', async () => {
    const { path, look, changes } = await watched();
    await look();
    expect(changes()).to.equal(0);
    await writeFile(path, 'half');
    await look();
    await writeFile(path, 'half and half');
    await look();
    expect(changes()).to.equal(0);
    await look();
    await look();
    expect(changes()).to.equal(1);
  });

  it('may be replaced, taken away and come back', async () => {
    const { path, look, changes } = await watched();
    await writeFile(`${path}.new`, 'two');
    await rename(`${path}.new`, path);
    for (let looks = 0; looks < 3; looks += 1) await look();
    expect(changes()).to.equal(1);
    await rm(path);
    for (let looks = 0; looks < 3; looks += 1) await look();
    expect(changes()).to.equal(2);
    await writeFile(path, 'three');
    for (let looks = 0; looks < 3; looks += 1) await look();
    expect(changes()).to.equal(3);
  });
});

describe('GW_CONFIG_WATCH', () => {
  /** In one step: on a busy machine half a file may stand there for long enough to be taken for a whole one. */
  const replace = async (path: string, text: string): Promise<void> => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  const config = (model: string): string => `targets: [{virtual_key: openai, models: [${model}]}]\n`;

  async function start(): Promise<{
    gateway: GatewayProcess;
    path: string;
    statusOf: (model: string) => Promise<number>;
    logged: (msg: string, count: number) => Promise<void>;
  }> {
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const cwd = await temporaryFolder();
    const path = join(cwd, 'config.yaml');
    await writeFile(path, config('first'));
    const gateway = await startGateway({
      cwd,
      variables: {
        GW_CONFIG_WATCH: 'true',
        OPENAI_API_KEY: 'an-upstream-credential',
        OPENAI_BASE_URL: `${stub.url}/v1`,
      },
    });
    const statusOf = async (model: string): Promise<number> =>
      (
        await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}` },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
        })
      ).status;
    const logged = async (message: string, count: number): Promise<void> => {
      while (gateway.lines.filter(({ msg }) => msg === message).length < count) await setImmediate();
    };
    return { gateway, path, statusOf, logged };
  }

  it('applies a changed file while the gateway runs, and leaves the running configuration when the file has a problem', async () => {
    const { gateway, path, statusOf, logged } = await start();
    expect([await statusOf('first'), await statusOf('second')]).to.deep.equal([200, 404]);
    await replace(path, config('second'));
    await logged('config file loaded', 2);
    expect([await statusOf('first'), await statusOf('second')]).to.deep.equal([404, 200]);
    await replace(path, 'targets: [{virtual_key: nosuch}]\n');
    await logged('config file refused, the running configuration stays', 1);
    expect(await statusOf('second')).to.equal(200);
    const refusal = gateway.lines.find(({ msg }) => String(msg).startsWith('config file refused'));
    expect(refusal).to.include({ level: 'ERROR', path });
    expect(refusal?.['error']).to.match(/BV01.*nosuch/);
    await replace(path, config('third'));
    await logged('config file loaded', 3);
    expect(await statusOf('third')).to.equal(200);
    expect(await gateway.stop()).to.equal(0);
  });
});
