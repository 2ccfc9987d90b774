import { MODULES } from '../../../builtins/manifest.ts';
import type { PluginModule } from '../../../host/contract/index.ts';
import { isSoak, replyJson, stubUpstream } from '../../kit/index.ts';

/** One guardrail in one setting, listed as a configuration has it. */
export interface ShippedGuard {
  readonly name: string;
  readonly plugins: () => Promise<readonly object[]>;
}

type Settings = Readonly<Record<string, unknown>>;

/** What a guardrail cannot do without, chosen so that answers end as its matches begin. A new guardrail has its row here, or the suite fails. */
const NEEDED: Readonly<Record<string, () => Settings | Promise<Settings>>> = {
  'word-filter': () => ({ blocked_words: ['let me see it', '4111-1111', 'Brest-Litovsk'] }),
  'regex-guard': () => ({ patterns: ['let me.*now$', '41+ times', '"harbour":"Brest"x'] }),
  'pii-redact': () => ({}),
  'secret-scan': () => ({}),
  'schema-guard': () => ({ schema: {} }),
  webhook: async () => {
    const service = await stubUpstream((_request, response) => replyJson(response, 200, { action: 'allow' }));
    return { url: service.url };
  },
};

/** Every guardrail that reads answers, in every combination of the choices that its settings offer: of `stream` in `window` alone, in the soak in each. */
export function shippedGuards(): readonly ShippedGuard[] {
  return everyGuard().filter(({ name }) => isSoak() || name.includes('stream: window'));
}

function everyGuard(): readonly ShippedGuard[] {
  return MODULES.filter(isGuard).flatMap((module) => {
    const needed = NEEDED[module.name];
    if (!needed) throw new Error(`${module.name} has no settings to be tried with`);
    return choicesOf(module).map((choices) => ({
      name: [module.name, ...Object.entries(choices).map(([name, value]) => `${name}: ${String(value)}`)].join(', '),
      plugins: async () => {
        const config = { ...(await needed()), ...choices };
        const stages = choices['restore'] === true ? ['before_request', 'after_request'] : ['after_request'];
        return stages.map((stage) => ({ name: module.name, stage, enabled: true, config }));
      },
    }));
  });
}

const isGuard = (module: (typeof MODULES)[number]): module is PluginModule =>
  module.kind === 'plugin' && module.type === 'guardrail' && module.stages.includes('after_request');

/** What may be set to what: the words that a setting is one of, and both of a switch but for `observe`, under which streams are not touched. */
function choicesOf({ settings }: PluginModule): readonly Settings[] {
  const { keys = {} } = settings.describe() as {
    readonly keys?: Readonly<Record<string, { readonly type: string; readonly allow?: readonly unknown[] }>>;
  };
  return Object.entries(keys)
    .filter(([name]) => name !== 'observe')
    .map(([name, { type, allow = [] }]) => [name, type === 'boolean' ? [false, true] : allow] as const)
    .filter(([, values]) => values.length > 1)
    .reduce<readonly Settings[]>(
      (sets, [name, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value }))),
      [{}],
    )
    .filter((set) => set['restore'] !== true || set['action'] === 'mask');
}
