import { expect } from 'chai';
import Joi from 'joi';
import {
  type CallInfo,
  defineProvider,
  defineStrategy,
  definePlugin,
  GatewayError,
  type PluginModule,
} from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { listedSettings, settingsProblems } from '../../host/config/module-settings.ts';
import type { Problem } from '../../host/config/problems.ts';
import { createHostHooks } from '../../host/host-hooks.ts';
import { MODULE_RULES } from '../../host/registry/check-module.ts';
import { createRegistry, type GatewayModule, type ModuleKind } from '../../host/registry/registry.ts';

const translators = commonTranslators(['chat'], {});
const connection = { env: ['ACME_API_KEY'], baseUrl: 'https://acme.test/v1', authorize: () => ({}) };

const VALID: Readonly<Record<ModuleKind, GatewayModule>> = {
  provider: defineProvider({ name: 'acme', wire: 'common', params: {}, translators, connection }),
  strategy: defineStrategy({
    name: 'acme',
    summary: 's',
    settings: Joi.object({}),
    create: () => (targets) => targets,
  }),
  plugin: definePlugin({
    name: 'acme',
    type: 'guardrail',
    summary: 's',
    stages: ['before_request'],
    settings: Joi.object({}),
    create: () => ({ before_request: () => undefined }),
  }),
};

/** What the rules say of a module of this kind that stands at `acme`. */
function problemsOf(kind: ModuleKind, changes: object): readonly Problem[] {
  const hooks = createHostHooks();
  for (const rule of MODULE_RULES) hooks.checkModule.tap(rule.id, (one) => rule.check(one));
  const problems = createRegistry(hooks).add({
    value: { ...VALID[kind], ...changes },
    kind,
    expectedName: 'acme',
    origin: 'acme.ts',
  });
  for (const { path, fix } of problems) expect([path, fix !== ''], 'origin and fix').to.deep.equal(['acme.ts', true]);
  return problems;
}

/** Rule and message of each. */
const check = (kind: ModuleKind, changes: object): string[] =>
  problemsOf(kind, changes).map(({ rule, message }) => `${rule} ${message}`);

/** Each change must be refused in a line that names the field: the first word of the case. */
function expectRefused(kind: ModuleKind, cases: Readonly<Record<string, object>>): void {
  const accepted = Object.entries(cases).filter(
    ([field, changes]) => !check(kind, changes).some((line) => line.includes(field.split(' ')[0] ?? '')),
  );
  expect(
    accepted.map(([field]) => field),
    `fields of a ${kind} that may hold anything`,
  ).to.deep.equal([]);
}

const chat = (changes: object): object => ({ translators: { chat: { ...translators.chat, ...changes } } });
const without = (kind: ModuleKind, ...fields: readonly string[]): object =>
  Object.fromEntries(fields.filter((field) => field in VALID[kind]).map((field) => [field, undefined]));

describe('the module rules', () => {
  it('accept a valid module of each kind', () => {
    for (const kind of ['provider', 'strategy', 'plugin'] as const) expect(check(kind, {}), kind).to.deep.equal([]);
  });

  it('have ids of their own, in order', () => {
    const ids = MODULE_RULES.map(({ id }) => id);
    expect(ids).to.deep.equal([...new Set(ids)].toSorted());
  });

  it("refuse another kind than the folder's, and name folder and helper (MV02)", () => {
    const told = check('plugin', { ...VALID.strategy });
    expect(told[0]).to.equal('MV02 it exports kind "strategy" where a plugin belongs');
    expect(problemsOf('plugin', { ...VALID.strategy })[0]?.fix).to.equal(
      'use definePlugin, or move it out of plugins/',
    );
    expect(check('strategy', { kind: undefined })).to.deep.equal(['MV01 it has no default export of a strategy']);
  });

  it('refuse a module of another contract (MV03)', () => {
    expect(check('provider', { contract: 2 })).to.deep.equal(['MV03 it was made for contract 2, this host speaks 1']);
    expect(check('provider', { contract: undefined })).to.have.lengthOf(1);
  });

  it("refuse a name that is not the file's or has other characters than small letters, digits and hyphens (MV04, MV05)", () => {
    expect(check('plugin', { name: 'other' })).to.deep.equal(['MV05 it is named "other" but stands at "acme"']);
    for (const name of ['Acme', 'ac_me', 'ac me', '-acme', 'acme-', 'a--b', 'äcme', 'acme/x', '', 7]) {
      expect(
        check('plugin', { name }).some((line) => line.startsWith('MV04 name')),
        String(name),
      ).to.equal(true);
    }
  });

  it('refuse a module that lacks a field (MV04), all fields at once', () => {
    const provider = ['wire', 'connection', 'params', 'translators'];
    const plugin = ['type', 'summary', 'stages', 'settings', 'create'];
    const strategy = ['summary', 'settings', 'create'];
    expect(check('provider', without('provider', ...provider))).to.deep.equal(
      provider.map((field) => `MV04 ${field} is required`),
    );
    expect(check('plugin', without('plugin', ...plugin))).to.deep.equal(
      plugin.map((field) => `MV04 ${field} is required`),
    );
    expect(check('strategy', without('strategy', ...strategy))).to.deep.equal(
      strategy.map((field) => `MV04 ${field} is required`),
    );
  });

  it('refuse a provider with a wrong field (MV04)', () => {
    expectRefused('provider', {
      wire: { wire: 'grpc' },
      framing: { framing: 'lines' },
      converse: { converse: 'yes' },
      toFault: { toFault: {} },
      'params.seed': { params: { seed: 'drop' } },
      'translators.chat.fromUpstream': chat({ fromUpstream: undefined }),
      'translators.smell': { translators: { smell: translators.chat } },
      'connection.env': { connection: { ...connection, env: 'KEY' } },
      'connection.baseUrl': { connection: { ...connection, baseUrl: undefined } },
      'connection.authorize': { connection: { ...connection, authorize: 'Bearer' } },
    });
  });

  it('refuse a plugin with a wrong field (MV04)', () => {
    expectRefused('plugin', {
      type: { type: 'guard' },
      summary: { summary: '' },
      'stages none': { stages: [] },
      'stages twice': { stages: ['on_error', 'on_error'] },
      'stages unknown': { stages: ['before'] },
      surfaces: { surfaces: ['smell'] },
      settings: { settings: { max: 1 } },
      create: { create: {} },
      readsContent: { readsContent: true },
      needsBody: { needsBody: false },
    });
  });

  it('refuse a strategy with a wrong field (MV04)', () => {
    expectRefused('strategy', {
      summary: { summary: '' },
      settings: { settings: {} },
      create: { create: 'rank' },
      check: { check: true },
      advances: { advances: 'yes' },
    });
  });

  it('refuse settings that are not a schema of an object (MV04)', () => {
    for (const settings of [Joi.string(), Joi.any(), Joi.array()]) {
      expect(check('plugin', { settings }), 'plugin').to.have.lengthOf(1);
      expect(check('strategy', { settings }), 'strategy').to.have.lengthOf(1);
    }
  });

  it('refuse settings that must be waited for, at any depth (MV04)', () => {
    const waits = Joi.string().external(() => undefined);
    const once = Joi.object({ inner: waits });
    const places: readonly Joi.ObjectSchema[] = [
      Joi.object({ a: waits }),
      Joi.object({ a: Joi.object({ b: Joi.array().items(Joi.number(), waits) }) }),
      Joi.object().pattern(/^x/, waits),
      Joi.object({ a: Joi.alternatives(Joi.number(), waits) }),
      Joi.object({ a: Joi.string(), b: Joi.when('a', { is: 'x', then: waits }) }),
      Joi.object({ a: once, b: once }),
      Joi.object({ a: Joi.link('#late') }).shared(waits.id('late')),
      Joi.object({}).external(() => undefined),
    ];
    for (const settings of places)
      expect(check('plugin', { settings }), JSON.stringify(settings.describe())).to.deep.equal([
        'MV04 settings has a rule with external(), which must be waited for',
      ]);
  });

  it('look at settings without having them described: that takes more time with every level', () => {
    let settings = Joi.object({ a: Joi.string() });
    for (let level = 0; level < 200; level += 1) settings = Joi.object({ a: settings, b: settings });
    settings.describe = () => {
      throw new Error('described');
    };
    expect(check('plugin', { settings })).to.deep.equal([]);
    expect(listedSettings({ ...VALID.plugin, settings } as PluginModule)).to.deep.equal(['a', 'b']);
    expect(settingsProblems(settings, { c: 1 }, 'config').problems).to.have.lengthOf(1);
  });

  it('refuse a wrong type in every other field of the contract (MV04)', () => {
    expectRefused('provider', {
      paramsFor: { paramsFor: {} },
      passthrough: { passthrough: 'yes' },
      batches: { batches: 1 },
      responses: { responses: 'no' },
      anyModel: { anyModel: 'x' },
      offline: { offline: 'yes' },
      discovery: { discovery: { path: '/models' } },
      imageFormats: { imageFormats: 'url' },
      forwardPath: { forwardPath: true },
      describedAs: { describedAs: 'vendor' },
      'chatTraits.history.marks': { chatTraits: { history: { marks: ['everywhere'] } } },
      'chatTraits.history.late_system': { chatTraits: { history: { late_system: 'yes' } } },
      'chatTraits.history.thoughts': { chatTraits: { history: { thoughts: 'any' } } },
      'chatTraits.fields': { chatTraits: { fields: ['seed'] } },
      chatTraitsFor: { chatTraitsFor: {} },
      'names.catalog': { names: { catalog: [] } },
      'names.telemetry': { names: { telemetry: '' } },
      'elsewhere.litellm.names': { elsewhere: { litellm: { names: ['Acme'] } } },
      'elsewhere.litellm.settings': { elsewhere: { litellm: { settings: [{ variable: 'X' }] } } },
      bannerPlace: { bannerPlace: 0 },
      'connection.chatModelEnv': { connection: { ...connection, chatModelEnv: true } },
      ...Object.fromEntries(
        ['sk-acme', 'a[a-z]{20,}', 'acme-.*', 'acme-[a-z]{3,}', 'acme-[a-z]{9,}[0-9]{9,}', 'acme-[z-a]{20}'].map(
          (shape) => [
            `connection.keyShapes ${shape}`,
            { connection: { ...connection, keyShapes: [{ shape, shownAs: 'ACME_KEY' }] } },
          ],
        ),
      ),
      clientHeaders: { clientHeaders: 'x-trial' },
      'clientHeaders upper': { clientHeaders: ['X-Trial'] },
      'clientHeaders kept': { clientHeaders: ['authorization'] },
      openStream: chat({ openStream: true }),
      'connection.models': { connection: { ...connection, models: ['m'] } },
      'connection.optionalEnv': { connection: { ...connection, optionalEnv: 'X' } },
      'connection.connectTimeoutMs': { connection: { ...connection, connectTimeoutMs: '10s' } },
      'connection.rootStyle': { connection: { ...connection, rootStyle: 'root' } },
      'connection.root': { connection: { ...connection, root: '/v1' } },
    });
    expectRefused('plugin', {
      checkStages: { checkStages: true },
      keepsModel: { keepsModel: 'yes' },
      rejectsAs: { rejectsAs: 'teapot' },
      toleratedSettings: { toleratedSettings: ['dsn'] },
      unlistedSettings: { unlistedSettings: 'headers' },
      refusesUnreadable: { refusesUnreadable: 'yes' },
    });
    expectRefused('strategy', { settingsFrom: { settingsFrom: 'conditions' } });
  });

  it('run each translator on the smallest request of its surface (MV06)', () => {
    const boom = (): never => {
      throw new Error('no');
    };
    expect(check('provider', chat({ toUpstream: boom }))).to.deep.equal([
      'MV06 its chat translator fails on a minimal request: no',
    ]);
    expect(check('provider', chat({ toUpstream: () => undefined }))).to.deep.equal([
      'MV06 its chat translator fails on a minimal request: it returns no path',
    ]);
    expect(
      check('provider', { translators: { ...translators, embeddings: { toUpstream: boom, fromUpstream: boom } } })[0],
    ).to.include('MV06 its embeddings translator');
    const viaResponses = { toUpstream: boom, fromUpstream: boom };
    expect(check('provider', chat({ toUpstream: () => ({ path: '/' }), viaResponses }))).to.deep.equal([
      'MV06 its chat translator fails on a minimal request: no',
    ]);
    const mutates = (request: { model: string }): object => {
      request.model = 'x';
      return { path: '/' };
    };
    expect(check('provider', chat({ toUpstream: mutates }))[0]).to.include('MV06');
  });

  it('give it a call such as it gets when it serves (MV06)', () => {
    const calls: CallInfo[] = [];
    expect(
      check(
        'provider',
        chat({
          toUpstream: (_request: object, call: CallInfo) => {
            calls.push(call);
            return { path: '/' };
          },
        }),
      ),
    ).to.deep.equal([]);
    const [call] = calls;
    expect(call).to.include({ model: 'm', stream: false, root: 'http://localhost' });
    expect(call?.exchangeId).to.match(/^[0-9a-f]{32}$/);
    expect(call?.signal.aborted).to.equal(false);
  });

  it('let a translator refuse the model of that request: it need not exist (MV06)', () => {
    const refuses = (): never => {
      throw new GatewayError('invalid_request', 'no such model');
    };
    expect(check('provider', chat({ toUpstream: refuses }))).to.deep.equal([]);
  });

  it('refuse a translator that must be waited for (MV06), also one that then fails', async () => {
    const failures: unknown[] = [];
    const listener = (error: unknown): void => {
      failures.push(error);
    };
    process.on('unhandledRejection', listener);
    try {
      expect(check('provider', chat({ toUpstream: async () => ({ path: '/' }) }))[0]).to.include('MV06');
      expect(
        check(
          'provider',
          chat({
            toUpstream: async () => {
              throw new Error('no');
            },
          }),
        )[0],
      ).to.include('MV06');
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    } finally {
      process.off('unhandledRejection', listener);
    }
    expect(failures, 'unhandled rejections').to.deep.equal([]);
  });
});
