import { expect } from 'chai';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { ask, eventually } from '../kit/index.ts';
import { type Fleet, PATH, startFleet, to } from './fleet.ts';

/** Asks with a key of these limits, and says what came of it: the calls, or the error's code. */
async function withKey(fleet: Fleet, limits: KeyLimits): Promise<(model: string, path?: string) => Promise<string>> {
  const { key } = await fleet.host.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
  return async (model, path = PATH) => {
    const before = fleet.calls.length;
    const answer = await fleet.host.post(path, ask('hi', { model }), { authorization: `Bearer ${key}` });
    return answer.status === 200 ? fleet.calls.slice(before).join(' ') : `${answer.status} ${answer.json().error.code}`;
  };
}

const NOT_FOUND = '404 model_not_found';

const fleetOf = (more: object = {}): Promise<Fleet> =>
  startFleet(
    ['a', 'b', 'c'],
    {
      aliases: { quick: 'smart', llama: 'oss/llama' },
      models: [
        { name: 'smart', ...to('a/x', 'b/x'), fallbacks: ['plain', 'm'] },
        { name: 'plain', ...to('b/y') },
        { name: 'oss/*', ...to('a/*') },
      ],
      ...more,
    },
    { more: { c: { models: ['m'] } } },
  );

describe('a key with a list of models', () => {
  it('asks for groups by their names and by aliases, and for names of a star group by the whole name', async () => {
    const fleet = await fleetOf();
    const byName = await withKey(fleet, { models: ['smart', 'oss/llama'] });
    expect(await byName('smart')).to.equal('a/x');
    expect(await byName('quick')).to.equal('a/x');
    expect(await byName('oss/llama')).to.equal('a/llama');
    expect(await byName('llama')).to.equal('a/llama');
    for (const model of ['plain', 'oss/other', 'm', 'x']) expect(await byName(model), model).to.equal(NOT_FOUND);
    const byAlias = await withKey(fleet, { models: ['quick'] });
    expect(await byAlias('quick')).to.equal('a/x');
    expect(await byAlias('smart')).to.equal('a/x');
    const byPattern = await withKey(fleet, { models: ['oss/*'] });
    expect(await byPattern('oss/llama'), 'patterns of groups are not patterns of keys').to.equal(NOT_FOUND);
  });

  it('reaches the fallbacks of what it asks for, whatever they are called', async () => {
    const fleet = await fleetOf();
    fleet.does.set('a', 503);
    fleet.does.set('b', 503);
    expect(await (await withKey(fleet, { models: ['smart'] }))('smart')).to.equal('a/x b/x b/y c/m');
  });
});

describe('a key with a list of providers', () => {
  it('reaches routes and fallbacks of these targets alone', async () => {
    const fleet = await fleetOf();
    const onlyB = await withKey(fleet, { providers: ['b'] });
    expect(await onlyB('smart')).to.equal('b/x');
    fleet.does.set('b/x', 503);
    expect(await onlyB('smart')).to.equal('b/x b/y');
    const onlyC = await withKey(fleet, { providers: ['c'] });
    expect(await onlyC('smart'), 'no route of the group, but a fallback').to.equal('c/m');
    expect(await onlyC('plain')).to.equal(NOT_FOUND);
    expect(await onlyC('oss/llama')).to.equal(NOT_FOUND);
  });

  it('names the target of a route, not its key', async () => {
    const fleet = await startFleet(['a', 'b'], { models: [{ name: 'smart', ...to('a/x', 'a/y', 'b/z') }] });
    fleet.does.set('a', 503);
    expect(await (await withKey(fleet, { providers: ['a'] }))('smart')).to.equal('502 upstream_error');
    expect(fleet.calls).to.deep.equal(['a/x', 'a/y']);
    expect(await (await withKey(fleet, { providers: ['a@x'] }))('smart')).to.equal(NOT_FOUND);
  });
});

describe('a name that nothing serves', () => {
  it('is refused before the plugins, for a group without a serving route and fallback too', async () => {
    const fleet = await startFleet(
      ['a'],
      {
        models: [
          { name: 'smart', ...to('a/x') },
          { name: 'empty', routes: [{ target: 'groq', model: 'y' }], fallbacks: ['nothing', 'void/x'] },
          { name: 'void/*', routes: [{ target: 'groq' }] },
          { name: 'saved', routes: [{ target: 'groq' }], fallbacks: ['smart'] },
        ],
        plugins: [
          {
            name: 'word-filter',
            stage: 'before_request',
            enabled: true,
            config: { blocked_words: ['hi'], observe: true },
          },
        ],
      },
      { targets: [{ virtual_key: 'groq' }] },
    );
    const refused = await fleet.ask('empty');
    expect([refused.status, refused.code]).to.deep.equal([404, 'model_not_found']);
    expect(refused.answer.json().error.message).to.equal('no configured provider serves the model "empty"');
    const verdicts = fleet.host.samples.filter(({ name }) => name === 'gateway_guardrail_verdicts_total');
    expect(verdicts, 'no plugin has seen it').to.deep.equal([]);
    const lines = fleet.host.lines.filter(({ msg }) => msg === 'no registered target serves the model');
    expect(lines.map(({ level, model, group }) => ({ level, model, group }))).to.deep.equal([
      { level: 'WARN', model: 'empty', group: 'empty' },
    ]);
    expect((await fleet.ask('void/1')).status).to.equal(404);
    expect((await fleet.ask('saved')).calls).to.deep.equal(['a/x']);
    expect((await fleet.ask('no-group')).status).to.equal(404);
    const [, ofStar, none] = fleet.host.lines.filter(({ msg }) => msg === 'no registered target serves the model');
    expect([ofStar?.['group'], none && 'group' in none]).to.deep.equal(['void/*', false]);
  });

  it('is refused so where targets own nothing and groups are the whole list', async () => {
    const fleet = await startFleet(['a'], { models: [{ name: 'smart', ...to('a/x') }] });
    expect((await fleet.ask('smart')).calls).to.deep.equal(['a/x']);
    expect(await fleet.ask('x')).to.include({ status: 404, code: 'model_not_found' });
    expect(await fleet.ask('gpt-4o')).to.include({ status: 404 });
    const listed = (await fleet.host.get('/v1/models')).json().data.map(({ id }: { id: string }) => id);
    expect(listed).to.deep.equal(['smart']);
  });
});

describe('a request in a group', () => {
  it('is counted by the group that it asked for, and by what served it', async () => {
    const fleet = await startFleet(['a', 'b'], {
      models: [
        { name: 'smart', ...to('a/x'), fallbacks: ['plain'] },
        { name: 'plain', ...to('b/y') },
        { name: 'oss/*', ...to('a/*'), strategy: { mode: 'single' } },
      ],
    });
    const counted = (): string[] =>
      fleet.host.samples
        .filter(({ name }) => name === 'gateway_group_requests_total')
        .map(({ labels: { group, result } }) => `${group} ${result}`);
    await fleet.ask('smart');
    await fleet.ask('oss/llama', { stream: true });
    fleet.does.set('a', 503);
    await fleet.ask('smart');
    await fleet.ask('oss/llama');
    await fleet.ask('no-such-model');
    await eventually(() => fleet.host.host.slot.leases === 0);
    expect(counted()).to.deep.equal(['smart ok', 'oss/* ok', 'smart fallback', 'oss/* failed']);
  });

  it('leaves no series of its group behind once nothing uses the group any more', async () => {
    const document = {
      models: [
        { name: 'smart', ...to('a/x') },
        { name: 'other', ...to('a/y') },
      ],
    };
    const fleet = await startFleet(['a'], document);
    await fleet.ask('smart');
    await fleet.ask('other');
    const series = async (): Promise<string[]> =>
      (await fleet.host.get('/metrics')).text
        .split('\n')
        .filter((line) => line.startsWith('gateway_group_requests_total{'));
    expect(await series()).to.have.lengthOf(2);
    await fleet.host.apply({ ...fleet.config, models: document.models.slice(1) });
    await eventually(async () => (await series()).length === 1);
    expect((await series())[0]).to.contain('group="other"');
    await fleet.host.apply({ ...fleet.config, models: undefined });
    await eventually(async () => (await series()).length === 0);
  });
});

describe('what a group names and nothing serves', () => {
  const found = (fleet: Fleet): readonly object[] =>
    fleet.host.lines
      .filter(({ rule }) => rule === 'WN21')
      .map(({ level, msg, group, targets, fallback }) => ({ level, msg, group, targets, fallback }));

  it('is warned of when it is applied: groups without a registered target, and fallbacks', async () => {
    const models = [
      { name: 'smart', ...to('a/x'), fallbacks: ['plain', 'gone', 'alias', 'to-nothing', 'm', 'oss/llama'] },
      { name: 'plain', ...to('groq/y', 'groq/z') },
      { name: 'oss/*', ...to('a') },
    ];
    const document = { aliases: { alias: 'm', 'to-nothing': 'void' }, models };
    const fleet = await startFleet(['a'], document, {
      targets: [{ virtual_key: 'groq' }],
      more: { a: { models: ['m'] } },
    });
    expect(found(fleet)).to.deep.equal([
      {
        level: 'WARN',
        msg: 'a fallback of a group of models is served by nothing',
        group: 'smart',
        targets: undefined,
        fallback: 'gone',
      },
      {
        level: 'WARN',
        msg: 'a fallback of a group of models is served by nothing',
        group: 'smart',
        targets: undefined,
        fallback: 'to-nothing',
      },
      {
        level: 'WARN',
        msg: 'no target of a group of models is registered',
        group: 'plain',
        targets: 'groq',
        fallback: undefined,
      },
    ]);
    expect(fleet.host.host.current?.warnings.map(({ path, rule }) => `${rule} ${path}`)).to.deep.equal([
      'WN21 models[0].fallbacks[1]',
      'WN21 models[0].fallbacks[3]',
      'WN21 models[1]',
    ]);
    await fleet.host.host.applier.refresh();
    expect(found(fleet), 'not again by a refresh').to.have.lengthOf(3);
  });
});
