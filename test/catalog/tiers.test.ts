import { expect } from 'chai';
import { tokenClasses } from '../../builtins/catalog/token-classes.ts';
import { readEntries } from '../../builtins/catalog/entries.ts';
import { loadCatalog } from '../../builtins/catalog/load.ts';
import { BILLED, type Billed, type Cost, type Usage, type UsageFacts } from '../../host/contract/index.ts';
import { cases } from '../kit/index.ts';
import { Dice } from '../kit/random.ts';
import { catalogOf } from './catalogs.ts';
import { plainCost } from './plain-cost.ts';

const BASE = { input_per_m_tokens: 2, output_per_m_tokens: 8, cache_read_per_m_tokens: 0.5 };
const NOON = Date.parse('2026-11-27T12:00:00Z');

function used(prompt: number, completion = 0, more: Partial<Usage> & { readonly facts?: UsageFacts } = {}): Billed {
  const { facts, ...others } = more;
  return {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...others,
      ...(facts && { [BILLED]: facts }),
    },
  };
}

function priced(pricing: object, billed: Billed, at = NOON): Cost {
  const cost = catalogOf({ 'acme/m': { pricing } }).cost('acme', 'm', billed, at);
  if (!cost) throw new Error('the model is not found');
  return cost;
}

const lineOf = (lines: readonly object[], billed: Billed, at = NOON): string | undefined =>
  priced({ ...BASE, lines }, billed, at).line;

describe('lines of a price', () => {
  const long = { when: { input_above: 200_000 }, set: { input_per_m_tokens: 4, output_per_m_tokens: 12 } };
  const flex = { when: { service_tier: 'flex' }, times: 0.5 };
  const priority = { when: { service_tier: 'priority' }, set: { input_per_m_tokens: 5, output_per_m_tokens: 16 } };

  for (const [prompt, written, line] of [
    [199_999, 0, 'standard'],
    [200_000, 0, 'standard'],
    [200_001, 0, 'above200000'],
    [199_999, 2, 'above200000'],
  ] as const)
    it(`of ${prompt} tokens of prompt and ${written} written beside it is ${line}`, () => {
      expect(lineOf([long], used(prompt, 1, { cache_write_tokens: written, cache_read_tokens: 150_000 }))).to.equal(
        line,
      );
    });

  it('price a whole request by one line, without a split at the threshold', () => {
    const { totalUsd } = priced({ ...BASE, lines: [long] }, used(300_000, 1000, { cache_read_tokens: 200_000 }));
    expect(totalUsd).to.equal((100_000 * 4 + 200_000 * 0.5 + 1000 * 12) / 1e6);
  });

  it('go by the tier of the answer; a tier that no line has costs the usual price', () => {
    const lines = [flex, priority];
    expect(priced({ ...BASE, lines }, used(1e6, 0, { facts: { tier: 'flex' } }))).to.include({
      line: 'flex',
      totalUsd: 1,
    });
    expect(priced({ ...BASE, lines }, used(1e6, 0, { facts: { tier: 'priority' } })).totalUsd).to.equal(5);
    expect(priced({ ...BASE, lines }, used(1e6, 0, { facts: { tier: 'scale' } }))).to.include({
      line: 'standard',
      totalUsd: 2,
    });
  });

  it('of a combination that no row names are the product, price by price', () => {
    const cost = priced({ ...BASE, lines: [long, flex, priority] }, used(1e6, 1e6, { facts: { tier: 'priority' } }));
    expect(cost).to.include({ line: 'above200000+priority', inputUsd: (4 * 5) / 2, outputUsd: (12 * 16) / 8 });
  });

  it('of a combination that a row names are that row, and the product in what it leaves open', () => {
    const both = { when: { service_tier: 'flex', input_above: 200_000 }, set: { input_per_m_tokens: 3 } };
    const cost = priced({ ...BASE, lines: [long, flex, both] }, used(1e6, 1e6, { facts: { tier: 'flex' } }));
    expect(cost).to.include({ line: 'above200000+flex', inputUsd: 3, outputUsd: 6 });
  });

  it('of speed and region multiply what came out', () => {
    const lines = [
      long,
      { when: { speed: 'fast' }, times: 6 },
      { when: { region: 'us' }, times: 1.1 },
      { when: { service_tier: 'flex' }, times: 0.5 },
    ];
    expect(priced({ ...BASE, lines }, used(1000, 0, { facts: { speed: 'fast' } }))).to.include({
      line: 'standard*fast',
      totalUsd: 0.012,
    });
    const all = priced({ ...BASE, lines }, used(1e6, 0, { facts: { speed: 'fast', region: 'us', tier: 'flex' } }));
    expect(all).to.include({ line: 'above200000+flex*fast*us', totalUsd: 13.2 });
  });

  it('of a day begin with it and end before another, UTC', () => {
    const lines = [
      { when: { from: '2027-01-01' }, set: { input_per_m_tokens: 3 } },
      { when: { from: '2027-06-01', until: '2027-07-01' }, set: { input_per_m_tokens: 1 } },
    ];
    for (const [moment, line] of [
      ['2026-12-31T23:59:59.999Z', 'standard'],
      ['2027-01-01T00:00:00Z', 'from2027-01-01'],
      ['2027-06-01T00:00:00Z', 'from2027-06-01'],
      ['2027-06-30T23:59:59Z', 'from2027-06-01'],
      ['2027-07-01T00:00:00Z', 'from2027-01-01'],
    ] as const)
      expect(lineOf(lines, used(1), Date.parse(moment)), moment).to.equal(line);
  });

  it('of hours may go over midnight; the end does not count, and equal ends never hold', () => {
    const at = (time: string): number => Date.parse(`2026-11-27T${time}Z`);
    const night = [{ when: { utc: ['16:30', '00:30'] }, times: 0.5 }];
    for (const [time, line] of [
      ['16:29:59', 'standard'],
      ['16:30:00', 'utc1630'],
      ['23:59:59', 'utc1630'],
      ['00:29:59', 'utc1630'],
      ['00:30:00', 'standard'],
    ] as const)
      expect(lineOf(night, used(1), at(time)), time).to.equal(line);
    expect(lineOf([{ when: { utc: ['01:00', '01:00'] }, times: 2 }], used(1), at('01:00:00'))).to.equal('standard');
    expect(lineOf([{ when: { utc: ['00:00', '24:00'] }, times: 2 }], used(1), at('23:59:59'))).to.equal('utc0000');
  });

  it('of a day and of an hour do not count where the moment of arrival is not known', () => {
    const catalog = catalogOf({
      'acme/m': { pricing: { ...BASE, lines: [{ when: { from: '2020-01-01' }, times: 2 }] } },
    });
    expect(catalog.cost('acme', 'm', used(1))?.line).to.equal('standard');
  });

  it('before a call are those that it asks for; of an unknown tier the dearest price of each class', () => {
    const { tokenPrice } = catalogOf({ 'acme/m': { pricing: { ...BASE, lines: [long, flex, priority] } } });
    const inputFor = (input: number, tier?: string): number | undefined =>
      tokenPrice('acme', 'm', { input, tier })?.input;
    expect(tokenPrice('acme', 'm')?.input).to.equal(2);
    expect(inputFor(1)).to.equal(2);
    expect(inputFor(1, 'default')).to.equal(2);
    expect(inputFor(1, 'flex')).to.equal(1);
    expect(inputFor(1, 'auto')).to.equal(5);
    expect(inputFor(200_001, 'auto')).to.equal(10);
  });
});

describe('reading lines', () => {
  const read = (lines: unknown, key = 'acme/m'): ReturnType<typeof readEntries> =>
    readEntries({ [key]: { pricing: { ...BASE, lines } } });

  for (const [name, line, field] of [
    ['a condition that is not known', { when: { moon: 'full' }, times: 2 }, 'lines[0].when.moon'],
    ['no condition', { when: {}, times: 2 }, 'lines[0].when'],
    ['a threshold with a fraction', { when: { input_above: 1.5 }, times: 2 }, 'lines[0].when.input_above'],
    ['a day that is none', { when: { from: '2026-13-01' }, times: 2 }, 'lines[0].when.from'],
    ['an hour that is none', { when: { utc: ['25:00', '01:00'] }, times: 2 }, 'lines[0].when.utc'],
    ['prices and a factor', { when: { region: 'us' }, times: 2, set: { input_per_m_tokens: 1 } }, 'lines[0]'],
    ['neither', { when: { region: 'us' } }, 'lines[0]'],
    ['a factor that is not positive', { when: { region: 'us' }, times: 0 }, 'lines[0]'],
    ['text in its place', 'cheap', 'lines[0]'],
  ] as const)
    it(`leaves out one with ${name}, and says so`, () => {
      const { entries, ignored } = read([line]);
      expect(entries.get('acme/m')?.pricing).to.not.have.property('lines');
      expect(ignored).to.include(`acme/m: pricing.${field}`);
    });

  it('leaves out a price of a line that is none', () => {
    const { entries, ignored } = read([
      { when: { region: 'us' }, set: { input_per_m_tokens: -1, output_per_m_tokens: 9 } },
    ]);
    expect(entries.get('acme/m')?.pricing.lines).to.deep.equal([
      { when: { region: 'us' }, set: { output_per_m_tokens: 9 } },
    ]);
    expect(ignored).to.deep.equal(['acme/m: pricing.lines[0].set.input_per_m_tokens']);
  });

  it('keeps the later of two with one condition, and notes it', () => {
    const twice = [1, 3].map((times) => ({ when: { service_tier: 'flex', input_above: 10 }, times }));
    const { entries, doubled } = read(twice);
    expect(entries.get('acme/m')?.pricing.lines).to.deep.equal([twice[1]]);
    expect(doubled).to.deep.equal(['acme/m: pricing.lines[1]']);
  });

  it('replaces the list as a whole with that of an overlay; `null` takes it away, and no word of it leaves it', () => {
    const lines = [{ when: { service_tier: 'flex' }, times: 0.5 }];
    const under = (pricing: object): string | undefined => {
      const document = JSON.stringify({ 'acme/m': { pricing: { ...BASE, lines } } });
      const { catalog } = loadCatalog(document, { 'acme/m': { pricing } });
      return catalog.cost('acme', 'm', used(1, 0, { facts: { tier: 'flex', region: 'us' } }))?.line;
    };
    expect(under({ input_per_m_tokens: 1 })).to.equal('flex');
    expect(under({ lines: null })).to.equal('standard');
    expect(under({ lines: [{ when: { region: 'us' }, times: 2 }] })).to.equal('standard*us');
  });
});

describe('classes of tokens', () => {
  const KINDS = {
    ...BASE,
    cache_write_per_m_tokens: 2.5,
    reasoning_per_m_tokens: 9,
    cache_write_long_per_m_tokens: 4,
    audio_input_per_m_tokens: 10,
    audio_cache_read_per_m_tokens: 1,
    audio_output_per_m_tokens: 20,
    image_input_per_m_tokens: 5,
    image_output_per_m_tokens: 30,
    video_input_per_m_tokens: 6,
  };

  it('price sound by itself, in the prompt, in the answer and in the cache', () => {
    const cost = priced(
      KINDS,
      used(1000, 500, {
        cache_read_tokens: 300,
        facts: { audioInput: 600, audioCached: 200, audioOutput: 400 },
      }),
    );
    expect(cost.inputUsd).to.equal((400 * 10 + 300 * 2) / 1e6);
    expect(cost.cacheReadUsd).to.equal((200 * 1 + 100 * 0.5) / 1e6);
    expect(cost.outputUsd).to.equal((400 * 20 + 100 * 8) / 1e6);
  });

  it('read kinds from the details of the common wire', () => {
    const cost = priced(
      KINDS,
      used(1000, 500, {
        prompt_tokens_details: { audio_tokens: 1000 },
        completion_tokens_details: { audio_tokens: 500 },
      }),
    );
    expect(cost.totalUsd).to.equal((1000 * 10 + 500 * 20) / 1e6);
  });

  it('price what is cached of a kind without a price for that as input of its kind', () => {
    const { audio_cache_read_per_m_tokens: _price, ...others } = KINDS;
    const cost = priced(others, used(100, 0, { cache_read_tokens: 100, facts: { audioInput: 100, audioCached: 100 } }));
    expect(cost.totalUsd).to.equal((100 * 10) / 1e6);
  });

  it('price what is written for longer at its price; on Claude models without one at twice the input', () => {
    const written = used(0, 0, { cache_write_tokens: 10_000, facts: { writtenLong: 4000 } });
    expect(priced(KINDS, written).totalUsd).to.equal((4000 * 4 + 6000 * 2.5) / 1e6);
    const pricing = { ...BASE, cache_write_per_m_tokens: 2.5 };
    const long = (id: string): number | undefined =>
      catalogOf({ [id]: { pricing } }).cost('acme', id.slice(5), written)?.totalUsd;
    expect(long('acme/m')).to.equal((10_000 * 2.5) / 1e6);
    expect(long('acme/claude-x')).to.equal((4000 * 4 + 6000 * 2.5) / 1e6);
  });

  it('are together the prompt, what was written beside it and the completion; a longer one of them never costs less', () => {
    for (let seed = 0; seed < cases(2000); seed += 1) {
      const dice = new Dice(seed);
      const amount = (): number => dice.pick([0, 1, dice.below(50), dice.below(100_000)]);
      const [prompt, completion] = [amount(), amount()];
      const facts = Object.fromEntries(
        [
          'audioInput',
          'audioCached',
          'imageInput',
          'imageCached',
          'videoInput',
          'audioOutput',
          'imageOutput',
          'videoOutput',
          'citation',
          'writtenLong',
        ].map((name) => [name, dice.below(2) === 0 ? amount() : undefined]),
      );
      const usage: Usage = {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        cache_read_tokens: dice.below(prompt + 1),
        reasoning_tokens: dice.below(completion + 1),
        ...(dice.below(2) === 0
          ? { cache_write_tokens: amount() }
          : { prompt_tokens_details: { cache_write_tokens: amount() } }),
        [BILLED]: facts,
      };
      const pricing = Object.fromEntries(Object.entries(KINDS).filter(([name]) => name in BASE || dice.below(2) === 0));
      const { entries } = readEntries({ 'acme/m': { pricing } });
      const prices = entries.get('acme/m')?.pricing;
      if (!prices) throw new Error('not read');
      const classes = tokenClasses(prices, usage, 'm');
      const paid = (of: Usage): number =>
        catalogOf({ 'acme/m': { pricing } }).cost('acme', 'm', { usage: of })?.totalUsd ?? -1;
      const before = paid(usage);
      expect(paid({ ...usage, prompt_tokens: prompt + 1 }), `seed ${seed}`).to.be.at.least(before);
      expect(paid({ ...usage, completion_tokens: completion + 1 }), `seed ${seed}`).to.be.at.least(before);
      const sum = classes.reduce((all, { tokens }) => all + tokens, 0);
      expect(sum, `seed ${seed}`).to.equal(prompt + completion + (usage.cache_write_tokens ?? 0));
      for (const { tokens } of classes) expect(tokens, `seed ${seed}`).to.be.at.least(0);
    }
  });
});

describe('prices without tiers', () => {
  const NAMES = ['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'embedding'].map(
    (name) => `${name}_per_m_tokens`,
  );
  const OTHERS = ['image_per_tile', 'audio_input_per_minute', 'audio_output_per_character'];

  it('give the cost that they gave before there were any', () => {
    for (let seed = 0; seed < cases(5000); seed += 1) {
      const dice = new Dice(seed);
      const amount = (): number => dice.pick([0, 1, dice.below(1000), dice.below(2_000_000)]);
      const maybe = (): number | undefined => (dice.below(3) === 0 ? undefined : amount());
      const pricing = Object.fromEntries(
        [...NAMES, ...OTHERS].flatMap((name) =>
          dice.below(3) === 0 ? [] : [[name, dice.pick([0, 0.05, 1.25, 3, 75])]],
        ),
      );
      const usage = {
        prompt_tokens: amount(),
        completion_tokens: amount(),
        total_tokens: amount(),
        ...(dice.below(2) === 0 && { cache_read_tokens: amount() }),
        ...(dice.below(2) === 0 && { cache_write_tokens: amount() }),
        ...(dice.below(2) === 0 && { reasoning_tokens: amount() }),
        ...(dice.below(2) === 0 && { prompt_tokens_details: { cache_write_tokens: amount(), audio_tokens: amount() } }),
        ...(dice.below(4) === 0 && {
          [BILLED]: { tier: 'priority', region: 'us', speed: 'fast', audioInput: amount() },
        }),
      };
      const billed: Billed = {
        usage: dice.below(8) === 0 ? undefined : usage,
        images: maybe(),
        seconds: maybe(),
        characters: maybe(),
      };
      const mode = dice.pick(['chat', 'chat', 'chat', 'embedding', 'image', 'audio_in', 'audio_out', 'other']);
      const { entries } = readEntries({ 'acme/m': { mode, pricing } });
      const entry = entries.get('acme/m');
      if (!entry) throw new Error('not read');
      const cost = catalogOf({ 'acme/m': { mode, pricing } }).cost('acme', 'm', billed, NOON);
      const before = plainCost(entry, billed);
      expect(cost?.priced, `seed ${seed}`).to.equal(before !== undefined);
      expect(cost?.totalUsd, `seed ${seed}`).to.equal(before ?? 0);
      expect(cost?.line).to.equal('standard');
    }
  });
});
