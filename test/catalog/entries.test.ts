import { expect } from 'chai';
import { readEntries } from '../../builtins/catalog/entries.ts';

const read = (text: string): ReturnType<typeof readEntries> => readEntries(JSON.parse(text));
const entry = (fields: object) => readEntries({ 'acme/m': fields }).entries.get('acme/m')!;

describe('the entries of a catalog', () => {
  it('are complete, whatever was left out', () => {
    expect(entry({})).to.deep.equal({
      provider: 'acme',
      model_id: 'm',
      display_name: 'm',
      mode: 'chat',
      context_window: 0,
      max_output_tokens: 0,
      pricing: {
        input_per_m_tokens: null,
        output_per_m_tokens: null,
        cache_read_per_m_tokens: null,
        cache_write_per_m_tokens: null,
        reasoning_per_m_tokens: null,
        embedding_per_m_tokens: null,
        image_per_tile: null,
        audio_input_per_minute: null,
        audio_output_per_character: null,
      },
      capabilities: {},
      lifecycle: { status: 'ga', deprecation_date: null, sunset_date: null, successor: null },
      source: '',
      updated_at: '',
    });
  });

  it('keep what was written, modes and statuses this build does not know among it', () => {
    const written = {
      display_name: 'M',
      mode: 'video',
      context_window: 128_000,
      max_output_tokens: 4096,
      source: 'https://acme.example/pricing',
      updated_at: '2026-01-31',
      lifecycle: { status: 'experimental', deprecation_date: '2026-01-01', sunset_date: '2026-06-30', successor: 'm2' },
      capabilities: { vision: true, reasoning: false },
    };
    expect(entry(written)).to.deep.include(written);
  });

  it('take a model id with slashes', () => {
    expect(
      readEntries({ 'fireworks/accounts/f/models/x': {} }).entries.get('fireworks/accounts/f/models/x'),
    ).to.include({ provider: 'fireworks', model_id: 'accounts/f/models/x' });
  });

  it('are left out and reported when they cannot be read', () => {
    const { entries, malformed } = readEntries({
      'no-slash': {},
      '/m': {},
      'acme/': {},
      'acme/text': 'x',
      'acme/list': [],
      'acme/null': null,
      'acme/mode': { mode: 7 },
      'acme/other': { provider: 'evil' },
      'acme/another': { model_id: 'x' },
      'acme/odd': { provider: { toString: 1, valueOf: 1 } },
      'acme/7': { model_id: 7 },
      'acme/good': { provider: 'acme', model_id: 'good' },
    });
    expect([...entries.keys()]).to.deep.equal(['acme/good']);
    expect(malformed).to.have.lengthOf(11);
  });

  it('ignore values that cannot be read, and unknown fields', () => {
    const { entries, ignored } = readEntries({
      'acme/m': {
        context_window: -1,
        max_output_tokens: '4096',
        display_name: 7,
        updated_at: 'yesterday',
        source: '',
        price: 3,
        tier: 'flagship',
        capabilities: { vision: 'yes', telepathy: true },
        lifecycle: { status: 3, sunset_date: 'soon' },
        pricing: { finetune_train_per_m_tokens: 25 },
      },
    });
    expect(entries.get('acme/m')).to.deep.equal(entry({}));
    expect(ignored).to.have.lengthOf(10);
  });

  it('take a price that is negative, absurd or no number for unknown', () => {
    const pricing = {
      input_per_m_tokens: -1,
      output_per_m_tokens: 1e308,
      cache_read_per_m_tokens: '1',
      cache_write_per_m_tokens: true,
      reasoning_per_m_tokens: [],
      embedding_per_m_tokens: 0,
    };
    const { pricing: found } = entry({ pricing });
    expect(found).to.include({
      input_per_m_tokens: null,
      output_per_m_tokens: null,
      cache_read_per_m_tokens: null,
      cache_write_per_m_tokens: null,
      reasoning_per_m_tokens: null,
      embedding_per_m_tokens: 0,
    });
    expect(
      read('{"acme/m":{"pricing":{"input_per_m_tokens":1e999}}}').entries.get('acme/m')?.pricing.input_per_m_tokens,
    ).to.equal(null);
  });

  it('cannot reach a prototype', () => {
    const { entries } = read(
      '{"__proto__":{"mode":"x"},"acme/__proto__":{"mode":"chat"},"__proto__/m":{},"acme/m":{"__proto__":{"mode":"image"},"capabilities":{"__proto__":true},"pricing":{"__proto__":5}}}',
    );
    expect([...entries.keys()]).to.deep.equal(['acme/__proto__', '__proto__/m', 'acme/m']);
    expect(entries.get('acme/m')?.mode).to.equal('chat');
    expect(({} as Record<string, unknown>)['mode']).to.equal(undefined);
  });

  it('are refused as a whole when there is no object', () => {
    for (const document of [[], null, 'x', 3, undefined]) expect(() => readEntries(document)).to.throw('not an object');
  });

  it('laid over others change what they write and keep the rest', () => {
    const { entries: base } = readEntries({
      'acme/m': {
        display_name: 'M',
        context_window: 9,
        pricing: { input_per_m_tokens: 1, output_per_m_tokens: 2 },
        capabilities: { vision: true, reasoning: true },
      },
      'acme/n': {},
    });
    const { entries } = readEntries(
      {
        'acme/m': { pricing: { input_per_m_tokens: 5, output_per_m_tokens: null }, capabilities: { vision: false } },
        'acme/new': {},
      },
      base,
    );
    expect([...entries.keys()]).to.deep.equal(['acme/m', 'acme/n', 'acme/new']);
    expect(entries.get('acme/m')).to.deep.include({
      display_name: 'M',
      context_window: 9,
      capabilities: { vision: false, reasoning: true },
    });
    expect(entries.get('acme/m')?.pricing).to.include({ input_per_m_tokens: 5, output_per_m_tokens: null });
    expect(base.get('acme/m')?.pricing.input_per_m_tokens).to.equal(1);
  });
});
