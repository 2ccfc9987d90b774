import { parse } from 'yaml';
import { createGateway, type ConfigRefused } from 'gw';

const QUESTIONS = ['demo', 'gpt-4o', 'gpt-4o-mini', 'claude-haiku-4-5', 'writer', 'qwen3', 'nothing'].map((model) => ({
  model,
  messages: [{ role: 'user', content: 'Translate this, please' }],
}));

/** What a configuration would do: where requests go, or which rules refuse it. Modules of a folder are not there. */
export async function decisionsOf(text: string): Promise<unknown> {
  const env: Record<string, string> = { MASTER_KEY: 'gw_00000000000000000000000000000001', LOG_LEVEL: 'error' };
  for (const [, name = ''] of text.matchAll(/\$\{([A-Z_0-9]+)\}/g)) env[name] = `of-${name.toLowerCase()}`;
  for (const name of ['OPENAI', 'GROQ', 'MISTRAL', 'ANTHROPIC']) env[`${name}_API_KEY`] = 'sk-none';
  try {
    const gateway = await createGateway({ config: parse(text) as object, env, log: () => {} });
    try {
      return QUESTIONS.map((question) => decisionOf(gateway.explain(question) as Record<string, any>));
    } finally {
      await gateway.drain(0);
    }
  } catch (error) {
    return { refused: [...new Set((error as ConfigRefused).problems.map(({ rule }) => rule))].toSorted() };
  }
}

/** Without what chance decides, and what became known since then. */
function decisionOf({ model, strategy, on_failure, rule, refusal, order, group }: Record<string, any>): object {
  return {
    model,
    strategy,
    on_failure,
    rule,
    refusal: refusal?.code ?? null,
    group: group?.name ?? null,
    targets: (order as { target: string; upstream_model: string }[])
      .map(({ target, upstream_model }) => `${target} ${upstream_model}`)
      .toSorted(),
  };
}
