import { type BadModule, plugin } from './bad-module.ts';

const SETTINGS =
  'settings: Joi.object({ url: Joi.string().uri(), mode: Joi.string().valid("fast", "safe"), count: Joi.number(), note: Joi.string() })';

interface BadEntry extends BadModule {
  /** The `config` of its entry. */
  readonly config?: object;
  readonly stage?: string;
}

/** Each passes every check and cannot be built: a start refuses the configuration, and names plugin, fault and place. */
export const WHILE_BUILDING: readonly BadEntry[] = [
  {
    file: 'plugins/create-throws.ts',
    does: 'throws in create',
    source: plugin('create-throws', "create: () => {\n throw new Error('no index of words');\n }"),
    says: [['PB01', 'plugin "create-throws" cannot be built: no index of words at ', 'create-throws.ts:6:8']],
    shows: '> 6 |  throw new Error',
  },
  {
    file: 'plugins/create-rejects.ts',
    does: 'rejects in create',
    source: plugin('create-rejects', "create: async () => { throw new TypeError('no service'); }"),
    says: [['PB01', 'plugin "create-rejects"', 'no service']],
  },
  {
    file: 'plugins/create-throws-nothing.ts',
    does: 'throws undefined in create',
    source: plugin('create-throws-nothing', 'create: () => { throw undefined; }'),
    says: [['PB01', 'plugin "create-throws-nothing"', 'undefined was thrown']],
  },
  {
    file: 'plugins/create-throws-wordless.ts',
    does: 'throws an object without a prototype in create',
    source: plugin('create-throws-wordless', 'create: () => { throw Object.create(null); }'),
    says: [['PB01', 'plugin "create-throws-wordless"', 'something without a text']],
  },
  {
    file: 'plugins/create-returns-nothing.ts',
    does: 'returns no handlers',
    source: plugin('create-returns-nothing', 'create: () => undefined'),
    says: [['PB01', 'plugin "create-returns-nothing"', 'returns no handlers']],
  },
  {
    file: 'plugins/create-returns-list.ts',
    does: 'returns a list of handlers',
    source: plugin('create-returns-list', 'create: () => [() => {}]'),
    says: [['PB01', 'plugin "create-returns-list"', 'returns no handlers']],
  },
  {
    file: 'plugins/misspelt-handler.ts',
    does: 'misspells a handler',
    source: plugin('misspelt-handler', 'create: () => ({ beforeRequest() {} })'),
    says: [['PB01', '"beforeRequest", which is not a handler; did you mean "before_request"?']],
  },
  {
    file: 'plugins/text-for-a-handler.ts',
    does: 'returns a text for a handler',
    source: plugin('text-for-a-handler', "create: () => ({ before_request: 'reject' })"),
    says: [['PB01', 'a before_request that is not a function']],
  },
  {
    file: 'plugins/other-stage.ts',
    does: 'has no handler for the stage that lists it',
    source: plugin(
      'other-stage',
      "stages: ['before_request', 'after_request'], create: () => ({ after_request() {} })",
    ),
    says: [['PB01', 'plugin "other-stage"', 'no handler for before_request']],
  },
  {
    file: 'plugins/create-exits.ts',
    does: 'ends the process in create',
    source: plugin('create-exits', 'create: () => process.exit(0)'),
    says: [['PB01', 'plugin "create-exits"', 'process.exit(0) was called']],
  },
  {
    file: 'plugins/create-waits.ts',
    does: 'never ends its create',
    source: plugin('create-waits', 'create: () => new Promise(() => {})'),
    says: [
      [
        'PB01',
        'plugin "create-waits" cannot be built: its create did not finish within 10000 ms',
        'let create finish in time',
      ],
    ],
  },
  {
    file: 'plugins/address-by-reference.ts',
    does: 'gets an address by reference that is none',
    source: plugin('address-by-reference', SETTINGS),
    config: { url: '${NO_ADDRESS}', mode: '${MODE}' },
    says: [['PB01', 'plugin "address-by-reference"', 'setting url must be a valid uri']],
  },
  {
    file: 'plugins/choice-by-reference.ts',
    does: 'gets a choice by reference that is none',
    source: plugin('choice-by-reference', SETTINGS),
    config: { url: '${ADDRESS}/x', mode: '${NO_MODE}' },
    says: [['PB01', 'plugin "choice-by-reference"', 'setting mode must be one of [fast, safe]']],
  },
  {
    file: 'plugins/not-defined.ts',
    does: 'names a variable that is not defined',
    source: plugin('not-defined', SETTINGS),
    config: { note: '${UNDEFINED_ONE}' },
    says: [['PB01', 'plugin "not-defined"', 'undefined variables: UNDEFINED_ONE']],
  },
];

export const VARIABLES = { NO_ADDRESS: 'not an address', ADDRESS: 'https://acme.test', MODE: 'fast', NO_MODE: 'quick' };
