import { plugin, strategy } from './bad-module.ts';

interface BadConfiguration {
  readonly does: string;
  /** Keys of the configuration, in place of those of a sound one. */
  readonly config: object;
  readonly files?: Readonly<Record<string, string>>;
  /** Pieces of lines that must be reported, and of lines that must not be. */
  readonly says: readonly (readonly string[])[];
  readonly keepsSilent?: readonly string[];
}

const one = (name: string, config: object = {}): object => ({
  plugins: [{ name, stage: 'before_request', enabled: true, config }],
});
const own = (fields: string): Readonly<Record<string, string>> => ({ 'plugins/own.ts': plugin('own', fields) });
const ranked = (fields: string): Readonly<Record<string, string>> => ({ 'strategies/own.ts': strategy('own', fields) });
const byOwn = { strategy: { mode: 'own' } };
const SETTINGS =
  'settings: Joi.object({ url: Joi.string().uri(), mode: Joi.valid("fast"), count: Joi.number(), on: Joi.boolean(), of: Joi.valid(1, 2), either: Joi.alternatives(Joi.number(), Joi.boolean()) })';

/** What a configuration and its modules make of each other, without a start. */
export const WHILE_CHECKING: readonly BadConfiguration[] = [
  {
    does: 'misspells a plugin',
    config: one('word-filtr'),
    says: [['plugins[0].name: BV02: "word-filtr"', 'did you mean "word-filter"? use one of: ', 'max-token', '(line ']],
  },
  {
    does: 'misspells a provider',
    config: { targets: [{ virtual_key: 'opanai' }] },
    says: [['targets[0].virtual_key: BV01: "opanai"', 'did you mean "openai"? use one of: ']],
  },
  {
    does: 'misspells a strategy',
    config: { strategy: { mode: 'falback' } },
    says: [['strategy.mode: CV13: "falback"', 'did you mean "fallback"? use one of: ']],
  },
  {
    does: 'names a plugin that is refused for its own fault',
    config: one('own'),
    files: { 'plugins/own.ts': 'throw new Error("no");' },
    says: [['plugins/own.ts: MV10']],
    keepsSilent: ['BV02'],
  },
  {
    does: 'names a strategy that is refused for its own fault',
    config: byOwn,
    files: ranked("advances: 'yes'"),
    says: [['strategies/own.ts: MV04: advances']],
    keepsSilent: ['CV13'],
  },
  {
    does: 'names a provider that is refused for its own fault',
    config: { targets: [{ virtual_key: 'own' }] },
    files: { 'providers/own.ts': '' },
    says: [['providers/own.ts: MV01']],
    keepsSilent: ['BV01'],
  },
  {
    does: 'misspells a setting',
    config: one('max-token', { max_tokns: 7 }),
    says: [['plugins[0].config.max_tokns: BV06', 'did you mean "max_tokens"?']],
  },
  {
    does: 'lists a plugin at a stage that is none, whose settings are then not looked at',
    config: { plugins: [{ name: 'max-token', stage: 'before', enabled: true, config: { secretive: 1 } }] },
    says: [['plugins[0].stage: BV03', 'did you mean "before_request"?']],
    keepsSilent: ['BV06', 'secretive'],
  },
  {
    does: 'refers to a variable where a number, a choice of numbers or a boolean is due',
    config: one('own', { url: '${A}', mode: '${B}', count: '${C}', on: '${D}', of: '${E}', either: '${F}' }),
    files: own(SETTINGS),
    says: [
      ['config.count: BV06', 'must be a number', 'always text'],
      ['config.on: BV06', 'must be a boolean'],
      ['config.of: BV06'],
      ['config.either: BV06'],
    ],
    keepsSilent: ['config.url', 'config.mode'],
  },
  {
    does: 'has a schema whose own function throws',
    config: one('own', { a: 'x' }),
    files: own(
      'settings: Joi.object({ a: Joi.any() }).when(Joi.object().custom(() => { throw new Error("odd"); }), { then: Joi.forbidden() }), readsContent: () => { throw new Error("reads odd"); }',
    ),
    says: [['BV07', 'plugin "own"', 'reads odd']],
  },
  {
    does: 'has a schema with an error of its own',
    config: one('own', { count: 'x' }),
    files: own("settings: Joi.object({ count: Joi.number().error(new Error('count what you have')) })"),
    says: [['plugins[0].config: BV06: plugin "own": count what you have']],
  },
  {
    does: 'has needsBody that returns a text',
    config: one('own'),
    files: own('needsBody: () => "no"'),
    says: [['BV07', 'plugin "own"', 'needsBody returns neither']],
  },
  {
    does: 'has checkStages that throws',
    config: one('own'),
    files: own('checkStages: () => { throw new Error("stages odd"); }'),
    says: [['BV07', 'plugin "own"', 'stages odd']],
  },
  {
    does: 'has checkStages that returns a text',
    config: one('own'),
    files: own('checkStages: () => "no"'),
    says: [['BV07', 'plugin "own"', 'not a problem']],
  },
  {
    does: 'has a check that throws',
    config: byOwn,
    files: ranked('check: () => { throw undefined; }'),
    says: [['strategy: CV38: strategy "own": its check failed: undefined was thrown']],
  },
  {
    does: 'has a check that returns nothing',
    config: byOwn,
    files: ranked('check: () => undefined'),
    says: [['strategy: CV38: strategy "own": its check returns no list']],
  },
  {
    does: 'has a check that returns texts',
    config: byOwn,
    files: ranked("check: () => ['no']"),
    says: [['strategy: CV38: strategy "own": its check returns something that is not a problem']],
  },
  {
    does: 'gives settings to a target of a strategy that reads none',
    config: { targets: [{ virtual_key: 'echo', settings: { tier: 1 } }] },
    says: [['targets[0].settings: CV39', 'the strategy "fallback" reads no settings of targets']],
  },
  {
    does: 'gives a target a setting that the strategy refuses',
    config: { ...byOwn, targets: [{ virtual_key: 'echo', settings: { teir: 1 } }] },
    files: ranked('targetSettings: Joi.object({ tier: Joi.number() })'),
    says: [['targets[0].settings.teir: CV39', 'did you mean "tier"?']],
  },
];
