import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { prettyLine } from '../../host/log/pretty-line.ts';
import { NODE_ARGS, BIN, requireTool, temporaryFolder } from '../kit/index.ts';

const line = (attributes: object, msg = 'http request'): string =>
  `${JSON.stringify({ level: 'WARN', time: '2026-11-22T10:11:12.345Z', ...attributes, msg })}\n`;

describe('a log line on a terminal', () => {
  it('has time, level, message and attributes, each in the order of the line', () => {
    expect(prettyLine(line({ status: 404, path: '/a', remote: '::1' }), false)).to.equal(
      '10:11:12.345 WARN  http request status=404 path=/a remote=::1\n',
    );
  });

  it('leaves no doubt about where a text ends', () => {
    expect(prettyLine(line({ a: 'two words', b: '', c: 'x=1', d: '"', e: [1, { f: 'g' }], h: null }), false)).to.equal(
      '10:11:12.345 WARN  http request a="two words" b="" c="x=1" d="\\"" e=[1,{"f":"g"}] h=null\n',
    );
  });

  it('holds nothing that a terminal obeys', () => {
    const hostile = 'a\x1b[31m\r\n\x07\x9b2J\u202e\u2028\u{e0001}ö漢';
    const shown = prettyLine(line({ [hostile]: hostile }, hostile), false);
    expect(shown).to.match(/^[\x20-\x7eö漢]+\n$/);
    expect(shown.match(/ö漢/g)).to.have.lengthOf(3);
  });

  it('has colours where they are wanted', () => {
    expect(prettyLine(line({}), true)).to.include('\x1b[33mWARN \x1b[39m');
  });

  it('is what a gateway writes on a terminal, and there alone', async function onTerminal() {
    requireTool(this, 'python3');
    const cwd = await temporaryFolder();
    const program =
      'import os, pty, sys\nout = b""\ndef read(fd):\n    global out\n    data = os.read(fd, 4096)\n    out += data\n    return data\npty.spawn(sys.argv[1:], read)\n';
    const run = (variables: object): string =>
      execFileSync('python3', ['-c', program, process.execPath, ...NODE_ARGS, BIN, 'serve'], {
        cwd,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], PORT: 'x', ...variables },
      });
    expect(run({})).to.match(/\x1b\[31mERROR\x1b\[39m gw cannot start /);
    expect(run({ NO_COLOR: '1' })).to.match(/^\d\d:\d\d:\d\d\.\d{3} ERROR gw cannot start error=/m);
  });
});
