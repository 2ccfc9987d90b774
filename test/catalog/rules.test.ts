import { expect } from 'chai';
import { readShippedRules } from '../../builtins/catalog/load.ts';
import { readRules } from '../../builtins/catalog/read-rules.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { globProblem, matchesGlob } from '../../host/common/models/model-glob.ts';
import { configuredAs, KnownFacts } from '../../host/generation/known-facts.ts';
import type { ModelFacts } from '../../host/contract/index.ts';
import { factsIn } from '../kit/facts.ts';
import { expectProportion, some } from '../kit/index.ts';

const shipped = await readShippedRules();
const providers = new Set(MODULES.filter(({ kind }) => kind === 'provider').map(({ name }) => name));

const ROW = {
  id: 'a',
  providers: ['acme'],
  models: ['m*'],
  set: { late_system: true },
  source: ['https://acme.example/docs'],
  checked: '2026-11-26',
};
const rulesOf = (...rows: object[]): ReturnType<typeof readRules> =>
  readRules({ format: 1, rules: rows.map((row) => ({ ...ROW, ...row })) });

describe('the shipped rules of models', () => {
  it('can all be used, and each has an id of its own, a page and a day', () => {
    expect([shipped.leftOut, shipped.unknown]).to.deep.equal([[], []]);
    expect(new Set(shipped.rules.map(({ id }) => id)).size).to.equal(shipped.rules.length);
    for (const { id, source } of shipped.rules)
      for (const page of source) expect(page, id).to.match(/^https:\/\/\S+$|^npm:\S+$/);
  });

  it('name providers that there are, or vendors whose models others host', () => {
    const vendors = new Set(['*', 'minimax', 'zhipu']);
    for (const { id, providers: named } of shipped.rules)
      for (const name of named) expect(providers.has(name) || vendors.has(name), `${id}: ${name}`).to.equal(true);
    for (const { providers: named } of shipped.names)
      for (const name of named) expect(providers.has(name), name).to.equal(true);
  });

  const THOUGHTS: readonly (readonly [provider: string, model: string, back: string | undefined, field?: string])[] = [
    ['openai', 'gpt-5.6-sol', 'sealed'],
    ['openai', 'gpt-4o', undefined],
    ['azure-openai', 'gpt-5.6', 'sealed'],
    ['together', 'openai/gpt-oss-120b', 'none'],
    ['azure-foundry', 'gpt-oss-120b', 'none'],
    ['xai', 'grok-4.6', 'sealed'],
    ['anthropic', 'claude-fable-5-1', 'signed'],
    ['gemini', 'models/gemini-3-pro', 'signed'],
    ...(
      ['deepseek', 'together', 'fireworks', 'deepinfra', 'novita', 'nvidia-nim', 'hugging-face', 'ollama'] as const
    ).flatMap((provider) => [
      [provider, 'deepseek-ai/DeepSeek-V4-Pro', 'every_turn', 'reasoning_content'] as const,
      [provider, 'moonshotai/Kimi-K2.6', 'tool_turns', 'reasoning_content'] as const,
      [provider, 'Qwen/Qwen3.6-35B-A3B', 'tool_turns', 'reasoning_content'] as const,
      [provider, 'MiniMaxAI/MiniMax-M2', 'details'] as const,
      [provider, 'zai-org/GLM-5', 'none', 'reasoning_content'] as const,
      [provider, 'acme/unheard-of', undefined] as const,
    ]),
    ['fireworks', 'accounts/fireworks/models/kimi-k2p6', 'tool_turns', 'reasoning_content'],
    ['deepseek', 'deepseek-chat', undefined],
    ['mistral', 'magistral-medium-2509', 'parts'],
    ['mistral', 'codestral-latest', undefined],
    ['mistral', 'deepseek-v4', undefined],
    ['together', 'mistralai/magistral-small', undefined],
    ['openrouter', 'deepseek/deepseek-v4', 'details', 'reasoning'],
    ['openrouter', 'anthropic/claude-opus-5', 'details', 'reasoning'],
    ['groq', 'openai/gpt-oss-120b', 'refused'],
    ['groq', 'moonshotai/kimi-k2.6', 'refused', 'reasoning_content'],
    ['cerebras', 'gpt-oss-120b', 'none', 'reasoning'],
    ['cerebras', 'qwen3.6-235b-thinking', 'none', 'reasoning'],
    ['perplexity', 'sonar', undefined],
  ];
  for (const [provider, model, back, field] of THOUGHTS)
    it(`say of thoughts to ${provider}/${model}: ${back} in ${field}`, () => {
      const facts = factsIn(shipped, provider, model);
      expect([facts.thoughts_back, facts.thoughts_field]).to.deep.equal([back, field]);
    });

  const LATE: readonly (readonly [provider: string, model: string, late: boolean | undefined])[] = [
    ['anthropic', 'claude-opus-5-5', true],
    ['anthropic', 'claude-sonnet-latest', true],
    ['anthropic', 'claude-opus-4-8', true],
    ['anthropic', 'claude-sonnet-5-20260901', true],
    ['anthropic', 'claude-opus-4-7', false],
    ['anthropic', 'claude-sonnet-4-6', false],
    ['anthropic', 'claude-haiku-4-5-20251001', false],
    ['anthropic', 'claude-opus-4-20250514', false],
    ['anthropic', 'claude-3-7-sonnet-20250219', false],
    ['anthropic', 'claude-3-5-haiku-20241022', false],
    ['bedrock', 'us.anthropic.claude-opus-4-8-v1', true],
    ['bedrock', 'arn:aws:bedrock:us-east-1:1:inference-profile/us-gov.anthropic.claude-sonnet-4-6-v1:0', false],
    ['vertex-ai', 'anthropic/claude-opus-4-7@20260401', false],
    ['vertex-ai', 'publishers/anthropic/models/claude-fable-5@20260801', true],
    ['azure-foundry', 'Claude-Opus-4-8', true],
    ['openrouter', 'anthropic/claude-opus-4-7', undefined],
    ['databricks', 'databricks-claude-opus-4-7', undefined],
    ['together', 'llama-4', undefined],
  ];
  for (const [provider, model, late] of LATE)
    it(`say of ${provider}/${model}: late_system ${late}`, () => {
      expect(factsIn(shipped, provider, model).late_system).to.equal(late);
    });
});

describe('rules of models', () => {
  it('are merged in their order, key by key, and null takes a fact away', () => {
    const rules = rulesOf(
      { set: { late_system: true, thoughts_back: 'none', thoughts_field: 'reasoning' } },
      { models: ['m-2'], set: { late_system: false, thoughts_back: null } },
      { models: ['m-*'], except: ['m-2'], set: { late_system: null } },
    );
    expect(factsIn(rules, 'acme', 'm-2')).to.deep.equal({ late_system: false, thoughts_field: 'reasoning' });
    expect(factsIn(rules, 'acme', 'm-3')).to.deep.equal({ thoughts_back: 'none', thoughts_field: 'reasoning' });
    expect(factsIn(rules, 'acme', 'n')).to.deep.equal({});
  });

  it('count at other hosts for thoughts alone, and the rules of the host win over them wherever they stand', () => {
    const rules = rulesOf(
      { providers: ['host'], models: ['*'], hosted: true, set: { thoughts_back: 'refused' } },
      { set: { late_system: true, thoughts_back: 'every_turn', thoughts_field: 'reasoning_content' } },
    );
    const elsewhere: ModelFacts = { thoughts_back: 'every_turn', thoughts_field: 'reasoning_content' };
    expect(factsIn(rules, 'other', 'owner/M-1')).to.deep.equal(elsewhere);
    expect(factsIn(rules, 'host', 'm-1')).to.deep.equal({ ...elsewhere, thoughts_back: 'refused' });
    expect(factsIn(rules, 'host', 'n')).to.deep.equal({ thoughts_back: 'refused' });
    expect(factsIn(rules, 'other', 'n')).to.deep.equal({});
    expect(factsIn(rulesOf({ providers: ['*'] }), 'other', 'm')).to.deep.equal({ late_system: true });
  });

  const BAD: Readonly<Record<string, object>> = {
    'id must be a name': { id: 7 },
    'providers must be': { providers: [] },
    'models must be': { models: 'm*' },
    'except must be': { except: [1] },
    'at most 4 stars': { models: ['*a*b*c*d*'] },
    'at most 128 characters': { models: ['m'.repeat(129)] },
    'hosted must be': { hosted: 1 },
    'source must be': { source: [] },
    'checked must be': { checked: 'yesterday' },
    'set must be an object': { set: [] },
    'set.late_system must be true or false': { set: { late_system: 'yes' } },
    'set.thoughts_back must be one of': { set: { thoughts_back: 'always' } },
  };
  for (const [why, row] of Object.entries(BAD))
    it(`are left out one by one: ${why}`, () => {
      const { rules, leftOut } = rulesOf(row, { id: 'good' });
      expect(rules.map(({ id }) => id)).to.deep.equal(['good']);
      expect(leftOut).to.have.lengthOf(1);
      expect(leftOut[0]).to.include(why);
    });

  it('keep what is known of a rule that states an unknown fact', () => {
    const read = rulesOf({ set: { late_system: true, moods: 'many', __proto__x: 1 } });
    expect(factsIn(read, 'acme', 'm')).to.deep.equal({ late_system: true });
    expect(read.unknown).to.have.lengthOf(2);
  });

  it('are refused as a whole where the file is another one', () => {
    for (const document of [{}, [], { format: 2, rules: [] }, { format: 1 }, 'x', undefined])
      expect(() => readRules(document)).to.throw();
  });

  it('read names as hosts write them', () => {
    const rules = {
      ...rulesOf({ providers: ['*'] }),
      names: [{ providers: ['pfire'], point: 'p', prefixes: ['eu.'] }],
    };
    const rule = { ...rules.rules[0]!, models: ['m2.5p'] };
    const isFound = (provider: string, model: string): boolean =>
      factsIn({ ...rules, rules: [rule] }, provider, model).late_system === true;
    expect(isFound('pfire', 'accounts/x/models/eu.eu.m2p5p')).to.equal(true);
    expect(isFound('other', 'm2p5p')).to.equal(false);
    expect(isFound('other', 'ft:M2.5P:org:name:id')).to.equal(true);
    expect(isFound('other', 'models/m2.5p@20260101')).to.equal(true);
  });
});

describe('names of models that clients made up', () => {
  const HOSTS = [...new Set(shipped.names.flatMap((host) => host.providers))];
  const PIECES = [
    ...new Set(shipped.names.flatMap(({ prefixes = [], point }) => [...prefixes, point ?? '', `1${point}`])),
  ];

  for (const [at, provider] of HOSTS.entries())
    for (const piece of some(
      PIECES.filter((text) => text !== ''),
      { every: 4, from: at % 4 },
    ))
      it(`of any length are read: ${provider}, ${piece}`, () =>
        expectProportion(20_000, (size) => {
          const name = piece.repeat(size);
          return () => factsIn(shipped, provider, name);
        }));

  it('are not kept where they are long', () => {
    let asked = 0;
    const facts = new KnownFacts({
      facts: () => {
        asked += 1;
        return {};
      },
    });
    const target = { config: { virtual_key: 'own' }, catalogProvider: 'acme' };
    for (const model of ['m'.repeat(257), 'm'.repeat(256)])
      for (let round = 0; round < 2; round += 1) facts.of(target, model);
    expect(asked).to.equal(3);
  });
});

describe('patterns of models', () => {
  it('match as the pattern of a regular expression that is tried in full', () => {
    const letters = ['', 'a', 'b', '*'];
    const globs = letters.flatMap((a) =>
      letters.flatMap((b) => letters.flatMap((c) => letters.map((d) => a + b + c + d))),
    );
    const names = letters
      .filter((letter) => letter !== '*')
      .flatMap((a) =>
        ['', 'a', 'b'].flatMap((b) => ['', 'a', 'B'].flatMap((c) => ['', 'A', 'b'].map((d) => a + b + c + d))),
      );
    for (const glob of new Set(globs))
      for (const name of new Set(names)) {
        const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`, 'i').test(name);
        expect(matchesGlob(glob, name), `${glob} ${name}`).to.equal(expected);
      }
  });

  it('are bounded', () => {
    expect(globProblem('*a*b*c*')).to.equal(undefined);
    for (const glob of ['', '*****', 'm'.repeat(129)]) expect(globProblem(glob)).to.be.a('string');
  });
});

describe('the facts that a configuration knows', () => {
  it('are merged once for a model, until it was not asked for while 2,000 others were', () => {
    const asked: string[] = [];
    const facts = new KnownFacts({
      facts: (provider, model) => {
        asked.push(`${provider}/${model}`);
        return {};
      },
    });
    const target = { config: { virtual_key: 'own' }, catalogProvider: 'acme' };
    for (let round = 0; round < 3; round += 1)
      for (const model of ['a', 'b']) expect(facts.of(target, model)).to.deep.equal({});
    expect(asked).to.deep.equal(['acme/a', 'acme/b']);
    for (let more = 0; more < 2_000; more += 1) {
      facts.of(target, `m-${more}`);
      facts.of(target, 'b');
    }
    expect(asked.filter((name) => name === 'acme/b')).to.have.lengthOf(1);
    facts.of(target, 'a');
    expect(asked.filter((name) => name === 'acme/a')).to.have.lengthOf(2);
  });

  it('are those of each target', () => {
    const facts = new KnownFacts({ facts: (provider) => ({ late_system: provider === 'acme' }) });
    const lateAt = (catalogProvider: string): boolean | undefined =>
      facts.of({ config: { virtual_key: catalogProvider }, catalogProvider }, 'm').late_system;
    expect([lateAt('acme'), lateAt('other'), lateAt('acme')]).to.deep.equal([true, false, true]);
  });

  it('are those of the rules, then of `as`, then of `set`, and a later entry wins', () => {
    const facts = new KnownFacts({
      facts: (provider, model) => (model === 'one' ? { thoughts_back: 'none', late_system: provider === 'acme' } : {}),
    });
    const config = {
      virtual_key: 'own',
      model_facts: [
        { models: ['mine-*'], as: 'other/one' },
        { models: ['MINE-2'], set: { thoughts_back: 'every_turn', late_system: null } },
      ],
    };
    const of = (model: string): ModelFacts => facts.of({ config, catalogProvider: 'acme' }, model);
    expect(of('one')).to.deep.equal({ thoughts_back: 'none', late_system: true });
    expect(of('mine-1')).to.deep.equal({ thoughts_back: 'none', late_system: false });
    expect(of('owner/mine-2@20260101')).to.deep.equal({ thoughts_back: 'every_turn' });
    expect([configuredAs(config, 'mine-2'), configuredAs(config, 'one')]).to.deep.equal(['other/one', undefined]);
  });
});
