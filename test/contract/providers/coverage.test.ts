import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ProviderModule, TranslatedSurface } from '../../../host/contract/index.ts';
import { FACTS } from './facts.ts';
import { EXCLUDED, goldenJson, moduleOf, PROVIDERS, serving } from './support.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const names = FACTS.map(({ name }) => name);
/** Names that operators write; providers that came later are held by test/providers/places.test.ts. */
const FROZEN =
  'ai21 cerebras cloudflare databricks deepinfra deepseek fireworks groq hugging-face mistral moonshot novita nvidia-nim ollama ollama-cloud openai openrouter perplexity qwen sambanova together xai'.split(
    ' ',
  );
/** Where the fixtures of each surface lie. */
const FOLDERS: Readonly<Record<TranslatedSurface, string>> = {
  chat: 'chat',
  embeddings: 'embeddings',
  images: 'images',
  rerank: 'rerank',
  moderations: 'moderations',
  'audio.transcriptions': 'transcriptions',
  'audio.translations': 'translations',
  'audio.speech': 'speech',
};

const surfacesOf = (module: ProviderModule): TranslatedSurface[] =>
  Object.keys(module.translators) as TranslatedSurface[];

describe('provider coverage', () => {
  it('has facts about every registered provider, or a reason why not', () => {
    const unknown = PROVIDERS.map(({ name }) => name).filter((name) => !names.includes(name) && !(name in EXCLUDED));
    expect(unknown).to.deep.equal([]);
  });

  it('finds every provider of this build registered, under its frozen name', () => {
    const registered = new Set(PROVIDERS.map(({ name }) => name));
    expect(names.filter((name) => !registered.has(name))).to.deep.equal([]);
    expect(names).to.include.members(FROZEN);
  });

  it('counts the surfaces: 15 embed, 5 make images, 3 rerank, 2 moderate, 7 hear, 6 translate, 5 speak', () => {
    const counts = Object.fromEntries(
      Object.keys(FOLDERS).map((surface) => [
        surface,
        serving(surface as TranslatedSurface).filter(({ name }) => FROZEN.includes(name)).length,
      ]),
    );
    expect(counts).to.deep.equal({
      chat: 22,
      embeddings: 15,
      images: 5,
      rerank: 3,
      moderations: 2,
      'audio.transcriptions': 7,
      'audio.translations': 6,
      'audio.speech': 5,
    });
  });

  for (const { name, surfaces, discovery } of FACTS) {
    it(`${name} serves the surfaces of the table, and no other`, () => {
      const module = moduleOf(name);
      expect(surfacesOf(module).toSorted()).to.deep.equal(Object.keys(surfaces).toSorted());
      expect(module.discovery !== undefined, 'discovery').to.equal(discovery !== undefined);
    });

    it(`${name} has a golden file for each of its surfaces`, () => {
      for (const surface of surfacesOf(moduleOf(name))) {
        const folder = `${FIXTURES}${name}/${FOLDERS[surface]}${name === 'openai' && surface === 'chat' ? '/conformance' : ''}`;
        expect(existsSync(folder) && readdirSync(folder).some((file) => file.startsWith('reply.')), folder).to.equal(
          true,
        );
      }
    });
  }
});

describe('provider connections', () => {
  it('wait for a connection as long as the table says: 15 s at databricks, 5 s at ollama, 10 s elsewhere', () => {
    const waits = Object.fromEntries(names.map((name) => [name, moduleOf(name).connection.connectTimeoutMs ?? 10_000]));
    expect(waits).to.deep.equal({
      ...Object.fromEntries(names.map((name) => [name, 10_000])),
      databricks: 15_000,
      ollama: 5000,
    });
  });
});

describe('golden files', () => {
  it('each name their source and the day it was read', () => {
    const sources = goldenJson('sources.json') as Readonly<
      Record<string, { readonly source: string; readonly read: string }>
    >;
    const folders = names.flatMap((name) =>
      readdirSync(`${FIXTURES}${name}`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => `${name}/${entry.name}`),
    );
    expect(
      folders.filter((folder) => !(folder in sources)),
      'folders without a source',
    ).to.deep.equal([]);
    expect(
      Object.keys(sources).filter((folder) => !existsSync(`${FIXTURES}${folder}`)),
      'sources without a folder',
    ).to.deep.equal([]);
    for (const [folder, { source, read }] of Object.entries(sources)) {
      expect(source, folder).to.be.a('string').and.have.length.greaterThan(10);
      expect(read, folder).to.match(/^\d{4}-\d{2}-\d{2}$/);
    }
  });
});
