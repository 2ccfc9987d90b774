import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { makeCatalog } from '../../builtins/catalog/build/make.ts';
import { type EntryMap, readEntries } from '../../builtins/catalog/entries.ts';
import { LineEntries } from '../../builtins/catalog/line-entries.ts';
import { loadCatalog, loadShipped } from '../../builtins/catalog/load.ts';
import { expectProportion, startHost } from '../kit/index.ts';
import { CHAINS } from './catalogs.ts';
import { WITHOUT_ROWS } from './providers-without-rows.ts';

const text = readFileSync(new URL('../../builtins/catalog/models.json', import.meta.url), 'utf8');
const entries: EntryMap = readEntries(JSON.parse(text)).entries;
const { catalog } = loadCatalog(text, undefined, { chains: CHAINS });

const REASONS = 'test/catalog/providers-without-rows.ts';
const registered = MODULES.filter((module) => module.kind === 'provider' && !module.offline).map(({ name }) => name);

describe('the shipped catalog', () => {
  it('is what the build script makes of its sources, byte for byte', () => {
    expect(makeCatalog()).to.equal(text);
  });

  it('has one sorted entry a line, each with a source and a date', () => {
    const lines = text.split('\n');
    expect(lines).to.have.lengthOf(entries.size + 3);
    expect([...entries.keys()]).to.deep.equal([...entries.keys()].toSorted());
    for (const [key, { source, updated_at }] of entries) {
      expect(source, key).to.match(/^https:\/\//);
      expect(updated_at, key).to.match(/^20\d\d-\d\d-\d\d$/);
    }
  });

  it('holds nothing that a gateway would leave out', () => {
    const { malformed, ignored } = readEntries(JSON.parse(text));
    expect([...malformed, ...ignored]).to.deep.equal([]);
  });

  it('is the same, entry by entry, when its lines are read one by one', async () => {
    const lines = LineEntries.of(text)!;
    const providers = new Set(Array.from(entries.values(), ({ provider }) => provider));
    expect(
      [...providers].flatMap((provider) => Array.from(lines.idsOf(provider), (id) => `${provider}/${id}`)),
    ).to.have.members([...entries.keys()]);
    expect(lines.size).to.equal(entries.size);
    for (const provider of ['', 'acme', 'open', '"openai', 'openai/gpt'])
      expect([...lines.idsOf(provider)], provider).to.deep.equal([]);
    for (const [key, entry] of entries) expect(lines.get(key), key).to.deep.equal(entry);
    for (const key of ['acme/none', 'openai/', '', '"', 'openai/gpt-4o"', 'openai/\n'])
      expect(lines.get(key), key).to.equal(undefined);
    expect((await loadShipped(undefined, CHAINS)).catalog.version).to.equal(catalog.version);
  });

  it('is read as a whole when it is written in another way', () => {
    const ways = [
      JSON.stringify(JSON.parse(text)),
      JSON.stringify(JSON.parse(text), null, 2),
      text.trimEnd(),
      text.replaceAll('\n', '\r\n'),
      '{\n}\n',
      '',
      text.replace('"ai21/', '"a\\u00691/'),
      text.replace(/,"updated_at":"[-\d]+"\}/, '}'),
      text.replace(/\},\n/, '},\n\n'),
      text.replace(/\},\n/, '},'),
      text.slice(0, text.length / 2),
    ];
    for (const [index, way] of ways.entries()) expect(LineEntries.of(way), `way ${index}`).to.equal(undefined);
  });

  it('does not know a model whose line was damaged', () => {
    const damaged = LineEntries.of(text.replace('"context_window":', '"context_window":x'))!;
    const [first, second] = [...entries.keys()];
    expect(damaged.get(first!)).to.equal(undefined);
    expect(damaged.get(second!)).to.deep.equal(entries.get(second!));
  });

  for (const provider of registered) {
    if (provider in WITHOUT_ROWS) continue;
    it(`has models of ${provider}, and finds each of them again`, () => {
      const models = catalog.modelsOf(provider);
      expect(models, `${provider}: no rows in builtins/catalog, and no reason in ${REASONS}`).to.not.be.empty;
      for (const model of models) expect(catalog.entry(provider, model)?.model_id, model).to.equal(model);
    });
  }

  it('knows a current chat model with a price and a context window of each large provider', () => {
    for (const provider of [
      'openai',
      'anthropic',
      'gemini',
      'bedrock',
      'mistral',
      'groq',
      'deepseek',
      'xai',
      'vertex-ai',
      'azure-foundry',
    ]) {
      const usable = catalog
        .modelsOf(provider)
        .map((model) => catalog.entry(provider, model)!)
        .filter(
          ({ mode, lifecycle, context_window, pricing }) =>
            mode === 'chat' && lifecycle.status === 'ga' && context_window > 0 && pricing.input_per_m_tokens !== null,
        );
      expect(usable, provider).to.not.be.empty;
    }
  });

  it('prices embeddings, images, transcription and speech', () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 };
    for (const model of ['text-embedding-3-small', 'gpt-image-2', 'whisper-1', 'tts-1']) {
      expect(catalog.cost('openai', model, { usage, images: 1, seconds: 60, characters: 100 }), model).to.include({
        priced: true,
      });
    }
    expect(catalog.cost('openai', 'whisper-1', { seconds: 60 })?.totalUsd).to.equal(0.006);
    expect(catalog.cost('openai', 'tts-1', { characters: 1000 })?.totalUsd).to.equal(0.015);
  });

  it('marks models that are shut down or will be', () => {
    expect(catalog.entry('openai', 'gpt-4o')?.lifecycle).to.deep.include({
      status: 'deprecated',
      successor: 'gpt-6-luna',
    });
    expect(catalog.entry('anthropic', 'claude-3-opus-20240229')?.lifecycle.status).to.equal('deprecated');
    expect(catalog.entry('anthropic', 'claude-haiku-4-5')?.lifecycle.status).to.equal('ga');
  });

  it('loads with work in proportion to its entries', async () => {
    const rows = Object.entries(JSON.parse(text) as object);
    await expectProportion(
      Math.floor(rows.length / 4),
      (count) => {
        const part = JSON.stringify(Object.fromEntries(rows.slice(0, count)));
        return () => loadCatalog(part, undefined);
      },
      Math.floor(rows.length / 2),
    );
  });
});

describe('a gateway', () => {
  it('has the catalog in force before it serves, and routes to its models', async () => {
    const { host } = await startHost(
      { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai' }] },
      { variables: { OPENAI_API_KEY: 'sk-none' } },
    );
    expect(host.services.catalog.version).to.equal(catalog.version);
    expect(host.current?.models.advertised('openai')).to.deep.equal(catalog.modelsOf('openai'));
    expect(host.current?.models.isKnown('gpt-4o')).to.equal(true);
  });
});
