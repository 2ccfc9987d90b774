import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MOCHA = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));
const CASE = fileURLToPath(new URL('missing-case.ts', import.meta.url));

function runCase(variables: NodeJS.ProcessEnv, ...args: string[]): Promise<Run> {
  const env: NodeJS.ProcessEnv = { ...process.env, ...variables };
  return new Promise((resolve) => {
    execFile(process.execPath, [MOCHA, '--no-color', ...args, CASE], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

const countOf = ({ stdout }: Run, what: string): number =>
  Number(new RegExp(`^ +(\\d+) ${what}`, 'm').exec(stdout)?.[1] ?? 0);

describe('what a machine does not have', () => {
  for (const args of [[], ['--parallel']]) {
    it(`skips what needs it, and the end says why, once${args.length > 0 ? ', in a parallel run too' : ''}`, async () => {
      const run = await runCase({ GW_TEST_TOOLS: '' }, ...args);
      expect(
        [run.code, countOf(run, 'passing'), countOf(run, 'pending'), countOf(run, 'failing')],
        run.stdout,
      ).to.deep.equal([0, 1, 5, 0]);
      expect(run.stderr).to.equal(
        'Skipped for want of the moon: it is too far away\nSkipped for want of no-such-tool: it is not installed\n',
      );
    });
  }

  it('fails what needs it where every tool is required', async () => {
    const run = await runCase({ GW_TEST_TOOLS: 'required' });
    expect(
      [run.code > 0, countOf(run, 'passing'), countOf(run, 'pending'), countOf(run, 'failing')],
      run.stdout,
    ).to.deep.equal([true, 1, 0, 3]);
    expect(run.stdout).to.include('the moon: it is too far away').and.to.include('no-such-tool: it is not installed');
    expect(run.stderr).to.equal('');
  });
});
