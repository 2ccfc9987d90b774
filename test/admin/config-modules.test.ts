import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type GatewayProcess, inSoak, runGw, startGateway, temporaryFolder } from '../kit/index.ts';

const plugin = (name: string): string => `
  import Joi from 'joi';
  import { definePlugin } from 'gw/contract';
  export default definePlugin({
    name: '${name}', type: 'transform', summary: 'Changes nothing', stages: ['before_request'], settings: Joi.object({}),
    create: () => ({ before_request: () => undefined }),
  });
`;
const using = (...names: string[]): Record<string, unknown> => ({
  modules: names.map((name) => `./${name}.js`),
  targets: [{ virtual_key: 'echo' }],
  plugins: names.map((name) => ({ name, stage: 'before_request', enabled: true })),
});

interface Scene {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** A folder whose file lists the module `kept`; beside it lies another that nothing lists. */
async function scene(): Promise<Scene> {
  const cwd = await temporaryFolder();
  for (const name of ['kept', 'other']) await writeFile(join(cwd, `${name}.js`), plugin(name));
  await writeFile(join(cwd, 'config.json'), JSON.stringify(using('kept')));
  return { cwd, variables: { PORT: '0', CONFIG_STORE_BACKEND: 'sqlite', CONFIG_STORE_DSN: join(cwd, 'kept.db') } };
}

async function call(
  { url, key }: GatewayProcess,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: any }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe('a stored configuration that lists modules', function stored() {
  this.timeout(60_000);

  inSoak('starts again when the file that listed them is gone, and says what is missing when they are', async () => {
    const at = await scene();
    const first = await startGateway(at);
    expect((await call(first, 'PUT', '/admin/config', using('kept'))).status).to.equal(200);
    await first.stop();
    await rm(join(at.cwd, 'config.json'));
    const second = await startGateway(at);
    expect((await call(second, 'GET', '/admin/plugins')).body).to.deep.equal([
      { name: 'kept', type: '', enabled: true },
    ]);
    expect(
      (await call(second, 'PUT', '/admin/config', { ...using('kept'), aliases: { a: 'echo' } })).status,
      'once more',
    ).to.equal(200);
    await second.stop();
    await rm(join(at.cwd, 'kept.js'));
    const third = await runGw(['serve'], at);
    expect([third.code, third.stderr]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 1 && text.includes('modules[0]') && text.includes('MV10') && text.includes('./kept.js'),
    );
  });

  it('is refused when it lists one that this start did not load, by every way to write it', async () => {
    const at = await scene();
    const gateway = await startGateway(at);
    expect((await call(gateway, 'PUT', '/admin/config', using('kept'))).status).to.equal(200);
    for (const [method, path] of [
      ['PUT', '/admin/config'],
      ['POST', '/admin/config'],
      ['POST', '/admin/config/validate'],
      ['POST', '/admin/config/diff'],
    ] as const) {
      const {
        status,
        body: { error },
      } = await call(gateway, method, path, { ...using('kept'), modules: ['./kept.js', './other.js'] });
      expect([status, error.code, error.message], `${method} ${path}`).to.satisfy(
        (given: [number, string, string]) =>
          given[0] === 400 && given[1] === 'invalid_config' && /^modules\[1\]: BV09: .*\.\/other\.js/.test(given[2]),
      );
    }
    expect((await call(gateway, 'GET', '/admin/config/history')).body.data).to.have.length(1);
    await writeFile(
      join(at.cwd, 'config.json'),
      JSON.stringify({ ...using('kept'), modules: ['./kept.js', './other.js'] }),
    );
    await gateway.stop();
    const second = await startGateway(at);
    expect((await call(second, 'PUT', '/admin/config', using('kept', 'other'))).status).to.equal(200);
  });
});
