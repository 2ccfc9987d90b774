import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  atEnd,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  type RunResult,
  startGateway,
  temporaryFolder,
} from '../kit/index.ts';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { runCommand } from './commands.ts';
import { CALLS, expectOneError, stub } from './support.ts';

async function folder(): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
  return cwd;
}

describe('commands against a running gateway', () => {
  let gateway: GatewayProcess;
  const gw = (...args: string[]): Promise<RunResult> =>
    runCommand(args, { variables: { GW_URL: `${gateway.url}/`, MASTER_KEY, NO_COLOR: '1' } });
  const json = async (...args: string[]): Promise<any> => {
    const result = await gw(...args, '--format', 'json');
    expect([result.code, result.stderr], result.stdout).to.deep.equal([0, '']);
    return JSON.parse(result.stdout);
  };
  forSuite(async () => {
    const cwd = await temporaryFolder();
    await writeFile(
      join(cwd, 'config.yaml'),
      'targets: [{virtual_key: echo}]\nplugins: [{name: max-token, type: transform, stage: before_request, enabled: false, config: {max_tokens: 5}}]\n',
    );
    gateway = await startGateway({
      cwd,
      variables: { API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(cwd, 'keys.db') },
    });
  });

  it('status and doctor say that it answers, its version, providers and models', async () => {
    const status = await gw('status');
    expect([status.code, status.stderr]).to.deep.equal([0, '']);
    expect(status.stdout).to.match(
      new RegExp(
        `^\\[OK\\] ${gateway.url} -- healthy \\(\\d+ms\\)\nVersion: dev\nProviders: 1 \\(\\d+ models\\)\n\n  \\[OK\\] echo   circuit closed {6}\\d+ models   0 in flight, 0 waiting\n$`,
      ),
    );
    const alone = await runCommand(['status', '--gateway-url', gateway.url]);
    expect(alone.stdout, 'without a credential')
      .to.contain('Version: dev')
      .and.to.match(/\n\n {2}\[OK\] echo {3}circuit closed {6}\d+ models\n$/)
      .and.to.not.contain('Providers');
    const doctor = await gw('doctor');
    expect([doctor.code, doctor.stderr]).to.deep.equal([0, '']);
    expect(doctor.stdout).to.match(/\[OK\] http:\/\/127\.0\.0\.1:\d+ -- healthy \(\d+ms\)/);
  });

  it('plugins, as a table and as data', async () => {
    expect((await gw('plugins')).stdout).to.equal(
      'NAME        TYPE        ENABLED\n----        ----        -------\nmax-token   transform   no\n',
    );
    expect(await json('plugins')).to.deep.equal([{ name: 'max-token', type: 'transform', enabled: false }]);
  });

  it('makes, lists, shows, rotates and revokes keys', async () => {
    await json('admin', 'keys', 'create', '--name', 'keeper', '--scope', 'admin'); // the last one cannot be revoked
    const made = JSON.parse(
      (await gw('admin', 'keys', 'create', '--name', 'ci', '--scope', 'admin', '--expires-in', '48h')).stdout,
    );
    expect(made)
      .to.include({ name: 'ci' })
      .and.to.have.property('key')
      .that.matches(/^gw_[0-9a-f]{64}$/);
    expect(made.scopes).to.deep.equal(['admin']);
    expect(Date.parse(made.expires_at) - Date.now()).to.be.within(47 * 3600e3, 49 * 3600e3);
    const { stdout } = await gw('admin', 'keys', 'list');
    expect(stdout)
      .to.match(
        /^ID +NAME +SCOPES +EXPIRES +REVOKED +ACCESS +ACCOUNT\n-- +---- +------ +------- +------- +------ +-------\n/,
      )
      .and.to.match(
        new RegExp(`^${made.id} {3}ci {7}admin {4}\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC {3}no +full +-$`, 'm'),
      );
    expect((await json('admin', 'keys', 'list'))[0]).to.include({ id: made.id });
    expect(parse((await gw('admin', 'keys', 'get', made.id, '--format', 'yaml')).stdout)).to.include({
      id: made.id,
      key: `${made.key.slice(0, 8)}...`,
    });
    expect((await json('admin', 'keys', 'rotate', made.id)).key).to.not.equal(made.key);
    const revoked = await gw('admin', 'keys', 'revoke', made.id);
    expect([revoked.stdout, revoked.code]).to.deep.equal(['[OK] Key revoked.\n', 0]);
    expect((await gw('admin', 'keys', 'list')).stdout).to.match(/ yes +full +-$/m);
    expectOneError(await gw('admin', 'keys', 'get', 'a/../b?c'), 'GET /admin/keys/a%2F..%2Fb%3Fc:');
  });

  it('lists sessions, what was done, and providers', async () => {
    await fetch(`${gateway.url}/admin/session`, { method: 'POST', headers: { authorization: `Bearer ${MASTER_KEY}` } });
    const [session] = await json('admin', 'sessions', 'list');
    expect((await gw('admin', 'sessions', 'revoke', session.id)).stdout).to.equal('[OK] Session revoked.\n');
    expect((await gw('admin', 'sessions', 'list')).stdout).to.match(/^ID .*\n-- .*\n$/);
    const rows = await json('admin', 'audit', 'list', '--limit', '1');
    expect(rows).to.have.lengthOf(1);
    expect(rows[0]).to.include({ action: 'session.revoke', target_id: session.id });
    expect((await gw('admin', 'audit', 'list')).stdout).to.match(/^OCCURRED_AT +ACTION +ACTOR +TARGET_ID +OUTCOME\n/);
    expect((await gw('admin', 'providers', 'list')).stdout).to.match(
      /^PROVIDER {3}MODELS\n-------- {3}------\necho {7}\d+\n$/,
    );
    expect(await json('admin', 'providers', 'health')).to.include({ status: 'healthy' });
  });

  it('shows, compares, replaces and rolls back the configuration', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'new.yaml'), '# heavier\ntargets: [{virtual_key: echo, weight: 2}]\n');
    const before = await json('admin', 'config', 'get');
    expect(before.targets).to.deep.equal([{ virtual_key: 'echo' }]);
    const file = ['--file', join(cwd, 'new.yaml')];
    expect(
      (await json('admin', 'config', 'diff', ...file)).find(
        ({ path }: { path: string }) => path === 'targets[0].weight',
      ),
    ).to.include({ after: 2 });
    const set = await gw('admin', 'config', 'set', ...file);
    expect([set.code, set.stderr], set.stdout).to.deep.equal([0, '']);
    expect(set.stdout)
      .to.contain('targets[0].weight\n  + 2\n')
      .and.to.match(/\[OK\] Configuration updated\.\n$/);
    expect((await json('admin', 'config', 'get')).targets).to.deep.equal([{ virtual_key: 'echo', weight: 2 }]);
    expect((await gw('admin', 'config', 'rollback', '1')).stdout).to.equal('[OK] Rolled back to version 1.\n');
    expect((await json('admin', 'config', 'history')).map(({ version }: { version: number }) => version)).to.deep.equal(
      [1, 2],
    );
    expect((await gw('admin', 'config', 'history')).stdout).to.match(
      /^VERSION {3}UPDATED_AT +ROLLED_BACK_FROM\n------- {3}---------- +----------------\n1 {9}\d{4}-\d\d-\d\d \d\d:\d\d UTC\n2 .* UTC {3}1\n$/,
    );
    expectOneError(await gw('admin', 'config', 'rollback', 'abc'), 'POST /admin/config/rollback/abc:');
    await writeFile(
      join(cwd, 'new.yaml'),
      'targets: [{virtual_key: echo, models: [1.10]}]\naliases: {4.10: 1.10}\nmcp: {stream: yes}\n',
    );
    expect(
      (await gw('admin', 'config', 'set', ...file)).stderr,
      'what a file may hold, a file that is sent may',
    ).to.equal('');
    expect(await json('admin', 'config', 'get')).to.deep.include({
      targets: [{ virtual_key: 'echo', models: ['1.10'] }],
      aliases: { '4.10': '1.10' },
    });
    await writeFile(join(cwd, 'new.yaml'), 'targets: [{virtual_key: echo, wieght: 2}]\n');
    expectOneError(await gw('admin', 'config', 'set', ...file), '/admin/config', 'wieght');
  });

  it('chats, streamed and whole', async () => {
    const [{ models }] = await json('admin', 'providers', 'list');
    const answer = await gw('chat', '--model', models[0].id, 'good morning');
    expect([answer.code, answer.stderr]).to.deep.equal([0, '']);
    expect(answer.stdout).to.contain('good morning');
    expect((await json('chat', '--model', models[0].id, 'good morning')).choices[0].message.content).to.equal(
      answer.stdout.trimEnd(),
    );
    expectOneError(await gw('chat', '--model', 'no-such-model', 'hi'), 'no-such-model');
    const piped = (text: string, ...args: string[]): Promise<RunResult> =>
      runCommand(['chat', '--model', models[0].id, ...args], {
        variables: { GW_URL: gateway.url, MASTER_KEY },
        io: { piped: async () => text },
      });
    expect((await piped('from a pipe\nin two lines\n')).stdout).to.contain('from a pipe\nin two lines');
    expect((await piped('from a pipe', 'from the arguments')).stdout)
      .to.contain('from the arguments')
      .and.to.not.contain('pipe');
    for (const nothing of ['', ' \n']) expectOneError(await piped(nothing), 'give a prompt');
  });

  it('says what to do about a credential that is missing, unknown or too small, and prints none', async () => {
    const { key } = await json('admin', 'keys', 'create', '--name', 'reader', '--scope', 'read_only');
    for (const args of CALLS.slice(0, 6)) {
      expectOneError(
        await runCommand([...args], { variables: { GW_URL: gateway.url } }),
        '--api-key',
        'GW_API_KEY',
        'MASTER_KEY',
      );
    }
    const wrong = await runCommand(['admin', 'keys', 'list', '--api-key=my-very-own-wrong-key'], {
      variables: { GW_URL: gateway.url, GW_API_KEY: MASTER_KEY },
    });
    expectOneError(wrong, 'unknown, revoked or expired');
    expect(wrong.stderr).to.not.contain('my-very-own-wrong-key');
    const { key: old } = await json(
      'admin',
      'keys',
      'create',
      '--name',
      'old',
      '--scope',
      'read_only',
      '--expires-in',
      '1ms',
    );
    expectOneError(await runCommand(['plugins'], { variables: { GW_URL: gateway.url, GW_API_KEY: old } }), 'expired');
    const reader = (...args: string[]): Promise<RunResult> =>
      runCommand(args, { variables: { GW_URL: gateway.url, GW_API_KEY: key, MASTER_KEY } });
    expect((await reader('admin', 'keys', 'list')).code).to.equal(0);
    expectOneError(await reader('admin', 'keys', 'create', '--name', 'x'), 'POST /admin/keys:', 'scope');
  });
});

describe('commands without a gateway', () => {
  it('say where none is, and how to go on', async () => {
    const cwd = await folder();
    for (const args of CALLS)
      expectOneError(
        await runCommand([...args, '--gateway-url', 'http://127.0.0.1:9/base/'], { cwd }),
        'gateway unreachable at http://127.0.0.1:9/base:',
        'gw serve',
      );
    expectOneError(
      await runCommand(['status'], { cwd, variables: { GW_URL: 'http://127.0.0.1:9' } }),
      'gateway unreachable at http://127.0.0.1:9:',
    );
    const doctor = await runCommand(['doctor'], { cwd, variables: { GW_URL: 'http://127.0.0.1:9' } });
    expect([doctor.code, doctor.stderr]).to.deep.equal([0, '']);
    expect(doctor.stdout).to.contain('[X] http://127.0.0.1:9: the connection was refused');
  });

  it('refuse an address that is none, and show no user of it', async () => {
    for (const url of ['localhost:8080', 'nonsense', 'ftp://host'])
      expectOneError(await runCommand(['status', '--gateway-url', url]), 'http://localhost:8080');
    expect(
      (await runCommand(['status', '--gateway-url', 'http://me:secret@127.0.0.1:9/?token=also'])).stderr,
    ).to.not.match(/secret|also|me:/);
  });

  it('stop waiting after 15 seconds', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => {
      server.on('listening', resolve);
    });
    atEnd(() => {
      server.close();
      server.closeAllConnections();
    });
    const limits: number[] = [];
    const clock = {
      now: Date.now,
      monotonic: () => 0,
      timer: (ms: number, then: () => void) => {
        limits.push(ms);
        setImmediate(then);
        return { refresh: () => {}, cancel: () => {} };
      },
    };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expectOneError(await runCommand(['plugins', '--gateway-url', url], { clock }), 'no answer within 15 s');
    expect(limits).to.deep.equal([15_000]);
  });
});

describe('answers that are failures', () => {
  const answers: readonly (readonly [
    what: string,
    status: number,
    body: string,
    headers: Readonly<Record<string, string>>,
    said: RegExp,
  ])[] = [
    ['an error with a message', 503, '{"error":{"message":"the store\\nis away"}}', {}, /: the store is away$/m],
    ['an error without a body', 500, '', {}, /: HTTP 500$/m],
    [
      'a redirect to another host',
      302,
      '',
      { location: 'https://me:pw@other.example/secret?q=1' },
      /: HTTP 302: [^/]*https:\/\/other\.example$/m,
    ],
    ['a redirect without an address', 304, '', {}, /: HTTP 304: /],
  ];
  for (const [what, status, body, headers, said] of answers) {
    it(`${what}, for every command`, async () => {
      const cwd = await folder();
      const { url, seen } = await stub(status, body, headers);
      for (const args of CALLS) {
        const result = await runCommand([...args, '--gateway-url', url, '--api-key', 'a-key-of-mine'], { cwd });
        expectOneError(result);
        expect(result.stderr, args.join(' '))
          .to.match(said)
          .and.to.match(/^Error: (GET|POST|PUT|DELETE) \/admin\//);
      }
      expect(seen.every(({ authorization }) => authorization === 'Bearer a-key-of-mine')).to.equal(true);
    });
  }

  it('a redirect to the same host says so, without its path', async () => {
    const { url } = await stub(301, '', { location: '/login?token=abc' });
    expectOneError(await runCommand(['plugins', '--gateway-url', url]), `HTTP 301`, `${url} (same host)`);
  });

  it('no body, or nonsense, where something is needed', async () => {
    const cwd = await folder();
    const needed = CALLS.filter((args) => !['revoke', 'rollback', 'set', 'delete'].some((word) => args.includes(word)));
    for (const [body, said] of [
      ['', 'no body'],
      ['<html>', 'not JSON'],
      ['7', 'the answer is not'],
    ] as const) {
      const { url } = await stub(200, body);
      for (const args of needed.filter((one) => !one.includes('diff')))
        expectOneError(await runCommand([...args, '--gateway-url', url], { cwd }), said);
    }
    const { url } = await stub(204, '');
    expect((await runCommand(['admin', 'keys', 'revoke', 'one', '--gateway-url', url])).stdout).to.equal(
      '[OK] Key revoked.\n',
    );
  });

  it('any answer is a gateway that can be reached, for status', async () => {
    for (const [status, body, word] of [
      [503, '{"status":"no_providers"}', 'no_providers'],
      [500, '<html>', 'unknown'],
      [302, '', 'unknown'],
      [200, '{"status":7}', 'unknown'],
    ] as const) {
      const { url } = await stub(status, body);
      const result = await runCommand(['status', '--gateway-url', url]);
      expect(result.code).to.equal(0);
      expect(result.stdout).to.match(new RegExp(`^\\[!\\] ${url} -- ${word} \\(\\d+ms\\)\n$`));
    }
  });

  it('a credential that no header can carry is as good as none for status and doctor, and refused by what needs one', async () => {
    const { url, seen } = await stub(200, '{"status":"ok"}');
    for (const credential of ['line\nbreak', 'Schlüssel', 'two words']) {
      const options = { variables: { GW_URL: url, GW_API_KEY: credential } };
      const result = await runCommand(['status'], options);
      expect([result.code, result.stderr]).to.deep.equal([0, '']);
      expect(result.stdout).to.match(new RegExp(`^\\[OK\\] ${url} -- healthy`));
      expect((await runCommand(['doctor'], options)).stdout).to.contain(`[OK] ${url} -- healthy`);
      expectOneError(await runCommand(['plugins'], options), 'no header can carry', 'GW_API_KEY');
      expectOneError(await runCommand(['chat', '--model', 'm', 'hi'], options), 'no header can carry');
    }
    expect(new Set(seen.map(({ call, authorization }) => `${call} ${authorization}`))).to.deep.equal(
      new Set(['GET /health undefined']),
    );
  });

  it('hides the credential that an answer gives back, and control characters', async () => {
    const { url } = await stub(
      200,
      JSON.stringify([{ name: 'my-own-credential \u001b[31m', type: 'x', enabled: true }]),
    );
    const { stdout } = await runCommand(['plugins', '--gateway-url', url, '--api-key', 'my-own-credential']);
    expect(stdout).to.contain('[REDACTED] \\u001b[31m').and.to.not.contain('my-own-credential');
  });

  it('shows no control characters of a model on a terminal, and all that it says elsewhere', async () => {
    const said = 'red \u001b[31m\nand\tmore';
    const { url } = await stub(
      200,
      `data: ${JSON.stringify({ choices: [{ delta: { content: said } }] })}\n\ndata: [DONE]\n\n`,
      { 'content-type': 'text/event-stream' },
    );
    const chat = async (io: object): Promise<string> =>
      (await runCommand(['chat', '--model', 'm', 'hi', '--gateway-url', url], { io })).stdout;
    expect([await chat({}), await chat({ terminal: { columns: 80, isColoured: false } })]).to.deep.equal([
      `${said}\n`,
      'red \\u001b[31m\nand\tmore\n',
    ]);
  });

  it('hides control characters of an error too', async () => {
    const { url } = await stub(500, JSON.stringify({ error: { message: 'it broke \u001b[31m\nhere \u202e' } }));
    const { stderr } = await runCommand(['plugins', '--gateway-url', url]);
    expect(stderr).to.equal('Error: GET /admin/plugins: it broke \\u001b[31m here \\u202e\n');
  });
});

describe('wrong use of commands that call a gateway', () => {
  it('sends nothing: bad values, unreadable files, arguments too many or empty, unknown formats and flags', async () => {
    const { url, seen } = await stub(200, '{}');
    const cwd = await folder();
    await writeFile(join(cwd, 'broken.yaml'), 'targets: [\n');
    await writeFile(join(cwd, 'list.json'), '[]');
    const uses: readonly (readonly [args: readonly string[], said: string])[] = [
      [['admin', 'keys', 'create', '--expires-in', 'soon'], '"soon"'],
      [['admin', 'keys', 'create', '--expires-in=-5h'], '"-5h"'],
      [['admin', 'keys', 'create', '--expires-in', '99999999h'], 'after the year 9999'],
      [['chat', '--model', 'm', ''], 'give a prompt'],
      [['admin', 'keys', 'create', '--scope', 'admn'], 'did you mean "admin"'],
      [['admin', 'config', 'set'], '--file'],
      [['admin', 'config', 'set', '--file', 'none.yaml'], 'none.yaml'],
      [['admin', 'config', 'set', '--file', 'broken.yaml'], 'broken.yaml'],
      [['admin', 'config', 'diff', '--file', 'list.json'], 'list.json'],
      [['admin', 'config', 'set', '--file', 'a.toml'], 'a.toml'],
      [['admin', 'logs', 'list', '--limit', '0'], '"0"'],
      [['admin', 'keys', 'get', ''], '<id>'],
      [['admin', 'keys', 'get'], '<id>'],
      [['admin', 'keys', 'lst'], '"lst" of gw admin keys, did you mean "admin keys list"?'],
      [['admin', 'kyes'], 'did you mean "admin keys"?'],
      [['plugins', '--fromat', 'json'], 'did you mean "--format"?'],
      [['status', '--format', 'json'], 'json'],
      [['doctor', '--format', 'yaml'], 'yaml'],
      [['chat', 'hello'], '--model'],
    ];
    for (const [args, said] of uses) expectOneError(await runCommand([...args, '--gateway-url', url], { cwd }), said);
    for (const args of [...CALLS, ['status'], ['doctor']]) {
      expectOneError(await runCommand([...args, '--gateway-url', url, 'extra'], { cwd }), '"extra"');
      expectOneError(await runCommand([...args, '--gateway-url', url, '--format', 'toml'], { cwd }), '"toml"');
    }
    expect(seen).to.deep.equal([]);
  });

  it('shows the help of a group and of every command', async () => {
    for (const args of [
      ['admin', 'keys'],
      ['admin', 'keys', '--help'],
      ['help', 'admin', 'keys'],
      ['--format', 'json', 'admin', '-h', 'keys'],
    ]) {
      const { code, stdout } = await runCommand(args);
      expect(code, args.join(' ')).to.equal(0);
      expect(stdout)
        .to.match(/^gw admin keys <command>\n/)
        .and.to.match(/^ {2}admin keys revoke <id> /m)
        .and.to.not.contain('admin config');
    }
    for (const { name, summary, examples = [] } of COMMANDS) {
      const { stdout } = await runCommand([...name.split(' '), '--help']);
      expect(stdout.startsWith(`gw ${name}`), name).to.equal(true);
      for (const text of [summary, ...examples]) expect(stdout).to.contain(text);
    }
  });
});
