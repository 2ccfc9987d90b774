import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readReport, runCommand } from '../cli/commands.ts';
import { temporaryFolder } from '../kit/index.ts';

async function validate(text: string, variables: Record<string, string> = {}): Promise<ReturnType<typeof readReport>> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'config.yaml'), text);
  const { code, stderr } = await runCommand(['validate', 'config.yaml'], { cwd, variables });
  return code === 0 ? { heading: '', problems: [] } : readReport(stderr);
}

const referring = (reference: string): string => `targets: [{ virtual_key: echo }]
providers:
  own:
    kind: openai
    api_key: \${${reference}}
`;

describe('rules on providers', () => {
  it('are all reported at once, each with its path and line', async () => {
    const { problems } = await validate(`targets: [{ virtual_key: opnai }]
providers:
  none:
    kind: opnai
  groq:
    kind: openai
    api_key: literal
    base_url: https://h/v1/models
    weight: 1
  pool:
    kind: openai
    credentials:
      - name: A
        api_key: \${MASTER_KEY}
        max_concurrency: 0
      - weight: -1
`);
    expect(problems.map(({ rule, path, line }) => [rule, path, line])).to.have.deep.members([
      ['DC01', 'providers.groq.weight', 9],
      ['CV42', 'providers.none', 3],
      ['BV10', 'providers.none.kind', 4],
      ['BV13', 'providers.groq', 5],
      ['CV47', 'providers.groq.api_key', 7],
      ['CV50', 'providers.groq.base_url', 8],
      ['CV46', 'providers.pool.credentials[0].name', 13],
      ['CV49', 'providers.pool.credentials[0].api_key', 14],
      ['CV59', 'providers.pool.credentials[0].max_concurrency', 15],
      ['CV46', 'providers.pool.credentials[1].name', 16],
      ['CV58', 'providers.pool.credentials[1].weight', 16],
      ['BV12', 'providers.pool.credentials[1]', 16],
      ['BV01', 'targets[0].virtual_key', 1],
    ]);
  });

  it('pass over references that do not resolve', async () => {
    expect((await validate(referring('NOT_SET'))).problems).to.deep.equal([]);
    expect((await validate(referring('file:/run/secrets/not-there'))).problems).to.deep.equal([]);
  });

  it('know the directories of this process, and the files that its own secrets are read from', async () => {
    const reference = referring('file:/srv/keys/master');
    const rules = async (variables: Record<string, string>): Promise<readonly string[]> =>
      (await validate(reference, variables)).problems.map(({ rule }) => rule);
    expect(await rules({})).to.deep.equal(['CV48']);
    expect(await rules({ GW_SECRET_DIRS: '/srv/keys' })).to.deep.equal([]);
    expect(await rules({ GW_SECRET_DIRS: '/srv/keys', MASTER_KEY_FILE: '/srv/keys/master' })).to.deep.equal(['CV49']);
  });
});
