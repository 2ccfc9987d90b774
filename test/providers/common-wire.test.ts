import { expect } from 'chai';
import { type CallInfo, type ChatRequest, defineProvider, type TranscriptionRequest } from 'gw/contract';
import {
  commonTranslators,
  joinedConversation,
  listedModels,
  pathSegment,
  pathSegments,
  requireImageFormat,
  withoutTail,
} from 'gw/common-wire';
import { SURFACE_NAMES, SURFACES } from '../../host/contract/index.ts';
import { answeredBy, refusedBy, sentBy, unusableTo } from '../kit/index.ts';

const SERVED = [
  ...new Set(SURFACE_NAMES.map((name) => SURFACES[name].translator).filter((name) => name !== undefined)),
];
const connection = { env: [], baseUrl: 'https://acme.example/v1' };
const acme = defineProvider({
  name: 'acme',
  wire: 'common',
  connection,
  params: {},
  translators: commonTranslators(SERVED, {}),
});

describe('common wire, chat', () => {
  it('is unusable without a message', async () => {
    const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    for (const body of [null, [], {}, { choices: null }, { choices: [] }, { choices: [null] }, { choices: [{}] }]) {
      expect(await unusableTo(acme, 'chat', request, body), JSON.stringify(body)).to.equal(
        'the answer holds no message',
      );
    }
  });
});

describe('common wire, embeddings', () => {
  const request = { model: 'm', input: 'hi' };

  it('travel with every field, token ids included', async () => {
    const full = { model: 'm', input: [[1, 2], [3]], dimensions: 3, user: 'u', input_type: 'query', truncate: 'END' };
    const { url, body } = await sentBy(acme, 'embeddings', full);
    expect([url, body]).to.deep.equal(['https://acme.example/v1/embeddings', full]);
  });

  it('ask for a format only when the client asks for float by name', async () => {
    for (const [asked, sent] of [
      ['float', 'float'],
      ['base64', undefined],
      ['', undefined],
      [null, undefined],
      [undefined, undefined],
    ] as const) {
      const { body } = await sentBy(acme, 'embeddings', {
        ...request,
        ...(asked !== undefined && { encoding_format: asked }),
      });
      expect(body.encoding_format, String(asked)).to.equal(sent);
    }
  });

  it('come back with object, place and model, vectors as they are', async () => {
    const reply = await answeredBy(acme, 'embeddings', request, {
      data: [{ embedding: [0.5] }, { embedding: 'AAAAPw==', index: 1 }],
      usage: { prompt_tokens: 2 },
    });
    expect(reply).to.deep.equal({
      object: 'list',
      model: 'm',
      usage: { prompt_tokens: 2, total_tokens: 2 },
      data: [
        { object: 'embedding', embedding: [0.5], index: 0 },
        { object: 'embedding', embedding: 'AAAAPw==', index: 1 },
      ],
    });
  });

  it('are unusable without vectors', async () => {
    for (const body of [
      {},
      { data: {} },
      { data: [] },
      { data: [null] },
      { data: [{ embedding: [] }] },
      { data: [{ embedding: {} }] },
      [],
    ]) {
      expect(await unusableTo(acme, 'embeddings', request, body), JSON.stringify(body)).to.be.a('string');
    }
  });
});

describe('common wire, images', () => {
  it('travel as they came, and keep what they cost', async () => {
    const request = { model: 'm', prompt: 'p', n: 2, size: 'auto', background: 'opaque' };
    const { url, body } = await sentBy(acme, 'images', request);
    expect([url, body]).to.deep.equal(['https://acme.example/v1/images/generations', request]);
    const reply = await answeredBy(acme, 'images', request, {
      created: 7,
      data: [{ b64_json: 'AA==' }],
      usage: { input_tokens: 3, output_tokens: 5 },
    });
    expect(reply).to.deep.equal({
      created: 7,
      data: [{ b64_json: 'AA==' }],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    });
  });

  it('have no time of their own when the vendor states none, and are unusable when empty', async () => {
    const request = { model: 'm', prompt: 'p' };
    expect(await answeredBy(acme, 'images', request, { created: null, data: [{ url: 'u' }] })).to.deep.equal({
      data: [{ url: 'u' }],
    });
    expect(await unusableTo(acme, 'images', request, { data: [] })).to.equal('the answer holds no list of images');
    expect(await unusableTo(acme, 'images', request, { data: [{ url: null }] })).to.equal(
      'an image has neither address nor data',
    );
    expect(await unusableTo(acme, 'images', request, { data: 'x' })).to.be.a('string');
  });

  it('are refused in a format that cannot be made; unset is never refused', () => {
    for (const unset of [undefined, null, '']) requireImageFormat(unset, ['url'], 'm');
    requireImageFormat('url', ['url'], 'm');
    expect(() => requireImageFormat('b64_json', ['url'], 'm'))
      .to.throw('response_format "b64_json" is not supported: m produces url')
      .with.property('code', 'unsupported_parameter');
  });
});

describe('common wire, rerank', () => {
  const request = { model: 'm', query: 'q', documents: ['a', 'b'], return_documents: true };

  it('sends top_n only when it caps', async () => {
    for (const top of [0, null])
      expect((await sentBy(acme, 'rerank', { ...request, top_n: top })).body).to.deep.equal(request);
    const { url, body } = await sentBy(acme, 'rerank', { ...request, top_n: 1 });
    expect([url, body]).to.deep.equal(['https://acme.example/v1/rerank', { ...request, top_n: 1 }]);
  });

  it('reads results, documents in either form, and tokens', async () => {
    const results = [
      { index: 1, relevance_score: 0.9, document: { text: 'b' } },
      { index: 0, relevance_score: 0.1, document: 'a' },
    ];
    expect(
      await answeredBy(acme, 'rerank', request, {
        id: 'r',
        results,
        usage: { prompt_tokens: 4, completion_tokens: 0, total_tokens: 4 },
      }),
    ).to.deep.equal({
      id: 'r',
      meta: { tokens: { input_tokens: 4 } },
      results: [
        { index: 1, relevance_score: 0.9, document: { text: 'b' } },
        { index: 0, relevance_score: 0.1, document: { text: 'a' } },
      ],
    });
    expect(await unusableTo(acme, 'rerank', request, { results: [{ index: 'x' }] })).to.be.a('string');
  });
});

describe('common wire, moderations', () => {
  it('travel as they came; flagged is derived where it is missing', async () => {
    const request = { model: 'm', input: ['a', 'b'] };
    expect((await sentBy(acme, 'moderations', request)).body).to.deep.equal(request);
    const results = [
      { categories: { a: false }, category_scores: { a: 0 } },
      { categories: { a: true }, category_scores: { a: 1 } },
      { flagged: false, categories: { a: true } },
    ];
    const reply = await answeredBy(acme, 'moderations', request, { id: 'x', model: 'v', results });
    expect(reply.results.map(({ flagged }: { flagged: boolean }) => flagged)).to.deep.equal([false, true, false]);
    expect(await unusableTo(acme, 'moderations', request, { results: [{}] })).to.be.a('string');
  });
});

describe('common wire, transcription', () => {
  const file = {
    filename: 'a.wav',
    bytes: 3,
    open: async function* open() {
      yield new Uint8Array(3);
    },
  };
  const request: TranscriptionRequest = {
    model: 'm',
    file,
    temperature: '0.2',
    prompt: 'p',
    language: 'en',
    response_format: 'srt',
    timestamp_granularities: ['word', 'segment'],
  };
  const values = (form: readonly object[] | undefined): unknown[] =>
    (form ?? []).map((part) =>
      'value' in part ? [(part as { name?: string }).name, part.value] : (part as { name?: string }).name,
    );

  it('sends its parts in order, and nothing that is not set', async () => {
    const { url, form } = await sentBy(acme, 'audio.transcriptions', request);
    expect(url).to.equal('https://acme.example/v1/audio/transcriptions');
    expect(values(form)).to.deep.equal([
      'file',
      ['model', 'm'],
      ['language', 'en'],
      ['prompt', 'p'],
      ['response_format', 'srt'],
      ['temperature', '0.2'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ]);
    expect(values((await sentBy(acme, 'audio.transcriptions', { model: 'm', file, language: '' })).form)).to.deep.equal(
      ['file', ['model', 'm']],
    );
  });

  it('sends no language for a translation', async () => {
    const { url, form } = await sentBy(acme, 'audio.translations', request);
    expect(url).to.equal('https://acme.example/v1/audio/translations');
    expect(values(form)).to.deep.include(['prompt', 'p']);
    expect(values(form)).to.not.deep.include(['language', 'en']);
  });

  async function read(format: string | undefined, body: string): Promise<[string, string]> {
    const asked = { model: 'm', file, ...(format !== undefined && { response_format: format }) };
    const { contentType, body: bytes } = await answeredBy(
      acme,
      'audio.transcriptions',
      asked,
      new TextEncoder().encode(body),
    );
    return [contentType, new TextDecoder().decode(bytes)];
  }

  it('hands plain formats on as they are, even when they look like JSON', async () => {
    for (const format of ['text', 'srt', 'vtt'])
      expect(await read(format, '{"text":"x"}')).to.deep.equal(['text/plain; charset=utf-8', '{"text":"x"}']);
  });

  it('hands detailed JSON on whole, and of json the text alone, whatever the vendor sends', async () => {
    const detailed = '{"text":"x","segments":[ ]}';
    expect(await read('verbose_json', detailed)).to.deep.equal(['application/json', detailed]);
    for (const format of ['json', undefined]) {
      expect(await read(format, detailed)).to.deep.equal(['application/json', '{"text":"x"}']);
      expect(await read(format, 'plain words')).to.deep.equal(['application/json', '{"text":"plain words"}']);
    }
  });

  it('is unusable without a text, or without the JSON that was asked for', async () => {
    expect(await unusableTo(acme, 'audio.transcriptions', { model: 'm', file }, { words: [] })).to.equal(
      'the answer holds no text',
    );
    expect(
      await unusableTo(
        acme,
        'audio.transcriptions',
        { model: 'm', file, response_format: 'verbose_json' },
        new TextEncoder().encode('plain'),
      ),
    ).to.be.a('string');
  });
});

describe('common wire, speech', () => {
  it('always names a format, and its bytes are relayed', async () => {
    const request = { model: 'm', input: 'hi', voice: 'v', speed: 2, instructions: 'slowly' };
    const { url, body } = await sentBy(acme, 'audio.speech', request);
    expect([url, body]).to.deep.equal(['https://acme.example/v1/audio/speech', { ...request, response_format: 'mp3' }]);
    expect((await sentBy(acme, 'audio.speech', { ...request, response_format: 'wav' })).body.response_format).to.equal(
      'wav',
    );
    expect(acme.translators['audio.speech']?.relaysBytes).to.equal(true);
  });
});

describe('common wire, list of models', () => {
  it('is read from a list or from data: ids trimmed and once, times that are times', () => {
    const models = [
      { id: ' a ', created: 7.5 },
      { id: 'a' },
      { id: '' },
      { id: 4 },
      null,
      'x',
      { id: 'b', created: 'now' },
    ];
    for (const body of [models, { object: 'list', data: models }])
      expect(listedModels.read(body)).to.deep.equal([{ id: 'a', created: 7 }, { id: 'b' }]);
    for (const body of [null, {}, { data: {} }, 'x'])
      expect(() => listedModels.read(body), JSON.stringify(body)).to.throw('no list of models');
  });
});

describe('names in addresses', () => {
  it('are escaped, as one segment or as several', () => {
    expect(pathSegment('my model?#')).to.equal('my%20model%3F%23');
    expect(pathSegments('owner/bad#name')).to.equal('owner/bad%23name');
    expect(pathSegment('\ud800')).to.equal('%EF%BF%BD');
  });

  it('are refused with a 400 when they would leave their place', () => {
    for (const name of ['', '.', '..', 'a/b', 'a\\b'])
      expect(() => pathSegment(name), name)
        .to.throw('cannot stand in an address')
        .with.property('code', 'invalid_request');
    for (const name of ['', '.', 'a/..', 'a//b', '/a', 'a/'])
      expect(() => pathSegments(name), name)
        .to.throw('cannot stand in an address')
        .with.property('code', 'invalid_request');
  });

  it('lose a tail they have, and no other', () => {
    expect([withoutTail('http://h/v1', '/v1'), withoutTail('http://h/v11', '/v1')]).to.deep.equal([
      'http://h',
      'http://h/v11',
    ]);
  });
});

describe('a conversation as one text', () => {
  const chat = (...messages: readonly object[]): ChatRequest => ({ model: 'm', messages }) as unknown as ChatRequest;

  it('is a line per message, ready for the next', () => {
    const parts = [
      { type: 'text', text: 'se' },
      { type: 'text', text: 'cond' },
    ];
    expect(
      joinedConversation(
        chat(
          { role: 'system', content: 'You are terse.' },
          { role: 'user', content: 'first' },
          { role: 'assistant', content: null },
          { role: 'user', content: parts },
        ),
      ),
    ).to.equal('system: You are terse.\nuser: first\nassistant: \nuser: second\nassistant: ');
  });

  it('is refused when any turn holds more than text', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'u' } },
    ];
    expect(() => joinedConversation(chat({ role: 'user', content: parts }, { role: 'user', content: 'b' })))
      .to.throw('messages[0].content[1]')
      .with.property('code', 'invalid_request');
  });
});

describe('options of the common wire', () => {
  const options = {
    images: { drops: ['style'], renames: { size: 'dims' }, adjust: (body: object) => ({ ...body, extra: 1 }) },
  };
  const odd = defineProvider({
    name: 'odd',
    wire: 'common',
    connection,
    params: {},
    translators: commonTranslators(['images'], {}, options),
  });

  it('leave fields out and report them, rename, and adjust last', async () => {
    const { body, ignored } = await sentBy(odd, 'images', { model: 'm', prompt: 'p', size: 's', style: 'x' });
    expect(body).to.deep.equal({ model: 'm', prompt: 'p', dims: 's', extra: 1 });
    expect(ignored).to.deep.equal(['style']);
    expect((await sentBy(odd, 'images', { model: 'm', prompt: 'p', style: null })).ignored).to.deep.equal([]);
  });

  it('may give audio an address of its own, or refuse a model', async () => {
    const address = ({ model }: CallInfo): string => `https://audio.example/${pathSegment(model)}`;
    const apart = defineProvider({
      name: 'apart',
      wire: 'common',
      connection,
      params: {},
      translators: commonTranslators(['audio.translations'], {}, { 'audio.translations': { address } }),
    });
    const file = { filename: 'a', bytes: 0, open: async function* open() {} };
    expect(await sentBy(apart, 'audio.translations', { model: 'm', file })).to.include({
      url: 'https://audio.example/m',
      withCredential: true,
    });
    expect((await refusedBy(apart, 'audio.translations', { model: 'a/b', file })).code).to.equal('invalid_request');
  });
});
