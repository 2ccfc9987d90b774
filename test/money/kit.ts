import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { ask, eventually, startHost, type StubHandler, stubUpstream, type TestHost } from '../kit/index.ts';

export const CHAT = '/v1/chat/completions';

export interface KeyScene {
  readonly t: TestHost;
  readonly id: string;
  readonly seen: () => number;
  readonly send: (more?: object, path?: string, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  /** Micro-dollars, once everything is over. */
  readonly booked: () => Promise<number>;
  readonly reserved: () => number;
}

/** A key with a budget in front of a stub that stands for OpenAI: models have the prices and limits of the catalog. */
export async function keyScene(
  handler: StubHandler,
  {
    budgetUsd = 100,
    models = ['gpt-4o'],
    ...config
  }: { readonly budgetUsd?: number; readonly models?: readonly string[]; readonly [key: string]: unknown } = {},
): Promise<KeyScene> {
  const upstream = await stubUpstream(handler);
  const t = await startHost(
    { targets: [{ virtual_key: 'openai', models }], ...config },
    { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  const {
    key,
    record: { id },
  } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: budgetUsd } });
  const ledger = (): MemoryLedger => {
    const carryover = t.host.carryover.open();
    const found = carryover.lease<MemoryLedger>('ledger key budgets', () => {
      throw new Error('there is no ledger');
    });
    void carryover.release();
    return found;
  };
  return {
    t,
    id,
    seen: () => upstream.seen.length,
    send: (more = {}, path = CHAT, headers = {}) =>
      fetch(`${t.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(
          path === CHAT ? { ...ask('hi'), model: models[0], ...more } : { model: models[0], ...more },
        ),
      }),
    booked: async () => {
      await eventually(() => t.host.slot.leases === 0);
      return ledger().committed(id);
    },
    reserved: () => ledger().reserved,
  };
}
