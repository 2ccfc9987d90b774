import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../cli/commands.ts';
import { MASTER_KEY, temporaryFolder } from '../kit/index.ts';

const PRODUCTION = { GATEWAY_ENV: 'production' };

/** Rules of what a start warns of, and whether it ended well. */
async function warned(
  variables: Readonly<Record<string, string>>,
  targets: readonly string[],
): Promise<{ code: number | null; rules: unknown[] }> {
  const cwd = await temporaryFolder();
  await writeFile(
    join(cwd, 'config.yaml'),
    `targets: [${targets.map((name) => `{virtual_key: ${name}}`).join(', ')}]\n`,
  );
  const { code, lines } = await runCommand(['serve'], { cwd, variables: { PORT: '0', MASTER_KEY, ...variables } });
  return {
    code,
    rules: lines.filter(({ level }) => level === 'WARN' || level === 'ERROR').map(({ rule }) => rule as unknown),
  };
}

describe('a warning of a start', () => {
  const cases: readonly (readonly [
    rule: string,
    variables: Readonly<Record<string, string>>,
    targets?: readonly string[],
  ])[] = [
    ['WN02', {}, ['echo', 'openai']],
    ['WN02', {}, ['openai']],
    ['WN05', { CORS_ORIGINS: '*' }],
    ['WN06', { ...PRODUCTION, RATE_LIMIT_RPS: '0' }],
    ['WN06', { ...PRODUCTION, ENABLE_PPROF: 'true' }],
    ['WN06', PRODUCTION],
    ['WN07', { OLLAMA_HOST: 'http://127.0.0.1:1', OLLAMA_MODELS: 'a' }],
    ['WN08', {}],
    ['WN09', { ALLOW_UNAUTHENTICATED_PROXY: 'true' }],
    ['WN35', { ...PRODUCTION, GW_ADMIN_PORT: '0', GW_ADMIN_ADDRESS: '0.0.0.0' }],
    ['WN10', { RATE_LIMIT_RPS: 'x' }],
    ['WN10', { RATE_LIMIT_BURST: '-1' }],
    ['WN13', { VERTEX_AI_PROJECT_ID: 'p' }],
    ['WN13', { GROQ_API_KEY: 'a\nb' }],
    ['WN16', { GW_MODEL_DISCOVERY_INTERVAL: '30s' }],
  ];
  for (const [rule, variables, targets = ['echo']] of cases) {
    it(`names its rule and stops nothing: ${rule} of ${targets.join(' and ')} with ${JSON.stringify(variables)}`, async () => {
      const { code, rules } = await warned(variables, targets);
      expect(rules).to.include(rule);
      expect(code).to.equal(0);
    });
  }

  it('comes beside all the others', async () => {
    const { code, rules } = await warned(
      {
        CORS_ORIGINS: '*',
        ALLOW_UNAUTHENTICATED_PROXY: 'true',
        RATE_LIMIT_RPS: 'x',
        VERTEX_AI_PROJECT_ID: 'p',
        GW_MODEL_DISCOVERY_INTERVAL: '30s',
      },
      ['echo', 'openai'],
    );
    expect(rules).to.include.members(['WN02', 'WN05', 'WN08', 'WN09', 'WN10', 'WN13', 'WN16']);
    expect(code).to.equal(0);
  });
});
