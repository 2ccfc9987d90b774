import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { cliPage } from '../../builtins/cli/build/page.ts';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { GLOBAL_OPTIONS, usageOf } from '../../host/cli/command.ts';
import { ROOT } from './commands.ts';

const text = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');

/** Sections by heading, each to the next one of its level or above. */
function sections(level: number): Map<string, string> {
  const parts = text.split(new RegExp(`^#{1,${level}} `, 'm')).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n'))]));
}

/** Flags in the first column of a section's tables. */
const flagsIn = (section = ''): string[] =>
  [...section.matchAll(/^\| `(-[^`]+)` \|/gm)].map(([, flags]) => flags ?? '');

const usage = (command: (typeof COMMANDS)[number]): string => `gw ${usageOf(command)}`;

describe('docs/cli.md', () => {
  it('is what the commands say of themselves; else run "npm run docs:cli"', () => {
    expect(cliPage(text)).to.equal(text);
  });

  it('gets what a command says of itself, and keeps what is written by hand', () => {
    const added: (typeof COMMANDS)[number] = {
      name: 'new',
      summary: 'Say something new',
      options: [{ flags: '--loud', summary: 'Louder' }],
      load: () => Promise.reject(new Error('it is not run')),
    };
    const changed = cliPage(text, [...COMMANDS, added]);
    expect(changed)
      .to.contain(
        '### `gw new`\n\nSay something new.\n\n| Flag | Default | Meaning |\n|---|---|---|\n| `--loud` |  | Louder |\n',
      )
      .and.to.contain('## Environment\n');
    expect(changed.replace(/### `gw new`[^#]*/, '')).to.equal(text);
  });

  it('has a section for every command with its arguments, and for no other', () => {
    const documented = [...text.matchAll(/^### `(gw [^`]+)`$/gm)].map(([, command]) => command);
    expect(documented).to.have.members(COMMANDS.map(usage));
  });

  it('has every flag of every command in its section, and no other', () => {
    const found = sections(3);
    for (const command of COMMANDS) {
      expect(flagsIn(found.get(`\`${usage(command)}\``)), usage(command)).to.have.members(
        (command.options ?? []).map(({ flags }) => flags),
      );
    }
  });

  it('has every global flag, and no other', () => {
    expect(flagsIn(sections(2).get('Global flags'))).to.have.members(GLOBAL_OPTIONS.map(({ flags }) => flags));
  });

  it('says of every command that refuses --format that it does, and of no other', () => {
    const found = sections(3);
    for (const command of COMMANDS) {
      const says = /`--format` is refused/.test(found.get(`\`${usage(command)}\``) ?? '');
      expect(says, usage(command)).to.equal(command.refusesFormat !== undefined);
    }
  });

  it('names every exit code a command can have', () => {
    expect([...text.matchAll(/^\| (\d) \|/gm)].map(([, code]) => code)).to.deep.equal(['0', '1']);
  });
});
