import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, defineProvider, defineStrategy, SURFACE_NAMES } from 'gw/contract';
import { commonTranslators, responsesChat } from 'gw/common-wire';
import { MODULE_RULES } from '../../host/registry/check-module.ts';
import { CHAT_TRAITS, SHAPES, TRANSLATORS } from '../../host/registry/module-shapes.ts';
import type { ModuleKind } from '../../host/registry/registry.ts';
import type { Shape } from '../../host/registry/shape.ts';

type Path = readonly (string | number)[];
type Members = Readonly<Record<string, unknown>>;

const params = { seed: { rename: 'random_seed' } } as const;
const surfaces = Object.keys(TRANSLATORS.fields ?? {}) as Parameters<typeof commonTranslators>[0];
const common = commonTranslators(surfaces, params) as Readonly<Record<string, Members>>;
const relaying = Object.fromEntries(
  Object.entries(common).map(([name, each]) => [name, { ...each, relaysBytes: true }]),
);
const TRAITS = {
  wire: 'common',
  history: { marks: ['tools'], late_system: true, thoughts: ['acme-v1'] },
  mediaInResults: true,
  longToolNames: true,
  errorsInResults: true,
  refusesBlankTurns: true,
  fields: ['verbosity'],
} as const;
const own = { toUpstream: () => ({ path: '/' }), countTokens: () => ({ path: '/' }) };

const ofChats = { openStream: 'common', editStream: () => undefined, relaysBytes: true };

/** A module of each kind with every member that its shape has. */
const WHOLE: Readonly<Record<ModuleKind, Members>> = {
  provider: defineProvider({
    name: 'acme',
    wire: 'common',
    params,
    paramsFor: () => params,
    connection: {
      env: ['ACME_API_KEY'],
      optionalEnv: ['ACME_DEPLOYMENT'],
      baseUrl: 'https://acme.test/v1',
      baseUrlEnv: 'ACME_BASE_URL',
      rootStyle: 'host',
      root: (address) => address,
      authorize: () => ({}),
      open: () => ({ authorize: () => ({}) }),
      models: () => [],
      settings: { region: { variable: 'region', isRequired: true, values: ['eu'] }, deployment: 'ACME_DEPLOYMENT' },
      secrets: { api_key: 'ACME_API_KEY' },
      secretSets: [{ needs: ['api_key'], mayHave: ['api_key'] }],
      needsAddress: true,
      onlyDeclared: true,
      chatModelEnv: 'ACME_DEPLOYMENT',
      keyShapes: [{ shape: 'acme-[a-z0-9]{20,}', shownAs: 'ACME_KEY' }],
      connectTimeoutMs: 10_000,
      headersTimeoutMs: 10_000,
    },
    translators: {
      ...relaying,
      chat: { ...relaying['chat'], ...ofChats, viaResponses: { ...responsesChat({ isAutomatic: true }), ...ofChats } },
    } as never,
    chatTraits: TRAITS,
    chatTraitsFor: () => TRAITS,
    sameWire: { messages: own, gemini: own, responses: own },
    streams: ['images'],
    framing: 'sse',
    passthrough: true,
    batches: true,
    responses: 'native',
    anyModel: true,
    offline: true,
    discovery: { path: '/models', read: () => [] },
    catalogModels: false,
    forwardPath: '/v1',
    clientHeaders: ['x-trial'],
    describedAs: () => undefined,
    names: { catalog: ['acme'], telemetry: 'acme.inference' },
    elsewhere: {
      litellm: {
        names: ['acme_ai'],
        models: ['acme-'],
        insteadOf: 'acme',
        settings: [{ variable: 'ACME_BASE_URL', from: ['resource'], isSecret: true, as: 'https://{}.test' }],
      },
    },
    costReport: { usd: () => undefined, use: 'compare' },
    tierHeader: 'x-acme-tier',
    bannerPlace: 6,
    imageFormats: ['url'],
    converse: () => Promise.reject(new Error('unused')),
    toFault: () => undefined,
  }) as unknown as Members,
  strategy: defineStrategy({
    name: 'acme',
    summary: 's',
    settings: Joi.object({}),
    settingsFrom: ['single'],
    targetSettings: Joi.object({}),
    check: () => [],
    advances: true,
    sessions: 'spread',
    create: () => (targets) => targets,
  }) as unknown as Members,
  plugin: definePlugin({
    name: 'acme',
    type: 'guardrail',
    summary: 's',
    stages: ['before_request'],
    surfaces: SURFACE_NAMES,
    settings: Joi.object({}),
    unlistedSettings: ['old'],
    toleratedSettings: { older: 'use "newer"' },
    rejectsAs: 'request_rejected',
    keepsModel: true,
    checkStages: () => undefined,
    readsContent: () => true,
    readsUsage: () => true,
    needsBody: () => true,
    refusesUnreadable: true,
    create: () => ({ before_request: () => undefined }),
  }) as unknown as Members,
};

/** Members that may be of several types: what they may hold beside what stands above. */
const ALSO: Readonly<Record<string, readonly unknown[]>> = {
  'params.seed': ['translate'],
  'connection.baseUrl': [() => 'https://acme.test/v1'],
  'connection.settings.region': ['ACME_DEPLOYMENT'],
  'connection.env[0]': [['ACME_API_KEY', 'ACME_TOKEN']],
  'chatTraits.history.marks': ['unasked'],
  'chatTraits.history.thoughts': ['tool_turns'],
  'translators.chat.openStream': [() => () => []],
  'translators.chat.viaResponses.openStream': [() => () => []],
  responses: [true, false],
};
/** Values of the right type that are wrong all the same. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  bannerPlace: [0, -1, 1.5, Number.NaN],
  catalogModels: [true],
  framing: ['xml'],
  'chatTraits.wire': ['native '],
  'chatTraits.history.marks': ['always', ['always']],
  'chatTraits.history.thoughts': ['any'],
  'chatTraits.fields': [['seed']],
  'connection.secretSets': [[]],
  'connection.keyShapes[0].shape': ['', '.*', '[a-z]+'],
  'connection.keyShapes[0].shownAs': ['acme_key', 'ACME KEY'],
  'connection.connectTimeoutMs': [0, 0.5],
  'names.catalog': [[], ['a b']],
  'names.telemetry': [''],
  'elsewhere.litellm.names[0]': ['Acme', 'a/b', ''],
  'elsewhere.litellm.settings[0].from': [[]],
  'elsewhere.litellm.settings[0].as': ['https://acme.test'],
  'clientHeaders[0]': ['authorization', 'X-Trial'],
};
/** One or two of every type. */
const ANY: readonly unknown[] = [null, 7, 'x', true, [], ['x'], {}, () => {}];

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value);
const titleOf = (path: Path): string =>
  path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('');

/** The value with another one at a path. */
function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value)) return value.with(Number(key), changed(value[Number(key)], rest, to));
  const members = value as Members;
  return { ...members, [key]: changed(members[key], rest, to) };
}

const valueAt = (value: unknown, path: Path): unknown => path.reduce((at, key) => (at as Members)[key], value);

interface Member {
  readonly path: Path;
  readonly value: unknown;
  /** A field of an object of known fields, not an item. */
  readonly isField: boolean;
}

/** Every member of a shape, those inside of lists and tables at their first item. */
function membersOf(shape: Shape, value: unknown, path: Path = []): readonly Member[] {
  const inside = shape.fields
    ? Object.entries(shape.fields)
    : shape.item
      ? [[firstOf(value), shape.item] as const]
      : [];
  return inside.flatMap(([key, each]) => {
    const member = {
      path: [...path, key],
      value: (value as Members | undefined)?.[key],
      isField: shape.fields !== undefined,
    };
    return [member, ...membersOf(each, member.value, member.path)];
  });
}

const firstOf = (value: unknown): string | number => (Array.isArray(value) ? 0 : (Object.keys(value ?? {})[0] ?? '?'));

/** What the rules say of a module, `<rule> <message>`. */
function problemsOf(kind: ModuleKind, value: unknown): readonly string[] {
  const problems: string[] = [];
  const report = (rule: string, message: string): number => problems.push(`${rule} ${message}`);
  for (const rule of MODULE_RULES)
    rule.check({ value: value as Members, kind, expectedName: undefined, origin: 'acme.ts', report });
  return problems;
}

for (const kind of ['provider', 'strategy', 'plugin'] as const) {
  const whole = WHOLE[kind];
  const members = membersOf(SHAPES[kind], whole);

  describe(`the members of a ${kind}`, () => {
    it('are all tried here', () => {
      expect(problemsOf(kind, whole)).to.deep.equal([]);
      expect(members.filter(({ value }) => value === undefined).map(({ path }) => titleOf(path))).to.deep.equal([]);
    });

    for (const { path, value, isField } of members) {
      const title = titleOf(path);
      const right = [value, ...(ALSO[title] ?? [])];
      const types = new Set(right.map(typeOf));

      it(`${title} is ${[...types].join(' or ')}; else it is one problem that names it`, () => {
        for (const each of right) expect(problemsOf(kind, changed(whole, path, each))).to.deep.equal([]);
        for (const each of [...ANY.filter((one) => !types.has(typeOf(one))), ...(WRONG[title] ?? [])]) {
          const problems = problemsOf(kind, changed(whole, path, each));
          expect(problems, String(each)).to.have.lengthOf(1);
          expect(problems[0]?.startsWith(`MV04 ${title}`), problems[0]).to.equal(true);
        }
      });

      if (!isField) continue;
      it(`${title} is named where it is missing and required, and so is what is unknown beside it`, () => {
        const parent = path.slice(0, -1);
        const members = valueAt(whole, parent) as Members;
        const rest = Object.fromEntries(Object.entries(members).filter(([key]) => key !== path.at(-1)));
        const missing = problemsOf(kind, changed(whole, parent, rest)).filter((problem) => problem.startsWith('MV04'));
        if (missing.length > 0) expect(missing).to.deep.equal([`MV04 ${title} is required`]);
        const beside = problemsOf(kind, changed(whole, parent, { ...members, zzqq: 1 }));
        expect(beside).to.deep.equal([
          `MV04 ${titleOf([...parent, 'zzqq'])} is not a field that a module of this kind has`,
        ]);
      });
    }
  });
}

describe('what a provider says of itself, and does not keep', () => {
  const provider = WHOLE.provider;
  const traits = membersOf(CHAT_TRAITS, TRAITS);

  for (const { path, value } of traits) {
    const title = titleOf(path);
    const right = [value, ...(ALSO[`chatTraits.${title}`] ?? [])];
    const types = new Set(right.map(typeOf));
    it(`is one problem where chatTraitsFor returns another ${title} (MV08)`, () => {
      const withTraits = (to: unknown): readonly string[] =>
        problemsOf('provider', { ...provider, chatTraitsFor: () => changed(TRAITS, path, to) });
      for (const each of right) expect(withTraits(each)).to.deep.equal([]);
      for (const each of ANY.filter((one) => !types.has(typeOf(one)))) {
        const problems = withTraits(each);
        expect(problems, String(each)).to.have.lengthOf(1);
        expect(problems[0]).to.include(`MV08 chatTraitsFor(model).${title} must be`);
      }
    });
  }

  it('is one problem where chatTraitsFor throws, or returns no traits at all (MV08)', () => {
    const answers = [null, undefined, 7, 'x', [], () => ({})].map((answer) => () => answer);
    const throws = (): never => {
      throw new Error('no such model');
    };
    for (const chatTraitsFor of [...answers, throws]) {
      const problems = problemsOf('provider', { ...provider, chatTraitsFor });
      expect(problems).to.have.lengthOf(1);
      expect(problems[0]).to.include('MV08 chatTraitsFor');
    }
  });

  it('is one problem where a surface has no translator (MV04)', () => {
    for (const surface of surfaces)
      expect(problemsOf('provider', changed(provider, ['translators', surface], undefined))).to.deep.equal([
        `MV04 translators.${surface} is undefined`,
      ]);
  });

  const naming: readonly (readonly [what: string, path: Path])[] = [
    ['connection.chatModelEnv', ['connection', 'chatModelEnv']],
    ['elsewhere.litellm.settings', ['elsewhere', 'litellm', 'settings', 0, 'variable']],
    ['connection.settings.deployment', ['connection', 'settings', 'deployment']],
    ['connection.settings.region', ['connection', 'settings', 'region', 'variable']],
    ['connection.secrets.api_key', ['connection', 'secrets', 'api_key']],
  ];
  for (const [what, path] of naming)
    it(`is one problem where ${what} names a variable that the connection does not (MV07)`, () => {
      for (const variable of ['ACME_API_KEY', 'ACME_DEPLOYMENT', 'ACME_BASE_URL'])
        expect(problemsOf('provider', changed(provider, path, variable)), variable).to.deep.equal([]);
      expect(problemsOf('provider', changed(provider, path, 'OTHER_ZONE'))).to.deep.equal([
        `MV07 ${what} names OTHER_ZONE, which connection.env does not name`,
      ]);
    });

  it('is one problem where a key of declared instances is not named as such keys are, or a set names another (MV07)', () => {
    const at = (member: string, value: unknown): readonly string[] =>
      problemsOf('provider', changed(provider, ['connection', member], value));
    expect(at('settings', { Region: 'ACME_DEPLOYMENT' })).to.deep.equal([
      'MV07 connection.settings has the key "Region"',
    ]);
    expect(at('secrets', { api_key: 'ACME_API_KEY', certificate: 'ACME_API_KEY' })).to.deep.equal([
      'MV07 connection.secrets has the key "certificate"',
    ]);
    expect(at('secretSets', [{ needs: ['session_token'] }])).to.deep.equal([
      'MV07 connection.secretSets names "session_token", which connection.secrets does not',
    ]);
  });

  it('may read a setting without a variable, which stands under its own key', () => {
    const authorize = (_request: unknown, { region = '' }: Readonly<Record<string, string>>): object => ({
      'x-region': region,
    });
    expect(problemsOf('provider', changed(provider, ['connection', 'authorize'], authorize))).to.deep.equal([]);
  });
});
