import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import {
  type Answer,
  ask,
  chatReply,
  replyJson,
  startHost,
  stubUpstream,
  type StubHandler,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { WITH_EMBEDDINGS, withKeys } from './kit.ts';

export const PATH = '/v1/chat/completions';
export const STAGES: readonly string[] = ['before_request', 'after_request'];
/** One dollar per token, so that small numbers are seen: a call of `chatReply` costs 18. */
export const RATES = { input_per_m_tokens: 1e6, output_per_m_tokens: 1e6 };

export const entries = (config: object, stages: readonly string[] = STAGES): object[] =>
  stages.map((stage) => ({ name: 'budget', type: 'guardrail', stage, enabled: true, config }));

export interface Scene {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  readonly send: (request?: object, key?: string, path?: string) => Promise<Answer>;
  readonly apply: (config: object, stages?: readonly string[]) => Promise<void>;
  /** Micro-dollars of key `a`. */
  readonly spent: () => number;
  readonly reserved: () => number;
}

export const usage = (prompt: number, completion: number, more: object = {}): object => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more },
});

export async function scene(
  config: object,
  handler: StubHandler = (_request, response) => replyJson(response, 200, chatReply('hello')),
  stages = STAGES,
  options: TestHostOptions = {},
  others: readonly object[] = [],
): Promise<Scene> {
  const upstream = await stubUpstream(handler);
  const full = (settings: object, at: readonly string[]): object => ({
    targets: [upstream.target('a', {}, WITH_EMBEDDINGS)],
    plugins: [...others, ...entries(settings, at)],
  });
  const host = await startHost(full(config, stages), { builtins: [withKeys('a', 'b')], ...options });
  const ledger = (): MemoryLedger => {
    const carryover = host.host.carryover.open();
    const found = carryover.lease<MemoryLedger>('ledger budget default', () => {
      throw new Error('there is no ledger');
    });
    void carryover.release();
    return found;
  };
  return {
    host,
    upstream,
    send: (request = {}, key = 'key-a', path = PATH) =>
      host.post(path, path === PATH ? ask('hi', request) : { model: 'm', ...request }, {
        authorization: `Bearer ${key}`,
      }),
    apply: (settings, at = stages) => host.apply(full(settings, at)),
    spent: () => ledger().committed('a'),
    reserved: () => ledger().reserved,
  };
}

export const refusal = (answered: Answer): unknown[] => {
  const { type, code, message } = answered.json().error;
  return [answered.status, type, code, message, answered.headers.get('retry-after')];
};
export const refused = (reason: string): unknown[] => [
  402,
  'insufficient_quota',
  'insufficient_quota',
  `request rejected by budget (before_request): budget exceeded: ${reason}`,
  null,
];
