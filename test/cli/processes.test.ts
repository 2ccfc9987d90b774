import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  atEnd,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  NODE_ARGS,
  program,
  runGw,
  type RunResult,
  some,
  startGateway,
  temporaryFolder,
  inSoak,
} from '../kit/index.ts';
import { CALLS, expectOneError, stub } from './support.ts';

const LOGGED = ['before_request', 'after_request', 'on_error']
  .map(
    (stage) => `  - {name: request-logger, type: logging, stage: ${stage}, enabled: true, config: {persist: true}}\n`,
  )
  .join('');
const CONFIG = `targets: [{virtual_key: echo}]\nplugins:\n${LOGGED}`;

/** A few at a time: there are more commands than processors. */
async function each<T>(values: readonly T[], run: (value: T) => Promise<void>): Promise<void> {
  const left = [...values];
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (let value = left.shift(); value !== undefined; value = left.shift()) await run(value);
    }),
  );
}

describe('every command that calls a gateway, as a process, against a real one on SQLite', () => {
  let gateway: GatewayProcess;
  let cwd: string;
  let variables: Record<string, string>;
  let model: string;
  let keyId: string;
  const gw = (...args: string[]): Promise<RunResult> => runGw(args, { cwd, variables });
  const json = async (...args: string[]): Promise<any> => {
    const { code, stdout, stderr } = await gw(...args, '--format', 'json');
    expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  };
  const ask = (text: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
    });
  const admin = async (method: string, path: string, body?: object): Promise<any> =>
    (
      await fetch(`${gateway.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${MASTER_KEY}` },
        ...(body && { body: JSON.stringify(body) }),
      })
    ).json();
  const create = async (...more: string[]): Promise<any> =>
    json('admin', 'keys', 'create', '--name', 'made', '--access', 'full', ...more);

  forSuite(async () => {
    cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), CONFIG);
    const stores = {
      API_KEY_STORE_BACKEND: 'sqlite',
      CONFIG_STORE_BACKEND: 'sqlite',
      REQUEST_LOG_STORE_BACKEND: 'sqlite',
    };
    gateway = await startGateway({ cwd, variables: { ...stores, GATEWAY_CONFIG: 'config.yaml' } });
    variables = { GW_URL: gateway.url, MASTER_KEY };
    [
      {
        models: [{ id: model }],
      },
    ] = await admin('GET', '/admin/providers');
    for (const text of ['one', 'two']) expect((await ask(text)).status).to.equal(200);
    await admin('POST', '/admin/keys', { name: 'keeper', scopes: ['admin'] }); // the last one cannot be revoked
    keyId = (await create('--expires-in', '48h')).id as string;
    await admin('POST', '/admin/session');
    for (let rows = []; rows.length < 2;) ({ data: rows } = await admin('GET', '/admin/logs')); // written behind
  });

  it('prints tables and data, and nothing that only a terminal shows', async () => {
    const sessionId = (await json('admin', 'sessions', 'list'))[0].id as string;
    const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d UTC`;
    const shown: readonly (readonly [args: readonly string[], text: RegExp])[] = [
      [
        ['status'],
        new RegExp(
          `^\\[OK\\] ${gateway.url} -- healthy \\(\\d+ms\\)\nVersion: dev\nProviders: 1 \\(\\d+ models\\)\n\n  \\[OK\\] echo   circuit closed {6}\\d+ models   0 in flight, 0 waiting\n$`,
        ),
      ],
      [['doctor'], /^Provider API Keys\n[^]*\n {2}\[OK\] http:\/\/127\.0\.0\.1:\d+ -- healthy \(\d+ms\)\n/],
      [['plugins'], /^NAME {13}TYPE {6}ENABLED\n-{4} {13}-{4} {6}-{7}\n(request-logger {3}logging {3}yes\n){3}$/],
      [
        ['admin', 'keys', 'list'],
        new RegExp(
          `^ID +NAME +SCOPES +EXPIRES +REVOKED +ACCESS +ACCOUNT\n-[- ]+\n${keyId} {3}made {5}read_only {3}${TIME} {3}no +full +-\n\\S+ {3}keeper {3}admin +- +no +full +-\n$`,
        ),
      ],
      [
        ['admin', 'config', 'history'],
        new RegExp(`^VERSION {3}UPDATED_AT( +ROLLED_BACK_FROM)\n-[- ]+\n(\\d+ +${TIME}( +\\d+)?\n)*$`),
      ],
      [['admin', 'config', 'diff', '--file', 'config.yaml'], /^No changes\.\n$|^[a-z]/],
      [
        ['admin', 'logs', 'list', '--limit', '2'],
        new RegExp(
          `^TRACE_ID +PROVIDER {3}MODEL +STAGE +DURATION_MS {3}CREATED_AT\n-[- ]+\n(\\S+ +echo +\\S+ +after_request +\\d+ +${TIME}\n){2}$`,
        ),
      ],
      [['admin', 'providers', 'list'], /^PROVIDER {3}MODELS\n-{8} {3}-{6}\necho {7}\d+\n$/],
      [
        ['admin', 'sessions', 'list'],
        new RegExp(`^ID +SUBJECT +SCOPES +CREATED_AT +LAST_SEEN_AT +EXPIRES_AT\n-[- ]+\n${sessionId} .* UTC\n`),
      ],
      [
        ['admin', 'audit', 'list', '--limit', '1'],
        new RegExp(`^OCCURRED_AT +ACTION +ACTOR +TARGET_ID +OUTCOME\n-[- ]+\n${TIME} +\\S.* ok\n$`),
      ],
      [['chat', '--model', model, 'good morning'], /good morning\n$/],
    ];
    await each(some(shown, { every: 10, from: 1 }), async ([args, text]) => {
      const { code, stdout, stderr } = await gw(...args);
      expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
      expect(stdout, args.join(' '))
        .to.match(text)
        .and.to.not.match(/\u001b| ago\)|█/);
    });
  });

  it('takes a prompt from a pipe and from a file, and waits for no input that may never end', async () => {
    const gw = [process.execPath, ...NODE_ARGS, program(), 'chat', '--model', model]
      .map((word) => `'${word}'`)
      .join(' ');
    await writeFile(join(cwd, 'prompt.txt'), 'from a file\n');
    const inShell = async (
      line: string,
      input: 'pipe' | 'ignore' = 'ignore',
    ): Promise<{ code: number | null; said: string }> => {
      const child = spawn('sh', ['-c', line], {
        cwd,
        env: { PATH: process.env['PATH'], ...variables },
        stdio: [input, 'pipe', 'pipe'],
      });
      atEnd(() => {
        child.kill('SIGKILL');
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
      const code = await new Promise<number | null>((resolve) => {
        child.on('close', resolve);
      });
      return { code, said };
    };
    for (const [line, text] of some(
      [
        [`${gw} < prompt.txt`, 'from a file'],
        [`printf 'one\\ntwo\\n' | ${gw}`, 'one\ntwo'],
        [`echo no | ${gw} yes`, 'yes'],
      ] as const,
      { from: 1 },
    )) {
      const { code, said } = await inShell(line);
      expect([code, said], line).to.satisfy(
        ([exit, all]: [number, string]) => exit === 0 && all.includes(text) && !all.includes('no\n'),
      );
    }
    for (const [line, input] of some(
      [
        [gw, 'ignore'],
        [gw, 'pipe'],
        [`${gw} <&-`, 'ignore'],
      ] as const,
      { from: 1 },
    ))
      expect(await inShell(line, input), line).to.satisfy(
        ({ code, said }: { code: number; said: string }) => code === 1 && said.startsWith('Error: give a prompt'),
      );
  });

  inSoak('prints what has no table as indented JSON, and everything as JSON and YAML', async () => {
    const documents: readonly (readonly [args: readonly string[], has: string])[] = [
      [['admin', 'keys', 'get', keyId], 'id'],
      [['admin', 'config', 'get'], 'targets'],
      [['admin', 'logs', 'stats'], 'summary'],
      [['admin', 'providers', 'health'], 'components'],
    ];
    await each(some(documents, { every: 5, from: 2 }), async ([args, has]) => {
      const { stdout } = await gw(...args);
      expect(stdout, args.join(' ')).to.equal(`${JSON.stringify(JSON.parse(stdout), undefined, 2)}\n`);
      expect(JSON.parse(stdout)).to.have.property(has);
      expect(parse((await gw(...args, '--format', 'YAML')).stdout)).to.have.property(has);
    });
    for (const args of some(
      [
        ['plugins'],
        ['admin', 'keys', 'list'],
        ['admin', 'logs', 'list'],
        ['admin', 'config', 'history'],
        ['admin', 'audit', 'list'],
      ],
      { every: 5, from: 1 },
    ))
      expect(await json(...args), args.join(' ')).to.be.an('array');
    expect((await json('chat', '--model', model, 'hi')).choices[0].message.content).to.contain('hi');
    expect((await json('admin', 'logs', 'stats')).summary.total_entries).to.be.at.least(2);
  });

  inSoak('changes what it is asked to change', async () => {
    const { id, key } = await create();
    expect(key).to.match(/^gw_[0-9a-f]{64}$/);
    const rotated = JSON.parse((await gw('admin', 'keys', 'rotate', id)).stdout);
    expect(rotated.key)
      .to.match(/^gw_[0-9a-f]{64}$/)
      .and.to.not.equal(key);
    expect((await gw('admin', 'keys', 'revoke', id)).stdout).to.equal('[OK] Key revoked.\n');
    await admin('POST', '/admin/session');
    const [{ id: session }] = await json('admin', 'sessions', 'list');
    expect((await gw('admin', 'sessions', 'revoke', session)).stdout).to.equal('[OK] Session revoked.\n');
    await writeFile(join(cwd, 'new.json'), JSON.stringify({ targets: [{ virtual_key: 'echo', weight: 2 }] }));
    const set = await gw('admin', 'config', 'set', '--file', 'new.json');
    expect([set.code, set.stderr]).to.deep.equal([0, '']);
    expect(set.stdout).to.match(/\n {2}\+ 2\n[^]*\[OK\] Configuration updated\.\n$/);
    expect((await json('admin', 'config', 'set', '--file', 'config.yaml', '--yes')).status).to.equal('updated');
    expect((await gw('admin', 'config', 'rollback', '1')).stdout).to.equal('[OK] Rolled back to version 1.\n');
    await gw('admin', 'config', 'set', '--file', 'config.yaml');
  });

  it('follows the log until it is stopped', async () => {
    const child = spawn(
      process.execPath,
      [...NODE_ARGS, program(), 'admin', 'logs', 'list', '--follow', '--limit', '1', '--format', 'json'],
      { cwd, env: { ...variables, PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    atEnd(() => {
      child.kill('SIGKILL');
    });
    const lines: Record<string, any>[] = [];
    const heard = Promise.withResolvers<void>();
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts.map((part) => JSON.parse(part) as Record<string, any>));
      if (lines.length === 1) void ask('three');
      if (lines.length === 2) heard.resolve();
    });
    await heard.promise;
    child.kill('SIGINT');
    const code = await new Promise((resolve) => {
      child.on('close', resolve);
    });
    expect(code).to.equal(0);
    expect(lines.map(({ stage }) => stage)).to.deep.equal(['after_request', 'after_request']);
    expect(new Set(lines.map(({ trace_id: id }) => id)).size).to.equal(2);
  });

  inSoak('says what to do about a key that is missing, expired or too small', async () => {
    const { key } = await create();
    const old = (await create('--expires-in', '1ms')).key as string;
    const reads = CALLS.filter(
      (args) => args.at(-1) === 'list' || args.at(-1) === 'history' || args[0] === 'plugins',
    ).slice(0, 3);
    const writes = [
      ['admin', 'keys', 'create', '--name', 'x'],
      ['admin', 'keys', 'revoke', keyId],
      ['admin', 'config', 'set', '--file', 'config.yaml'],
      ['admin', 'config', 'diff', '--file', 'config.yaml'],
      ['admin', 'config', 'rollback', '1'],
    ];
    const as = (credential: string, args: readonly string[]): Promise<RunResult> =>
      runGw(args, { cwd, variables: { GW_URL: gateway.url, ...(credential !== '' && { GW_API_KEY: credential }) } });
    await each(
      some([...reads.map((args) => ['', args] as const), ...reads.map((args) => [old, args] as const)], { every: 5 }),
      async ([credential, args]) => {
        const result = await as(credential, args);
        expectOneError(result, credential === '' ? 'GW_API_KEY' : 'unknown, revoked or expired');
        if (credential !== '') expect(result.stderr).to.not.contain(credential);
      },
    );
    await each(some(reads, { every: 6 }), async (args) => {
      expect((await as(key, args)).code, args.join(' ')).to.equal(0);
    });
    await each(some(writes, { every: 5 }), async (args) => expectOneError(await as(key, args), 'scope'));
    expect((await as(old, ['status'])).stdout, 'it needs no key')
      .to.match(/^\[OK\] /)
      .and.to.not.contain('Providers');
  });
});

describe('every command that calls a gateway, as a process, where there is none or another program', () => {
  inSoak('says so within its time, and nothing on stdout', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), CONFIG);
    const of = (url: string, args: readonly string[], variables = {}): Promise<RunResult> =>
      runGw([...args, '--gateway-url', url], { cwd, variables: { GW_API_KEY: 'a-key-of-mine', ...variables } });
    const [slow, silent, failing, empty, away] = await Promise.all([
      stub(200, '[]', {}, 1500),
      stub(200, '', {}, 60_000),
      stub(500, ''),
      stub(200, ''),
      stub(302, '', { location: 'https://other.example/secret' }),
    ]);
    const tooLong = of(silent.url, ['plugins']); // its 15 seconds pass meanwhile
    await each(some(CALLS, { every: 24 }), async (args) =>
      expectOneError(
        await of('http://127.0.0.1:9', args),
        'gateway unreachable at http://127.0.0.1:9: the connection was refused',
        'gw serve',
      ),
    );
    expectOneError(await of('http://127.0.0.1:9', ['status']), 'gateway unreachable at http://127.0.0.1:9:');
    expectOneError(
      await of('http://127.0.0.1:9', ['chat', '--model', 'm', 'hi']),
      'gateway unreachable at http://127.0.0.1:9:',
    );
    await each(
      some(
        [
          ['admin', 'keys', 'list'],
          ['chat', '--model', 'm', 'hi'],
        ],
        { every: 2, from: 1 },
      ),
      async (args) => {
        expectOneError(await of(failing.url, args), ': HTTP 500');
        expectOneError(
          await of(away.url, args),
          'HTTP 302: redirects are not followed, this one leads to https://other.example',
        );
      },
    );
    await each(
      some([
        ['admin', 'keys', 'create', '--name', 'x'],
        ['admin', 'keys', 'rotate', 'one'],
        ['admin', 'logs', 'list'],
      ]),
      async (args) => expectOneError(await of(empty.url, args), 'the answer has no body'),
    );
    expect((await of(slow.url, ['plugins'], { NO_COLOR: '1' })).stdout).to.equal('No plugins registered.\n');
    expect((await of(failing.url, ['status'])).stdout).to.match(/^\[!\] .* -- unknown \(\d+ms\)\n$/);
    expectOneError(await tooLong, 'gateway unreachable at', 'no answer within 15 s');
  });
});
