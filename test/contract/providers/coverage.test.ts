import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ProviderModule, TranslatedSurface } from '../../../host/contract/index.ts';
import { FACTS } from './facts.ts';
import { EXCLUDED, goldenJson, moduleOf, PROVIDERS, serving } from './support.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const names = FACTS.map(({ name }) => name);
const matrix = goldenJson('capability-matrix.json') as {
  readonly params: readonly string[];
  readonly providers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly surfaces: Readonly<Record<string, readonly string[]>>;
  readonly image_response_formats: Readonly<Record<string, readonly string[]>>;
  readonly native_wire: readonly string[];
  readonly not_proxiable: readonly string[];
  readonly any_model: readonly string[];
};

/** The surface words of the matrix, and where their fixtures lie. */
const SURFACES: Readonly<Record<TranslatedSurface, { readonly word: string; readonly folder: string }>> = {
  chat: { word: 'chat', folder: 'chat' },
  embeddings: { word: 'embeddings', folder: 'embeddings' },
  images: { word: 'images', folder: 'images' },
  rerank: { word: 'rerank', folder: 'rerank' },
  moderations: { word: 'moderations', folder: 'moderations' },
  'audio.transcriptions': { word: 'transcription', folder: 'transcriptions' },
  'audio.translations': { word: 'translation', folder: 'translations' },
  'audio.speech': { word: 'speech', folder: 'speech' },
};

const surfacesOf = (module: ProviderModule): TranslatedSurface[] => Object.keys(module.translators) as TranslatedSurface[];

describe('provider coverage', () => {
  it('has facts about every registered provider, or a reason why not', () => {
    const unknown = PROVIDERS.map(({ name }) => name).filter((name) => !names.includes(name) && !(name in EXCLUDED));
    expect(unknown).to.deep.equal([]);
  });

  it('finds every provider of this build registered, under its frozen name', () => {
    const registered = new Set(PROVIDERS.map(({ name }) => name));
    expect(names.filter((name) => !registered.has(name))).to.deep.equal([]);
    expect(names.join(' ')).to.equal(
      'ai21 cerebras cloudflare databricks deepinfra deepseek fireworks groq hugging-face mistral moonshot novita nvidia-nim ollama ollama-cloud openai openrouter perplexity qwen sambanova together xai',
    );
  });

  it('counts the surfaces: 15 embed, 5 make images, 3 rerank, 2 moderate, 7 hear, 6 translate, 5 speak', () => {
    const counts = Object.fromEntries(Object.keys(SURFACES).map((surface) => [surface, serving(surface as TranslatedSurface).length]));
    expect(counts).to.deep.equal({
      chat: 22, embeddings: 15, images: 5, rerank: 3, moderations: 2, 'audio.transcriptions': 7, 'audio.translations': 6, 'audio.speech': 5,
    });
  });

  for (const { name, surfaces, discovery } of FACTS) {
    it(`${name} serves the surfaces of the table, and no other`, () => {
      const module = moduleOf(name);
      expect(surfacesOf(module).toSorted()).to.deep.equal(Object.keys(surfaces).toSorted());
      const words = matrix.surfaces[name] ?? [];
      const told = surfacesOf(module).map((surface) => SURFACES[surface].word);
      if (module.translators.chat?.openStream) told.push('stream');
      if (module.discovery) told.push('discovery');
      if (module.batches) told.push('batch');
      if (module.responses) told.push('responses');
      if (module.passthrough) told.push('proxy');
      expect(told.toSorted()).to.deep.equal([...words].toSorted());
      expect(module.discovery !== undefined, 'discovery').to.equal(discovery !== undefined);
      expect({ anyModel: module.anyModel ?? false, native: module.wire === 'native', formats: module.imageFormats }).to.deep.equal({
        anyModel: matrix.any_model.includes(name), native: matrix.native_wire.includes(name), formats: matrix.image_response_formats[name],
      });
    });

    it(`${name} has a golden file for each of its surfaces`, () => {
      for (const surface of surfacesOf(moduleOf(name))) {
        const folder = `${FIXTURES}${name}/${SURFACES[surface].folder}${name === 'openai' && surface === 'chat' ? '/conformance' : ''}`;
        expect(existsSync(folder) && readdirSync(folder).some((file) => file.startsWith('reply.')), folder).to.equal(true);
      }
    });
  }
});

describe('provider connections', () => {
  it('wait for a connection as long as the table says: 15 s at databricks, 5 s at ollama, 10 s elsewhere', () => {
    const waits = Object.fromEntries(names.map((name) => [name, moduleOf(name).connection.connectTimeoutMs ?? 10_000]));
    expect(waits).to.deep.equal({ ...Object.fromEntries(names.map((name) => [name, 10_000])), databricks: 15_000, ollama: 5000 });
  });
});

describe('capability matrix', () => {
  it('names registered providers, and the 17 parameters of the chat request', () => {
    expect(Object.keys(matrix.providers)).to.deep.equal(names);
    expect(matrix.params).to.have.length(17);
    for (const [name, row] of Object.entries(matrix.providers)) expect(Object.keys(row), name).to.deep.equal(matrix.params);
  });

  it('leaves out of the parameters only model, messages and the controls of the stream', () => {
    const source = readFileSync(fileURLToPath(new URL('../../../host/contract/wire/chat.ts', import.meta.url)), 'utf8');
    const body = /interface ChatRequest \{(.*?)\n\}/s.exec(source)?.[1] ?? '';
    const fields = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field]) => field ?? '');
    expect(fields.filter((field) => !['model', 'messages', 'stream', 'stream_options'].includes(field)).toSorted()).to.deep.equal([...matrix.params].toSorted());
  });

  for (const name of names) {
    it(`is what ${name} declares`, () => {
      const { params } = moduleOf(name);
      expect(Object.keys(params).filter((param) => !matrix.params.includes(param)), 'parameters nobody lists').to.deep.equal([]);
      // A rename travels all the same, so it reads as forward (providers reference 3.1).
      const declared = matrix.params.map((param) => [param, typeof params[param] === 'object' ? 'forward' : (params[param] ?? 'forward')]);
      expect(Object.fromEntries(declared)).to.deep.equal(matrix.providers[name]);
    });
  }
});

describe('golden files', () => {
  it('each name their source and the day it was read', () => {
    const sources = goldenJson('sources.json') as Readonly<Record<string, { readonly source: string; readonly read: string }>>;
    const folders = names.flatMap((name) => readdirSync(`${FIXTURES}${name}`, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => `${name}/${entry.name}`));
    expect(folders.filter((folder) => !(folder in sources)), 'folders without a source').to.deep.equal([]);
    expect(Object.keys(sources).filter((folder) => !existsSync(`${FIXTURES}${folder}`)), 'sources without a folder').to.deep.equal([]);
    for (const [folder, { source, read }] of Object.entries(sources)) {
      expect(source, folder).to.be.a('string').and.have.length.greaterThan(10);
      expect(read, folder).to.match(/^\d{4}-\d{2}-\d{2}$/);
    }
  });
});
