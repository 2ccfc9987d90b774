import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { askOn } from '../../host/cli/ask.ts';
import { widthOf } from '../../host/cli/text-width.ts';
import { atEnd, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

/** A gateway whose answers depend on the call; `undefined` is 404. */
async function answering(
  answer: (call: string) => unknown,
): Promise<{ readonly url: string; readonly calls: string[] }> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const call = `${request.method} ${request.url}`;
    calls.push(call);
    const body = answer(call);
    response
      .writeHead(body === undefined ? 404 : 200, { connection: 'close' })
      .end(body === undefined ? '' : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.on('listening', resolve);
  });
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

const terminal = { columns: 72, isColoured: true };
const key = (name: string): object => ({
  id: 'id-1',
  name,
  scopes: ['admin'],
  expires_at: new Date(Date.now() + 50 * 3600e3).toISOString(),
  active: true,
});

describe('commands on a terminal', () => {
  it('show colours, distances of times, and no line longer than the terminal; elsewhere none of it', async () => {
    const { url } = await answering((call) =>
      call === 'GET /health' ? { status: 'ok' } : call.startsWith('POST') ? {} : [key('n'.repeat(90))],
    );
    const there = await runCommand(['admin', 'keys', 'list', '--gateway-url', url], { io: { terminal } });
    expect(there.stdout).to.contain('(in 2d)').and.to.contain('…');
    for (const line of there.stdout.split('\n')) expect(line.length).to.be.at.most(72);
    const elsewhere = await runCommand(['admin', 'keys', 'list', '--gateway-url', url]);
    expect(elsewhere.stdout)
      .to.contain('n'.repeat(90))
      .and.to.match(/\d\d:\d\d UTC/)
      .and.to.not.contain('in 2d');
    expect((await runCommand(['status', '--gateway-url', url], { io: { terminal } })).stdout).to.match(
      /^\u001b\[32m\[OK\]\u001b\[0m /,
    );
    expect(
      (await runCommand(['status', '--gateway-url', url], { io: { terminal: { ...terminal, isColoured: false } } }))
        .stdout,
    ).to.match(/^\[OK\] /);
    expect(
      (await runCommand(['admin', 'keys', 'revoke', 'x', '--gateway-url', url], { io: { terminal } })).stdout,
    ).to.equal('\u001b[32m[OK]\u001b[0m Key revoked.\n');
  });

  it('align names of wide letters and emoji by the columns they take, and cut them between characters, however narrow the terminal is', async () => {
    const { url } = await answering(() => ['a', '名前の長いキー', '👩‍👩‍👧 family', 'e\u0301mile'].map(key));
    for (const columns of [200, 80, 50, 34, 20, 9]) {
      const { stdout } = await runCommand(['admin', 'keys', 'list', '--gateway-url', url], {
        io: { terminal: { columns, isColoured: true } },
      });
      const lines = stdout.trimEnd().split('\n');
      expect(lines).to.have.length(6);
      for (const line of lines) expect(widthOf(line), line).to.be.at.most(columns);
      if (columns < 30) continue;
      const scopes = lines.map((line) => widthOf(line.slice(0, line.search(/SCO|(?<= {3})----?|adm/))));
      expect(new Set(scopes.filter((_at, line) => line !== 1)).size, stdout).to.equal(1);
    }
    const elsewhere = await runCommand(['admin', 'keys', 'list', '--gateway-url', url]);
    const [, , ...rows] = elsewhere.stdout.trimEnd().split('\n');
    expect(new Set(rows.map((line) => widthOf(line.slice(0, line.indexOf('admin')))))).to.deep.equal(new Set([24])); // 7 + 14 + 3;
  });

  it('draw providers, circuits and calls, in colour, no line longer than the terminal', async () => {
    const providers = [
      { name: 'openai', circuit: 'closed', models: 12 },
      { name: 'groq', circuit: 'open', models: 3 },
      { name: 'mistral', circuit: 'half-open', models: 1 },
    ];
    const targets = [
      { name: 'openai', registered: true, circuit: 'closed', in_flight: 4, waiting: 1 },
      { name: 'xai', registered: false, circuit: 'closed', in_flight: 0, waiting: 0 },
    ];
    const { url } = await answering((call) =>
      call === 'GET /health' ? { status: 'ok', providers } : call === 'GET /admin/health' ? { targets } : undefined,
    );
    const status = async (columns: number, isColoured: boolean): Promise<string[]> => {
      const { stdout } = await runCommand(['status', '--gateway-url', url, '--api-key', 'k'], {
        io: { terminal: { columns, isColoured } },
      });
      return stdout.trimEnd().split('\n').slice(2);
    };
    expect(await status(100, false)).to.deep.equal([
      '  [OK] openai    circuit closed      12 models   4 in flight, 1 waiting',
      '  [X]  groq      circuit open        3 models',
      '  [!]  mistral   circuit half-open   1 models',
      '  [-]  xai       not registered   0 in flight, 0 waiting',
    ]);
    expect((await status(100, true))[1]).to.equal('  \u001b[31m[X]\u001b[0m  groq      circuit open        3 models');
    for (const line of await status(30, false)) expect(line.length).to.be.at.most(30);
  });

  it('ask before they replace the configuration, unless --yes says not to', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'c.yaml'), 'targets: [{virtual_key: echo}]\n');
    const { url, calls } = await answering((call) =>
      call.endsWith('/diff')
        ? { changes: [{ path: 'targets[0].weight', before: 1, after: null }] }
        : { status: 'updated' },
    );
    const set = (answer: string | undefined, ...more: string[]): ReturnType<typeof runCommand> =>
      runCommand(['admin', 'config', 'set', '--file', 'c.yaml', '--gateway-url', url, ...more], {
        cwd,
        io: { terminal, ask: async () => answer },
      });
    for (const answer of ['', 'n', undefined]) {
      const refused = await set(answer);
      expect([refused.code, refused.stdout, refused.stderr]).to.deep.equal([
        1,
        'targets[0].weight\n  - 1\n',
        'Nothing was changed.\n',
      ]);
    }
    expect(calls.filter((call) => call.startsWith('PUT'))).to.deep.equal([]);
    expect((await set('y')).stdout).to.contain('Configuration updated.');
    expect((await set('n', '--yes')).code).to.equal(0);
    expect(calls.filter((call) => call === 'PUT /admin/config')).to.have.lengthOf(2);
  });

  it('replace the configuration of a gateway that cannot compare', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'c.json'), '{"targets": [{"virtual_key": "echo"}]}');
    const { url } = await answering((call) => (call.startsWith('PUT') ? { status: 'updated' } : undefined));
    expect(
      (await runCommand(['admin', 'config', 'set', '--file', 'c.json', '--gateway-url', url], { cwd })).stdout,
    ).to.equal('[OK] Configuration updated.\n');
  });

  it('take the line that stands before the end of the input without an end of its own, and ask no further', async () => {
    const input = new PassThrough();
    const ask = askOn(
      () => input,
      () => {},
    );
    input.end('one');
    expect([await ask('> '), await ask('> '), await ask('> ')]).to.deep.equal(['one', undefined, undefined]);
  });

  it('talk line by line', async () => {
    const lines = ['hello', ''];
    const server = createServer((_request, response) => {
      response.end(
        'data: {"choices":[{"delta":{"content":"good "}}]}\n\ndata: {"choices":[{"delta":{"content":"day"}}]}\n\ndata: [DONE]\n\n',
      );
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => {
      server.on('listening', resolve);
    });
    atEnd(() => {
      server.close();
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stdout } = await runCommand(['chat', '--model', 'm', '--gateway-url', url], {
      io: { terminal, ask: async () => lines.shift() },
    });
    expect([code, stdout]).to.deep.equal([0, 'good day\n']);
  });
});

describe('gw admin logs stats', () => {
  const statistics = {
    summary: {
      total_entries: 120,
      error_entries: 3,
      total_tokens: 5000,
      prompt_tokens: 4000,
      completion_tokens: 1000,
      cost_usd: 0.125,
      unpriced_requests: 7,
    },
    latency_ms: { p50: 12.4, p95: 80, p99: 90, max: 100, mean: 20, count: 120 },
    ttft_ms: null,
    by_stage: { after_request: 117, on_error: 3 },
    by_provider: {
      openai: { count: 100, errors: 0 },
      'a-provider-with-a-name-that-is-much-too-long': { count: 1, errors: 1 },
    },
    by_model: {},
    top_errors: [{ message: 'it\u001b[31m failed', count: 3 }],
  };

  it('draws bars on a terminal, no line longer than it; elsewhere it is JSON', async () => {
    const { url } = await answering(() => statistics);
    const stats = async (columns?: number, ...more: string[]): Promise<string> =>
      (
        await runCommand(
          ['admin', 'logs', 'stats', '--gateway-url', url, ...more],
          columns === undefined ? {} : { io: { terminal: { columns, isColoured: true } } },
        )
      ).stdout;
    expect(await stats(90)).to.equal(
      [
        'Requests: 120   errors: 3   tokens: 5000   cost: $0.1250 and 7 unpriced',
        'Latency: p50 12ms   p95 80ms   p99 90ms   max 100ms',
        '',
        'By provider',
        `  openai                            ${'█'.repeat(35)} 100`,
        '  a-provider-with-a-name-that-is-…  █ 1, 1 failed',
        '',
        'By stage',
        `  after_request  ${'█'.repeat(40)} 117`,
        '  on_error       █ 3',
        '',
        'Most frequent errors',
        '  3  it\\u001b[31m failed',
        '',
      ].join('\n'),
    );
    for (const line of (await stats(40)).split('\n')) expect(line.length, line).to.be.at.most(40);
    for (const text of [await stats(), await stats(90, '--format', 'json')])
      expect(JSON.parse(text)).to.deep.equal(statistics);
  });
});

describe('gw admin logs list', () => {
  const row = (id: number): object => ({
    trace_id: `t${id}`,
    provider: 'echo',
    model: 'm',
    stage: 'after_request',
    duration_ms: id === 2 ? null : 12.6,
    created_at: `2026-11-22T10:00:0${id}.000Z`,
  });

  it('shows rows with rounded durations, and dashes for what was not measured', async () => {
    const { url, calls } = await answering(() => ({ data: [row(2), row(1)] }));
    const { stdout } = await runCommand(['admin', 'logs', 'list', '--limit', '7', '--gateway-url', url]);
    expect(stdout).to.equal(
      [
        'TRACE_ID   PROVIDER   MODEL   STAGE           DURATION_MS   CREATED_AT',
        '--------   --------   -----   -----           -----------   ----------',
        't2         echo       m       after_request   -             2026-11-22 10:00 UTC',
        't1         echo       m       after_request   13            2026-11-22 10:00 UTC',
        '',
      ].join('\n'),
    );
    expect(calls).to.deep.equal(['GET /admin/logs?limit=7']);
  });

  it('sends each filter as its parameter, and takes none with --follow', async () => {
    const { url, calls } = await answering(() => ({ data: [] }));
    const filters = ['--status', '429,5xx', '--trace', 'AB', '--text', 'a b&c', '--session', '', '--outcome=failed'];
    await runCommand(['admin', 'logs', 'list', ...filters, '--gateway-url', url]);
    expect(calls).to.deep.equal([
      'GET /admin/logs?limit=50&trace_id=AB&status=429%2C5xx&outcome=failed&session_id=&text=a+b%26c',
    ]);
    const refused = await runCommand(['admin', 'logs', 'list', '--follow', '--user', 'u', '--gateway-url', url]);
    expect(refused.stderr).to.contain('--follow shows every row: leave the filters out');
  });

  it('shows one request by its id', async () => {
    const { url, calls } = await answering(() => ({ trace_id: 'a/b', rows: [] }));
    const { stdout } = await runCommand(['admin', 'logs', 'get', 'a/b', '--gateway-url', url]);
    expect(stdout).to.contain('a/b');
    expect(calls).to.deep.equal(['GET /admin/logs/a%2Fb']);
  });

  it('follows: each row once, oldest first, until it is stopped', async () => {
    const pages = [[row(2), row(1)], [row(2)], [row(4), row(3), row(2)], [row(4), row(3)]];
    const { url } = await answering(() => ({ data: pages.length > 1 ? pages.shift() : pages[0] }));
    let stop: () => void = () => {};
    let sleeps = 0;
    const timer = (ms: number, then: () => void): { refresh: () => void; cancel: () => void } => {
      if (ms !== 1000) return { refresh: () => {}, cancel: () => {} };
      sleeps += 1;
      if (sleeps > 4) stop();
      else setImmediate(then);
      return { refresh: () => {}, cancel: () => {} };
    };
    const clock = { now: () => Date.parse('2026-11-22T10:00:05Z'), monotonic: () => 0, timer };
    const { code, stdout } = await runCommand(
      ['admin', 'logs', 'list', '--follow', '--format', 'json', '--gateway-url', url],
      {
        clock,
        io: {
          onStop: (listener) => {
            stop = listener;
          },
        },
      },
    );
    expect(code).to.equal(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).trace_id),
    ).to.deep.equal(['t1', 't2', 't3', 't4']);
  });
});
