import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { runGw, temporaryFolder } from '../kit/index.ts';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { runCommand, runUntilExit } from './commands.ts';

/** One line on stderr that begins with `Error: `, and nothing on stdout. */
function expectOneError({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): void {
  expect(stderr).to.match(/^Error: [^\n]+\n$/);
  expect(stdout).to.equal('');
  expect(code).to.equal(1);
}

describe('gw version', () => {
  it('prints what this build is, for people', async () => {
    const { code, stdout, stderr } = await runGw(['version']);
    expect(code).to.equal(0);
    expect(stderr).to.equal('');
    const facts = Object.fromEntries(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/: +/) as [string, string]),
    );
    expect(facts).to.deep.equal({
      Version: 'dev',
      Commit: 'none',
      Built: 'unknown',
      Node: process.version,
      'OS/Arch': `${process.platform}/${process.arch}`,
    });
  });

  it('prints the same as JSON and YAML, whatever the case of the format', async () => {
    const facts = {
      version: 'dev',
      commit: 'none',
      built: 'unknown',
      node: process.version,
      os_arch: `${process.platform}/${process.arch}`,
    };
    const json = await runCommand(['version', '--format', 'JSON']);
    expect(json.stdout).to.equal(`${JSON.stringify(facts, null, 2)}\n`);
    expect(parse((await runCommand(['version', '--format=Yaml'])).stdout)).to.deep.equal(facts);
    expect((await runCommand(['--format', 'json', 'version'])).stdout).to.equal(json.stdout);
  });

  it('refuses a format it does not know by name, with the nearest, also where formats are refused', async () => {
    for (const [format, near] of [
      ['toml', 'yaml'],
      ['jsno', 'json'],
      ['', undefined],
      ['constructor', undefined],
    ] as const) {
      for (const command of [['version'], ['init']]) {
        const result = await runCommand([...command, '--format', format]);
        expectOneError(result);
        expect(result.stderr).to.contain(`unknown format "${format}"`).and.to.contain('table, json, yaml');
        if (near !== undefined) expect(result.stderr).to.contain(`did you mean "${near}"?`);
      }
    }
  });
});

describe('an option that is written with nothing behind its "="', () => {
  it('is empty, as one with an empty word behind it is, and takes no other word', async () => {
    for (const args of [
      ['plugins', '--gateway-url=', '--api-key='],
      ['--gateway-url=', '--api-key=', 'plugins'],
      ['plugins', '--gateway-url', '', '--api-key', ''],
    ]) {
      const result = await runCommand(args, { variables: { GW_URL: 'http://127.0.0.1:9' } });
      expectOneError(result);
      expect(result.stderr).to.contain('http://127.0.0.1:9');
    }
    for (const args of [
      ['--format=', 'version'],
      ['version', '--format='],
    ])
      expect((await runCommand(args)).stderr).to.contain('unknown format ""');
    for (const args of [
      ['--model=', 'hello'],
      ['hello', '--model='],
    ])
      expect((await runCommand(['chat', ...args])).stderr).to.contain('name a model');
  });
});

describe('a value that begins with a dash', () => {
  it('is the value of the option before it', async () => {
    const said = [
      [['admin', 'logs', 'list', '--limit', '-1'], '--limit "-1"'],
      [['admin', 'keys', 'create', '--name', 'x', '--expires-in', '-1h'], '--expires-in "-1h"'],
      [['--format', '-x', 'version'], 'unknown format "-x"'],
      [['version', '--format', '-1'], 'unknown format "-1"'],
    ] as const;
    for (const [args, text] of said) {
      const result = await runCommand(args);
      expectOneError(result);
      expect(result.stderr).to.contain(text);
    }
    const cwd = await temporaryFolder();
    expect((await runCommand(['init', '-o', '-x.yaml'], { cwd })).code).to.equal(0);
    expect(await readdir(cwd)).to.deep.equal(['-x.yaml']);
  });

  it('is refused where it is an option or looks like one, which says how it is written', async () => {
    for (const [args, flag, word] of [
      [['--name', '--scope', 'admin'], '--name', '--scope'],
      [['--name', '--scope=admin'], '--name', '--scope'],
      [['--scope', '--nope'], '--scope', '--nope'],
    ] as const) {
      const result = await runCommand(['admin', 'keys', 'create', ...args]);
      expectOneError(result);
      expect(result.stderr)
        .to.contain(`${flag} needs a value`)
        .and.to.contain(`"${word}"`)
        .and.to.contain(`${flag}=-x`);
    }
    expectOneError(await runCommand(['chat', '--model', 'm', '- a list']));
    expect((await runCommand(['chat', '--model', 'm', '- a list'])).stderr).to.contain('stands behind --');
  });
});

describe('a flag that takes no value', () => {
  it('takes none, and not the word behind it', async () => {
    for (const [args, text] of [
      [['init', '--non-interactive', 'yes'], 'takes no argument "yes"'],
      [['init', '--non-interactive=false'], '--non-interactive takes no value'],
      [['admin', 'config', 'set', '--yes=no', '--file', 'c.yaml'], '--yes takes no value'],
      [['version', '-h=x'], '-h takes no value'],
    ] as const) {
      const cwd = await temporaryFolder();
      const result = await runCommand(args, { cwd });
      expectOneError(result);
      expect(result.stderr).to.contain(text);
      expect(await readdir(cwd)).to.deep.equal([]);
    }
  });
});

describe('what people look for and gw serve does not have', () => {
  it('is refused with the variable that says it, whether the command is named or not', async () => {
    for (const [flag, variable] of [
      ['--port', 'PORT'],
      ['-p', 'PORT'],
      ['--config', 'GATEWAY_CONFIG'],
      ['-c', 'GATEWAY_CONFIG'],
    ] as const) {
      for (const args of [['serve', flag, 'x'], [flag, 'x'], ['serve', `${flag}=x`], [`${flag}=x`]]) {
        const result = await runCommand(args);
        expectOneError(result);
        expect(result.stderr, args.join(' '))
          .to.contain(`"${flag}"`)
          .and.to.match(new RegExp(`variable ${variable}\n$`));
      }
    }
  });
});

describe('gw help', () => {
  it('lists every command and the global flags on stdout, however it is asked for', async () => {
    const names = COMMANDS.map(({ name }) => name);
    for (const args of [['help'], ['--help'], ['-h']]) {
      const { code, stdout, stderr } = await runCommand(args);
      expect(code, args[0]).to.equal(0);
      expect(stderr).to.equal('');
      for (const name of names) expect(stdout).to.match(new RegExp(`^ {2}${name}( |$)`, 'm'));
      for (const flag of ['--gateway-url <url>', '--api-key <key>', '--format <format>', '-h, --help'])
        expect(stdout).to.contain(flag);
    }
  });

  it('shows one command with its arguments and flags', async () => {
    const { code, stdout } = await runCommand(['init', '--help']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^gw init\n/);
    for (const flag of ['--config-format <format>', '-o, --output <path>', '--non-interactive', '--format <format>'])
      expect(stdout).to.contain(flag);
    expect((await runCommand(['validate', '-h'])).stdout).to.match(/^gw validate <config-file>\n/);
  });

  it('does not run the command', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['init', '--help'], { cwd });
    expect(await readdir(cwd)).to.deep.equal([]);
  });
});

describe('a command that does not exist', () => {
  it('is refused by name with the nearest one, and nothing starts', async () => {
    const result = await runUntilExit(['valdate', 'config.yaml'], { cwd: await temporaryFolder() });
    expectOneError(result);
    expect(result.stderr).to.contain('"valdate"').and.to.contain('"validate"');
  });

  for (const [token, near] of [
    ['serv', 'serve'],
    ['vesrion', 'version'],
    ['int', 'init'],
  ] as const) {
    it(`${token} suggests ${near}`, async () => {
      const result = await runCommand([token]);
      expectOneError(result);
      expect(result.stderr).to.contain(`"${token}"`).and.to.contain(`"${near}"`);
    });
  }

  it('is refused without a suggestion when none is near', async () => {
    const result = await runCommand(['frobnicate-everything']);
    expectOneError(result);
    expect(result.stderr).to.contain('"frobnicate-everything"').and.to.not.contain('mean');
  });

  it('is refused whatever flags stand beside it', async () => {
    for (const args of [
      ['--format', 'json', 'bogus'],
      ['bogus', '--format', 'json'],
      ['bogus', '--help'],
    ])
      expectOneError(await runCommand(args));
  });

  it('is refused when it is no more than a name every object has', async () => {
    for (const token of ['constructor', '__proto__', 'toString']) expectOneError(await runCommand([token]));
  });
});

describe('a command called wrongly', () => {
  for (const args of [
    ['serve', 'now'],
    ['init', 'here'],
    ['version', 'long'],
    ['validate', 'a.yaml', 'b.yaml'],
  ]) {
    it(`is refused: gw ${args.join(' ')} has an argument too many`, async () => {
      const result = await runCommand(args);
      expectOneError(result);
      expect(result.stderr).to.contain(args.at(-1));
    });
  }

  it('is refused: gw validate without a file', async () => {
    const result = await runCommand(['validate']);
    expectOneError(result);
    expect(result.stderr).to.contain('config-file');
  });

  for (const args of [['version', '--nope'], ['--nope'], ['serve', '-x'], ['--version']]) {
    it(`is refused: gw ${args.join(' ')} has an unknown flag`, async () => {
      const result = await runCommand(args);
      expectOneError(result);
      expect(result.stderr).to.contain(args.at(-1));
    });
  }

  for (const args of [
    ['version', '--format'],
    ['init', '-o'],
    ['init', '--config-format'],
    ['admin', 'keys', 'create', '--name', 'x', '--name'],
    ['init', '-o', '--', 'x'],
  ]) {
    it(`is refused: gw ${args.join(' ')} has a flag without its value`, async () => {
      expectOneError(await runCommand(args));
    });
  }
});
