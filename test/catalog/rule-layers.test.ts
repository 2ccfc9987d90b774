import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FactSource } from '../../host/common/fact-sources.ts';
import {
  fakeClock,
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { arrival, logged } from './catalogs.ts';

const MODEL = 'gpt-4o-mini';
const target = (more: object = {}): object => ({ virtual_key: 'openai', models: [MODEL], ...more });
const KEYS = { OPENAI_API_KEY: 'sk-test-0123456789' };
const file = (...rules: readonly object[]): object => ({ format: 1, rules });
const rule = (set: object, more: object = {}): object => ({
  id: 'own',
  providers: ['openai'],
  models: ['gpt-4o*'],
  set,
  ...more,
});

/** A gateway with these rules of its own and those of an address; texts are written as they are. */
async function hostWith(own: object | string | undefined, url?: string, more: object = {}): Promise<TestHost> {
  const path = join(await temporaryFolder(), 'rules.yaml');
  if (own !== undefined) await writeFile(path, typeof own === 'string' ? own : JSON.stringify(own));
  const variables = {
    ...KEYS,
    ...(own !== undefined && { GW_MODEL_RULES_OVERLAY: ` ${path} ` }),
    ...(url !== undefined && { GW_MODEL_RULES_URL: url }),
  };
  return startHost({ targets: [target(more)] }, { variables, clock: fakeClock() });
}

const answering =
  (body: unknown): StubHandler =>
  (_request, response) =>
    replyJson(response, 200, body);
const ofTarget = ({ host }: TestHost): Record<string, FactSource> =>
  host.current?.targetList[0]?.factSourcesOf(MODEL) ?? {};
const effortsOf = ({ host }: TestHost): unknown => host.current?.targetList[0]?.factsOf(MODEL).efforts;
const warnings = ({ lines }: TestHost): string[] =>
  lines.filter(({ rule: id }) => id === 'WN60').map(({ msg }) => String(msg));

describe('rules of models of an operator', () => {
  it('win over the shipped ones, key by key, and take facts away', async () => {
    const t = await hostWith(file(rule({ efforts: ['low'], sampling: null })));
    expect(effortsOf(t)).to.deep.equal(['low']);
    expect(t.host.services.catalog.facts('openai', MODEL)).to.include({ chat_tools: 'any' });
    expect(ofTarget(t)['sampling']).to.equal(undefined);
    expect(ofTarget(t)['efforts']).to.deep.equal({ value: ['low'], rule: 'own', source: [], checked: '' });
    expect(warnings(t)).to.deep.equal([]);
  });

  it('may be YAML, and hold patterns and facts alone: then they are of every provider', async () => {
    const t = await hostWith('format: 1\nrules:\n  - models: ["*"]\n    set: { efforts: null, thoughts_back: none }\n');
    expect([effortsOf(t), ofTarget(t)['thoughts_back']?.rule]).to.deep.equal([undefined, 'rules[0]']);
    expect(t.host.services.catalog.facts('together', 'acme')).to.deep.equal({ thoughts_back: 'none' });
  });

  it('are left out one by one where they are bad, with at most 20 lines and a count', async () => {
    const bad = Array.from({ length: 22 }, (_none, at) => rule({ efforts: 'low' }, { id: `bad-${at}` }));
    const t = await hostWith(file(...bad, rule({ moods: true, summaries: true }, { id: 'new' })));
    expect(ofTarget(t)['summaries']?.rule).to.equal('new');
    expect(warnings(t)).to.have.lengthOf(21);
    expect(warnings(t)[0]).to.match(/^model rule "bad-0" is left out: set\.efforts must be a list of none, minimal/);
    expect(warnings(t).at(-1)).to.equal('3 more lines about model rules are left out');
  });

  it('are warned of for facts that this gateway does not know', async () => {
    const t = await hostWith(file(rule({ moods: 'many' })));
    expect(warnings(t)).to.deep.equal(['model rule "own": moods is not known here']);
  });

  it('change nothing where the file cannot be read, which is one error line', async () => {
    for (const text of ['{', '{"format": 2}', '[]']) {
      const t = await hostWith(text);
      expect(effortsOf(t)).to.deep.equal([]);
      expect(t.lines.filter(({ msg }) => msg === 'the overlay of model rules is not used')).to.have.lengthOf(1);
    }
  });
});

describe('rules of models of an address', () => {
  it('come after the start, win over the shipped ones and yield to the operator: the configuration is rebuilt', async () => {
    const remote = await stubUpstream(answering(file(rule({ efforts: ['high'], summaries: true }, { id: 'remote' }))));
    const t = await hostWith(file(rule({ efforts: ['low'] })), remote.url);
    await logged(t, 'model rules loaded', 2);
    await t.host.applier.refresh();
    expect([effortsOf(t), ofTarget(t)['summaries']?.rule]).to.deep.equal([['low'], 'remote']);
  });

  it('are asked for once a day, and rebuild nothing while they are the same', async () => {
    const efforts = [['high'], ['high'], ['low']];
    const remote = await stubUpstream((request, response) =>
      answering(file(rule({ efforts: efforts[remote.seen.length - 1] })))(request, response),
    );
    const clock = fakeClock();
    const variables = { ...KEYS, GW_MODEL_RULES_URL: remote.url };
    const t = await startHost({ targets: [target()] }, { variables, clock });
    await logged(t, 'model rules loaded');
    for (const count of [2, 3]) {
      clock.advance(24 * 60 * 60 * 1000 - 1);
      expect(remote.seen).to.have.lengthOf(count - 1);
      clock.advance(1);
      await arrival(remote.seen, () => true, count);
    }
    await logged(t, 'model rules loaded', 2);
    await t.host.applier.refresh();
    expect([t.host.current?.number, effortsOf(t)], 'start, two files, and this one').to.deep.equal([4, ['low']]);
  });

  const DEAD: readonly (readonly [what: string, handler: StubHandler, says: RegExp])[] = [
    ['answers 500', (_request, response) => void response.writeHead(500).end(), /it answers 500/],
    ['sends no JSON', (_request, response) => void response.end('<html>'), /JSON|Unexpected/],
    ['sends another file', answering({ format: 1 }), /not a file of model rules/],
    [
      'sends more than 1 MiB',
      (_request, response) => void response.end('x'.repeat(2 ** 20 + 1)),
      /larger than 1048576/,
    ],
  ];
  for (const [what, handler, says] of DEAD)
    it(`change nothing where it ${what}`, async () => {
      const remote = await stubUpstream(handler);
      const t = await hostWith(undefined, remote.url);
      const { error } = await logged(t, 'the remote model rules are not used; the current ones stay');
      expect(String(error)).to.match(says);
      expect([effortsOf(t), t.host.current?.number]).to.deep.equal([[], 1]);
    });

  it('are not asked for at an address that is none, or without a time to wait', async () => {
    const odd = await hostWith(undefined, 'ftp://u:secret@rules.example/x');
    const line = odd.lines.find(({ rule: id }) => id === 'WN16');
    expect(line?.['msg']).to.match(
      /^GW_MODEL_RULES_URL is .*: write http or https and a host; the shipped rules are used$/,
    );
    expect(JSON.stringify(odd.lines)).not.to.include('secret');
  });
});

describe('what is known of a model', () => {
  it('is what the rules say, then the target, then a refusal of the provider', async () => {
    const t = await hostWith(file(rule({ efforts: ['low'], summaries: true })), undefined, {
      model_facts: [
        { models: ['gpt-4o*'], as: 'openai/gpt-5.6' },
        { models: [MODEL], set: { efforts: ['high'], phases: null } },
      ],
    });
    const own = t.host.current?.targetList[0];
    const sources = ofTarget(t);
    expect(sources['efforts']).to.deep.equal({
      value: ['high'],
      rule: 'targets[].model_facts',
      source: [],
      checked: '',
    });
    expect([sources['chat_tools']?.rule, sources['phases']]).to.deep.equal(['openai-family', undefined]);
    own?.learn({ late_system: false, efforts: ['medium'] }, { model: MODEL });
    expect(ofTarget(t)['efforts']?.rule).to.equal('a refusal of the provider');
    expect(Object.fromEntries(Object.entries(ofTarget(t)).map(([key, { value }]) => [key, value]))).to.deep.equal(
      own?.factsOf(MODEL),
    );
  });
});
