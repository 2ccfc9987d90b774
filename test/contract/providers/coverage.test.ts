import { existsSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import type { ProviderModule, TranslatedSurface } from '../../../host/contract/index.ts';
import { ROOT } from '../../architecture/source.ts';
import { FACTS } from './facts.ts';
import { CHECKOUT, goldenFolder, hasGolden, isHeld } from '../../providers/places.ts';
import { goldenJson, moduleOf, serving } from './support.ts';

const FIXTURES = `${ROOT}test/fixtures/`;
const names = FACTS.map(({ name }) => name);
/** Names that operators write, with the surfaces that they use there; providers that came later are held by test/providers/places.test.ts. */
const SERVED: Readonly<Record<TranslatedSurface, string>> = {
  chat: 'ai21 cerebras cloudflare databricks deepinfra deepseek fireworks groq hugging-face mistral moonshot novita nvidia-nim ollama ollama-cloud openai openrouter perplexity qwen sambanova together xai',
  embeddings:
    'cloudflare databricks deepinfra fireworks hugging-face mistral novita nvidia-nim ollama ollama-cloud openai openrouter qwen sambanova together',
  images: 'deepinfra hugging-face openai together xai',
  'images.edits': 'openai',
  rerank: 'deepinfra nvidia-nim together',
  moderations: 'mistral openai',
  'audio.transcriptions': 'deepinfra fireworks groq mistral openai sambanova together',
  'audio.translations': 'deepinfra fireworks groq openai sambanova together',
  'audio.speech': 'deepinfra groq mistral openai together',
};
const FROZEN = SERVED.chat.split(' ');
/** Where the fixtures of each surface lie. */
const FOLDERS: Readonly<Record<TranslatedSurface, string>> = {
  chat: 'chat',
  embeddings: 'embeddings',
  images: 'images',
  'images.edits': 'edits',
  rerank: 'rerank',
  moderations: 'moderations',
  'audio.transcriptions': 'transcriptions',
  'audio.translations': 'translations',
  'audio.speech': 'speech',
};

const surfacesOf = (module: ProviderModule): TranslatedSurface[] =>
  Object.keys(module.translators) as TranslatedSurface[];

describe('provider coverage', () => {
  it('keeps every name that operators write', () => {
    expect(CHECKOUT.folders).to.include.members(FROZEN);
  });

  it('keeps every surface that operators use', () => {
    for (const [surface, providers] of Object.entries(SERVED))
      expect(
        serving(surface as TranslatedSurface).map(({ name }) => name),
        surface,
      ).to.include.members(providers.split(' ').filter((name) => names.includes(name)));
  });

  for (const { name, surfaces, discovery } of FACTS) {
    it(`${name} serves the surfaces of the table, and no other`, () => {
      const module = moduleOf(name);
      expect(surfacesOf(module).toSorted(), 'surfaces in test/contract/providers/facts.ts').to.deep.equal(
        Object.keys(surfaces).toSorted(),
      );
      expect(module.discovery !== undefined, 'discovery').to.equal(discovery !== undefined);
    });

    it(`${name} has a golden file for each of its surfaces`, () => {
      for (const surface of surfacesOf(moduleOf(name))) {
        const folder = surface === 'chat' ? goldenFolder(name) : `test/fixtures/${name}/${FOLDERS[surface]}`;
        expect(
          existsSync(`${ROOT}${folder}`) && readdirSync(`${ROOT}${folder}`).some((file) => file.startsWith('reply.')),
          folder,
        ).to.equal(true);
      }
    });
  }
});

describe('provider connections', () => {
  it('wait for a connection as long as the table says: 15 s at databricks, 5 s at ollama, 10 s elsewhere', () => {
    const waits = Object.fromEntries(names.map((name) => [name, moduleOf(name).connection.connectTimeoutMs ?? 10_000]));
    expect(waits).to.deep.equal({
      ...Object.fromEntries(names.map((name) => [name, 10_000])),
      ...(names.includes('databricks') && { databricks: 15_000 }),
      ...(names.includes('ollama') && { ollama: 5000 }),
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
        .map((entry) => `${name}/${entry.name}`)
        .filter((folder) => !folder.endsWith('/chat') || isHeld(name, 'test/fixtures/sources.json')),
    );
    expect(
      folders.filter((folder) => !(folder in sources)),
      'folders without a source',
    ).to.deep.equal([]);
    expect(
      Object.keys(sources).filter(
        (folder) => hasGolden(folder.split('/')[0] ?? '') && !existsSync(`${FIXTURES}${folder}`),
      ),
      'sources without a folder',
    ).to.deep.equal([]);
    for (const [folder, { source, read }] of Object.entries(sources)) {
      expect(source, folder).to.be.a('string').and.have.length.greaterThan(10);
      expect(read, folder).to.match(/^\d{4}-\d{2}-\d{2}$/);
    }
  });
});
