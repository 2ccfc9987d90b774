import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

describe('gw rules', () => {
  it('shows what is known of a model, with the rule that set each fact, its day and its page', async () => {
    const { code, stdout } = await runCommand(['rules', 'openai/gpt-5.6-sol']);
    expect(code).to.equal(0);
    const [header, , ...lines] = stdout.trimEnd().split('\n');
    expect(header).to.match(/^FACT +VALUE +RULE +CHECKED +SOURCE$/);
    const line = lines.find((each) => each.startsWith('efforts '));
    expect(line).to.match(/none,low,medium,high,xhigh +openai-5\.6 +2026-\d\d-\d\d +https:\/\/github\.com\//);
  });

  it('prints the same as JSON', async () => {
    const [short, long] = await Promise.all([
      runCommand(['rules', 'bedrock/us.anthropic.claude-opus-5', '--json']),
      runCommand(['rules', 'bedrock/us.anthropic.claude-opus-5', '--format', 'json']),
    ]);
    expect(short.stdout).to.equal(long.stdout);
    const { provider, model, facts } = JSON.parse(short.stdout);
    expect([provider, model]).to.deep.equal(['bedrock', 'us.anthropic.claude-opus-5']);
    expect(facts.thinking_off).to.deep.include({ value: 'up_to:high', rule: 'claude-opus-5' });
  });

  it('says so where no rule speaks of the model, and fails for a provider that is not known', async () => {
    const none = await runCommand(['rules', 'together/acme/unheard-of']);
    expect([none.code, none.stdout]).to.deep.equal([
      0,
      'No rule speaks of together/acme/unheard-of: requests go on as they came.\n',
    ]);
    const unknown = await runCommand(['rules', 'opnai/gpt-4o']);
    expect([unknown.code, unknown.stdout]).to.deep.equal([1, '']);
    expect(unknown.stderr).to.include('"opnai" is not known');
    for (const odd of ['gpt-4o', '/gpt-4o', 'openai/'])
      expect((await runCommand(['rules', odd])).stderr, odd).to.include('is not provider/model');
  });

  it('knows vendors of models that this build has no provider for', async () => {
    expect((await runCommand(['rules', 'zhipu/glm-5'])).code).to.equal(0);
  });

  it('lists the rules, those of the overlay behind the shipped ones', async () => {
    const cwd = await temporaryFolder();
    await writeFile(
      join(cwd, 'rules.json'),
      JSON.stringify({ format: 1, rules: [{ id: 'house', models: ['house-*'], set: { summaries: true } }] }),
    );
    const variables = { GW_MODEL_RULES_OVERLAY: 'rules.json' };
    const { stdout } = await runCommand(['rules', '--json'], { cwd, variables });
    const rows = JSON.parse(stdout) as { id: string; providers: string[] }[];
    expect([rows[0]?.id, rows.at(-1)?.id, rows.at(-1)?.providers]).to.deep.equal(['openai-family', 'house', ['*']]);
    const table = (await runCommand(['rules'], { cwd, variables })).stdout.split('\n');
    expect(table[0]).to.match(/^RULE +PROVIDERS +MODELS +CHECKED$/);
    expect((await runCommand(['rules', 'ollama/house-1', '--json'], { cwd, variables })).stdout).to.include('"house"');
  });
});
