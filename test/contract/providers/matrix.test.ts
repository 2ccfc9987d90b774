import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ParamTreatments, ProviderModule, TranslatedSurface } from '../../../host/contract/index.ts';
import { startHost, valueOf } from '../../kit/index.ts';
import { isHeld } from '../../providers/places.ts';
import { goldenJson, moduleOf, PROVIDERS } from './support.ts';

type Row = Readonly<Record<string, string>>;
type Lists = Readonly<Record<string, readonly string[]>>;

/** The whole matrix as it is published in `GET /v1/capabilities`. See docs/reference/providers.md#unsupported-parameters. */
const matrix = goldenJson('capability-matrix.json') as {
  readonly params: readonly string[];
  readonly providers: Readonly<Record<string, Row>>;
  readonly model_scoped_support: Readonly<Record<'bedrock' | 'ai21', { readonly families: Lists }>>;
  readonly image_response_formats: Lists;
  readonly surfaces: Lists;
  readonly native_wire: readonly string[];
  readonly not_proxiable: readonly string[];
  readonly any_model: readonly string[];
};

const FILE = 'test/fixtures/capability-matrix.json';
const isInMatrix = (name: string): boolean => isHeld(name, FILE) && name !== 'openai-compatible'; // beside the thirty
/** Every provider that has a vendor behind it; test/providers/places.test.ts names one that the matrix lacks. */
const MODULES = PROVIDERS.filter(({ name }) => name !== 'echo' && isInMatrix(name)).toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
);
const NAMES = MODULES.map(({ name }) => name);

const WORDS: Readonly<Record<TranslatedSurface, string>> = {
  chat: 'chat',
  embeddings: 'embeddings',
  images: 'images',
  'images.edits': 'edits',
  rerank: 'rerank',
  moderations: 'moderations',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'translation',
  'audio.speech': 'speech',
};

/** What a provider serves, in the terms of the matrix. */
function wordsOf({ translators, discovery, batches, responses, passthrough }: ProviderModule): string[] {
  const served = (Object.keys(translators) as TranslatedSurface[]).map((surface) => WORDS[surface]);
  const also = { stream: translators.chat?.openStream, discovery, batch: batches, responses, proxy: passthrough };
  return [...served, ...Object.entries(also).flatMap(([word, has]) => (has ? [word] : []))];
}

/** A row in the terms of the matrix; a renamed parameter counts as sent. See docs/reference/providers.md#unsupported-parameters. */
function rowOf(params: ParamTreatments): Row {
  return Object.fromEntries(
    matrix.params.map((param) => [param, typeof params[param] === 'object' ? 'forward' : (params[param] ?? 'forward')]),
  );
}

const supported = (row: Row): string[] => matrix.params.filter((param) => row[param] !== 'unsupported');

/** Variables that register every provider. */
function everyVariable(): Record<string, string> {
  const required = MODULES.flatMap(({ connection: { env } }) =>
    env.map((variable) => (typeof variable === 'string' ? variable : (variable[0] ?? ''))),
  );
  const valued = required.map((variable) => [
    variable,
    /_(ENDPOINT|HOST)$/.test(variable) ? 'http://127.0.0.1:9' : valueOf(variable),
  ]);
  return {
    ...Object.fromEntries(valued),
    VERTEX_AI_REGION: 'us-central1',
    VERTEX_AI_API_KEY: valueOf('VERTEX_AI_API_KEY'),
  };
}

const inMatrix = (rows: object): object =>
  Object.fromEntries(Object.entries(rows).filter(([name]) => isInMatrix(name)));

describe('capability matrix', () => {
  it('names every provider in its order, and the 17 parameters of the chat request', () => {
    expect(Object.keys(matrix.providers).filter(isInMatrix), 'the capability matrix in test/fixtures').to.deep.equal(
      NAMES,
    );
    expect(matrix.params).to.have.length(17);
    for (const [name, row] of Object.entries(matrix.providers))
      expect(Object.keys(row), name).to.deep.equal(matrix.params);
  });

  it('leaves out of the parameters only model, messages and the controls of the stream', () => {
    const source = readFileSync(fileURLToPath(new URL('../../../host/contract/wire/chat.ts', import.meta.url)), 'utf8');
    const body = /interface ChatRequest \{(.*?)\n\}/s.exec(source)?.[1] ?? '';
    const fields = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field]) => field ?? '');
    expect(
      fields.filter((field) => !['model', 'messages', 'stream', 'stream_options'].includes(field)).toSorted(),
    ).to.deep.equal([...matrix.params].toSorted());
  });

  it('is what a gateway with every provider publishes, for the providers it lists models of', async () => {
    const targets = NAMES.map((name) => ({ virtual_key: name, models: [`${name}-model`] }));
    const host = await startHost({ strategy: { mode: 'fallback' }, targets }, { variables: everyVariable() });
    expect((await host.get('/v1/capabilities')).json(), `against ${FILE}`).to.deep.equal({
      providers: inMatrix(matrix.providers),
      image_response_formats: inMatrix(matrix.image_response_formats),
    });
    const listed = (await host.get('/v1/models')).json().data as readonly { readonly owned_by: string }[];
    expect([...new Set(listed.map(({ owned_by: owner }) => owner))].toSorted()).to.deep.equal(NAMES);
  });

  for (const module of MODULES) {
    const { name } = module;
    it(`is what ${name} declares: parameters, surfaces, wire, formats`, () => {
      expect(
        Object.keys(module.params).filter((param) => !matrix.params.includes(param)),
        'parameters that the matrix does not list',
      ).to.deep.equal([]);
      expect(rowOf(module.params), `"providers" in ${FILE}`).to.deep.equal(matrix.providers[name]);
      expect(wordsOf(module).toSorted(), `"surfaces" in ${FILE}`).to.deep.equal(
        [...(matrix.surfaces[name] ?? [])].toSorted(),
      );
      expect({
        native: module.wire === 'native',
        anyModel: module.anyModel ?? false,
        formats: module.imageFormats,
      }).to.deep.equal({
        native: matrix.native_wire.includes(name),
        anyModel: matrix.any_model.includes(name),
        formats: matrix.image_response_formats[name],
      });
      expect(module.wire === 'common' && !module.passthrough, 'cannot be forwarded to').to.equal(
        matrix.not_proxiable.includes(name),
      );
    });
  }

  it('tells what each family of models at bedrock and ai21 takes', () => {
    const takes = (name: string, model: string): string[] => supported(rowOf(moduleOf(name).paramsFor?.(model) ?? {}));
    const families = matrix.model_scoped_support.bedrock.families;
    const models: Row = {
      'anthropic.': 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'amazon.titan': 'amazon.titan-text-express-v1',
      'amazon.nova (text models)': 'amazon.nova-lite-v1:0',
      'meta.llama': 'meta.llama3-1-8b-instruct-v1:0',
    };
    expect(Object.keys(families)).to.have.members(Object.keys(models));
    for (const [family, model] of Object.entries(models))
      expect(takes('bedrock', model), family).to.have.members([...(families[family] ?? [])]);
    expect(takes('ai21', 'j2-ultra')).to.have.members([...(matrix.model_scoped_support.ai21.families['legacy'] ?? [])]);
    expect(takes('ai21', 'jamba-mini-1.7')).to.deep.equal(matrix.params);
  });
});
