import type { Body, Validator } from './schema.ts';

/** What a Claude model takes beyond the form of the API. */
interface Model {
  /** Kinds of `thinking` that it takes. */
  readonly kinds: readonly ('adaptive' | 'enabled' | 'disabled' | 'between_tools')[];
  /** Whether it thinks where the request says nothing. */
  readonly thinksUnasked: boolean;
  /** The highest effort beside `disabled`. */
  readonly offUpTo?: string;
  readonly efforts: readonly string[];
  readonly samples: boolean;
  /** When a tool may be forced. */
  readonly forced: 'always' | 'unthinking' | 'never';
  readonly mostTokens: number;
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const NEWEST: Model = {
  kinds: ['adaptive'],
  thinksUnasked: true,
  efforts: EFFORTS,
  samples: false,
  forced: 'never',
  mostTokens: 128_000,
};
const SWITCHED: Model = { ...NEWEST, kinds: ['adaptive', 'disabled'], offUpTo: 'high', forced: 'unthinking' };
const BUDGETED: Model = {
  kinds: ['enabled', 'disabled'],
  thinksUnasked: false,
  efforts: [],
  samples: true,
  forced: 'unthinking',
  mostTokens: 64_000,
};

/** The first that fits. Sources: npm @ai-sdk/anthropic 4.0.105; platform.claude.com, "Adaptive thinking", "Effort", "Models overview"; 2026-11-26. */
const MODELS: readonly (readonly [name: RegExp, model: Model])[] = [
  [/claude-sonnet-5-5/, { ...NEWEST, kinds: ['adaptive', 'between_tools'] }],
  [/claude-(fable|mythos)-5($|-2|-v|@)/, { ...NEWEST, forced: 'always' }],
  [/claude-haiku-5-5/, SWITCHED],
  [/claude-opus-5($|-2|-v|@)/, { ...SWITCHED, kinds: ['adaptive', 'enabled', 'disabled'] }],
  [/claude-opus-4-[78]/, { ...SWITCHED, thinksUnasked: false, offUpTo: 'max' }],
  [/claude-sonnet-5($|-2|-v|@)/, { ...SWITCHED, offUpTo: 'max' }],
  [
    /claude-(opus|sonnet)-4-6/,
    {
      ...BUDGETED,
      kinds: ['adaptive', 'enabled', 'disabled'],
      efforts: ['low', 'medium', 'high', 'max'],
      mostTokens: 128_000,
    },
  ],
  [/claude-opus-4-5/, { ...BUDGETED, efforts: ['low', 'medium', 'high'] }],
  [/claude-opus-4/, { ...BUDGETED, mostTokens: 32_000 }],
  [/claude-(sonnet|haiku)-4|claude-3-7/, BUDGETED],
  [/claude-3-5/, { ...BUDGETED, kinds: ['disabled'], forced: 'always', mostTokens: 8192 }],
  [/claude-3/, { ...BUDGETED, kinds: ['disabled'], forced: 'always', mostTokens: 4096 }],
  [/claude-(opus|sonnet|haiku|fable|mythos)-\d/, NEWEST],
];

/** What a request is refused for by its model; one whose name says nothing refuses nothing. */
export function claudeModelRules(model: string): Validator {
  const [, rules] = MODELS.find(([name]) => name.test(model)) ?? [];
  return rules ? (body) => faults(body, rules) : () => [];
}

function faults(body: Body, rules: Model): string[] {
  const { thinking, output_config: config, tool_choice: choice, max_tokens: most } = body;
  const kind: string | undefined = thinking?.type;
  const effort: string | undefined = config?.effort;
  const thinks = kind === undefined ? rules.thinksUnasked : kind !== 'disabled';
  const isForced = choice?.type === 'any' || choice?.type === 'tool';
  const isOffTooHigh =
    kind === 'disabled' && EFFORTS.indexOf(effort ?? 'high') > EFFORTS.indexOf(rules.offUpTo ?? 'max');
  return [
    ...(kind !== undefined && !rules.kinds.includes(kind as 'adaptive')
      ? [`thinking.type: "${kind}" is not supported on this model`]
      : []),
    ...(effort !== undefined && !rules.efforts.includes(effort)
      ? [`output_config.effort: "${effort}" is not supported on this model`]
      : []),
    ...(isOffTooHigh ? ['thinking cannot be disabled with an effort above high'] : []),
    ...(kind === 'between_tools' && ['xhigh', 'max'].includes(String(effort))
      ? ['between_tools thinking takes an effort of at most high']
      : []),
    ...(rules.samples
      ? []
      : ['temperature', 'top_p', 'top_k']
          .filter((name) => body[name] !== undefined)
          .map((name) => `\`${name}\` is not supported on this model`)),
    ...(isForced && (rules.forced === 'never' || (rules.forced === 'unthinking' && thinks))
      ? ['Thinking may not be enabled when tool_choice forces tool use.']
      : []),
    ...(Number(most) > rules.mostTokens ? [`max_tokens: ${most} > ${rules.mostTokens}`] : []),
  ];
}
