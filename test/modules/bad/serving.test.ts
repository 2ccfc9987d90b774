import { join } from 'node:path';
import { expect } from 'chai';
import {
  chatReply,
  eventually,
  forSuite,
  replyJson,
  replyStream,
  startGateway,
  stubUpstream,
} from '../../kit/index.ts';
import { writeTree } from '../../registry/support.ts';
import { type BadCall, moduleOf, WHILE_SERVING } from './while-serving.ts';

const kindOf = ({ file }: BadCall): string =>
  /^(plugin|provider|strateg)/.exec(file)?.[1]?.replace('strateg', 'strategy') ?? '';
const stageOf = ({ source }: BadCall): string => /stages: \['(\w+)'\], create/.exec(source)?.[1] ?? 'before_request';

function configOf(rows: readonly BadCall[]): object {
  const providers = rows.filter((row) => kindOf(row) === 'provider').map(moduleOf);
  return {
    strategy: { mode: 'own' },
    targets: [
      ...providers.map((name) => ({ virtual_key: name, models: [name] })),
      { virtual_key: 'echo', models: ['m', ...providers] },
    ],
    plugins: rows
      .filter((row) => kindOf(row) === 'plugin')
      .map((row) => ({ name: moduleOf(row), stage: stageOf(row), enabled: true })),
  };
}

describe('modules that are bad while they serve', () => {
  const run = forSuite(async () => {
    const upstream = await stubUpstream((request, response) => {
      if (request.url.endsWith('/fails')) response.writeHead(500).end('{}');
      else if (request.json()['stream']) replyStream(response, ['hi']);
      else replyJson(response, 200, chatReply('hi'));
    });
    const folder = await writeTree({
      'config.json': JSON.stringify(configOf(WHILE_SERVING)),
      ...Object.fromEntries(WHILE_SERVING.map(({ file, source }) => [file, source])),
    });
    const gateway = await startGateway({
      variables: {
        GATEWAY_CONFIG: join(folder, 'config.json'),
        ACME_API_KEY: 'k',
        BAD_BASE_URL: upstream.url,
        LOG_LEVEL: 'debug',
      },
    });
    const post = async (ask: object): Promise<{ status: number; text: string; id: string; target: string | null }> => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...ask }),
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', connection: 'close' },
      });
      return {
        status: response.status,
        text: await response.text(),
        id: response.headers.get('x-request-id') ?? '',
        target: response.headers.get('x-gateway-target'),
      };
    };
    return { folder, gateway, post };
  });

  for (const row of WHILE_SERVING) {
    it(`${row.file}: one that ${row.does}`, async () => {
      const { folder, gateway, post } = run();
      const name = moduleOf(row);
      const { status, text, id, target } = await post({ user: name, ...row.ask });
      const code = status === 200 ? target : (JSON.parse(text) as { error: { code: string } }).error.code;
      expect([status, code], text).to.deep.equal(row.gets);
      if (row.line) {
        const { msg, function: functionName, error, at } = row.line;
        await eventually(() => gateway.lines.some((line) => line['trace_id'] === id && line['msg'] === msg));
        const line = gateway.lines.find((each) => each['trace_id'] === id && each['msg'] === msg) ?? {};
        expect([line[kindOf(row)], line['function']]).to.deep.equal([name, functionName]);
        expect(String(line['error'])).to.include(error);
        if (at !== false)
          expect(String(line['at'])).to.match(new RegExp(`^${RegExp.escape(join(folder, row.file))}:\\d+:\\d+$`));
        if (at !== false) expect(String(line['stack'])).to.include(row.file);
      }
      expect((await post({})).status, 'what others are served').to.equal(200);
    });
  }

  it('leave stdout to log lines, and end with exit code 0', async () => {
    expect(await run().gateway.stop()).to.equal(0);
  });
});
