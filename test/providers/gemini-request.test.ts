import { expect } from 'chai';
import type { ChatRequest } from '../../host/contract/index.ts';
import gemini from '../../providers/gemini/index.ts';
import { shippedCall } from '../kit/facts.ts';
import { callFor, refusedBy, sentBy, type SentWire } from '../kit/index.ts';

const ask = (more: object = {}): ChatRequest => ({
  model: 'gemini-2.5-flash',
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});
const sent = (more: object = {}): Promise<SentWire> => sentBy(gemini, 'chat', ask(more));
const tool = (name: string, more: object = {}): object => ({ type: 'function', function: { name, ...more } });

describe('gemini, requests', () => {
  it('say no more than they must', async () => {
    expect(await sent()).to.deep.include({
      body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      ignored: [],
    });
    expect(
      (await sent({ temperature: null, stop: null, tools: null, logprobs: false, stop_sequences: null })).body,
    ).to.have.all.keys('contents');
  });

  it('carry every sampling parameter under its native name', async () => {
    const { body, ignored } = await sent({
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      n: 2,
      seed: 7,
      max_tokens: 64,
      max_completion_tokens: 64,
      presence_penalty: 0,
      frequency_penalty: -1,
      stop: ['END', 'STOP'],
      logprobs: true,
      top_logprobs: 3,
    });
    expect(body.generationConfig).to.deep.equal({
      temperature: 0,
      topP: 0.5,
      topK: 40,
      candidateCount: 2,
      seed: 7,
      maxOutputTokens: 64,
      stopSequences: ['END', 'STOP'],
      responseLogprobs: true,
      logprobs: 3,
    });
    expect(ignored, 'this model refuses penalties. Source: @ai-sdk/google 4.0.121').to.deep.equal([
      'frequency_penalty',
    ]);
    const newer = await sent({ model: 'gemini-3-pro-preview', presence_penalty: 0, frequency_penalty: -1 });
    expect(newer.body.generationConfig).to.deep.equal({ presencePenalty: 0, frequencyPenalty: -1 });
  });

  it('leave out what a model does not sample by', async () => {
    const { body, ignored } = await sent({ model: 'gemini-3.6-flash', temperature: 0.3, top_p: 1, top_k: 4, seed: 1 });
    expect([body.generationConfig, ignored]).to.deep.equal([{ seed: 1 }, ['temperature', 'top_k']]);
  });

  it("fold seeds that are longer than the vendor's, which is logged", () => {
    const plan = (seed: unknown): unknown => {
      const { body, bounded } = gemini.translators.chat?.toUpstream(ask({ seed }), callFor('gemini-2.5-flash')) ?? {};
      return [(body as any).generationConfig?.seed, bounded];
    };
    expect([0, -5, 2 ** 31 - 1, null].map(plan)).to.deep.equal([
      [0, []],
      [-5, []],
      [2 ** 31 - 1, []],
      [undefined, []],
    ]);
    expect([2 ** 31, 1_763_000_000_000, (JSON as any).rawJSON('12345678901234567890')].map(plan)).to.deep.equal([
      [-(2 ** 31), ['seed']],
      [2_063_408_640, ['seed']],
      [-350_287_150, ['seed']],
    ]);
  });

  it('carry what else the vendor has words for: tiers, images as answers, safety settings, cached content', async () => {
    const settings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    const { body, ignored } = await sent({
      service_tier: 'flex',
      modalities: ['text', 'image'],
      safety_settings: settings,
      cached_content: 'cachedContents/1',
    });
    expect(body).to.deep.include({
      serviceTier: 'flex',
      safetySettings: settings,
      cachedContent: 'cachedContents/1',
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    });
    expect(ignored).to.deep.equal([]);
    expect(await sent({ service_tier: 'auto', modalities: ['text'] })).to.deep.include({
      ignored: [],
      body: (await sent()).body,
    });
  });

  it('name what they leave behind', async () => {
    const { body, ignored } = await sent({
      store: true,
      metadata: { a: 'b' },
      prediction: {},
      verbosity: 'low',
      service_tier: 'scale',
      modalities: ['audio'],
      stream_options: { include_usage: true },
      audio: null,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: 'https://i.example/a.png', detail: 'low' } },
          ],
        },
      ],
      tools: [tool('f', { strict: true })],
      tool_choice: 'sometimes',
    });
    expect(ignored).to.have.members([
      'store',
      'metadata',
      'prediction',
      'verbosity',
      'service_tier',
      'modalities',
      'cache_control',
      'detail',
      'strict',
      'tool_choice',
    ]);
    expect(body).to.not.have.any.keys('store', 'metadata', 'serviceTier', 'toolConfig');
    const mark = { cache_control: { type: 'ephemeral' } };
    for (const more of [
      { messages: [{ role: 'user', content: 'hi', ...mark }] },
      { tools: [{ ...tool('f'), ...mark }] },
      { tools: [tool('f', mark)] },
      { ...mark, tools: [tool('f', mark)] },
    ]) {
      expect((await sent(more)).ignored, JSON.stringify(more)).to.deep.equal(['cache_control']);
    }
  });
});

describe('gemini, web search', () => {
  const JSON_FORMAT = { response_format: { type: 'json_object' } };
  const plan = (more: object, model = 'gemini-2.5-flash'): unknown => {
    const { body, ignored, bounded } =
      gemini.translators.chat?.toUpstream(
        ask({ model, web_search_options: {}, ...more }),
        shippedCall('gemini', model),
      ) ?? {};
    return [(body as any).tools, ignored, bounded];
  };

  it("is the vendor's search, which has no field for how much and from where", () => {
    const search = [{ googleSearch: {} }];
    expect(plan({})).to.deep.equal([search, [], []]);
    expect(plan({ web_search_options: { search_context_size: 'medium', user_location: null } })).to.deep.equal([
      search,
      [],
      [],
    ]);
    for (const options of [
      { search_context_size: 'high' },
      { user_location: { type: 'approximate', approximate: { city: 'Brest' } } },
    ])
      expect(plan({ web_search_options: options })).to.deep.equal([search, [], ['web_search_options']]);
    expect(plan({ web_search_options: null })).to.deep.equal([undefined, [], []]);
  });

  it('is left out, and named, where the vendor refuses it: beside functions, and for JSON by older models', () => {
    const declared = [{ functionDeclarations: [{ name: 'f', parameters: { type: 'object', properties: {} } }] }];
    expect(plan({ tools: [tool('f')] })).to.deep.equal([declared, ['web_search_options'], []]);
    expect(plan(JSON_FORMAT)).to.deep.equal([undefined, ['web_search_options'], []]);
    expect(plan(JSON_FORMAT, 'gemini-3-flash-preview')).to.deep.equal([[{ googleSearch: {} }], [], []]);
    expect(plan({ web_search_options: 'yes' })).to.deep.equal([undefined, ['web_search_options'], []]);
  });
});

describe('gemini, response formats', () => {
  const SCHEMA = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const config = async (format: object): Promise<unknown> =>
    (await sent({ response_format: format })).body.generationConfig;

  it('are JSON with a sanitised schema, where there is one', async () => {
    expect(await config({ type: 'json_object' })).to.deep.equal({ responseMimeType: 'application/json' });
    expect(
      await config({ type: 'json_schema', json_schema: { name: 'r', strict: true, schema: SCHEMA } }),
    ).to.deep.equal({
      responseMimeType: 'application/json',
      responseSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    });
    for (const json_schema of [undefined, null, 7, 'x', [], {}, { schema: null }, { schema: 'x' }]) {
      expect(await config({ type: 'json_schema', json_schema }), JSON.stringify(json_schema)).to.deep.equal({
        responseMimeType: 'application/json',
      });
    }
  });

  it('of text say nothing', async () => {
    expect((await sent({ response_format: { type: 'text' } })).body).to.have.all.keys('contents');
  });
});

describe('gemini, tools', () => {
  const choice = async (tool_choice: unknown, tools: object[] = [tool('f')]): Promise<unknown> =>
    (await sent({ tool_choice, tools })).body.toolConfig;

  it('are declarations of functions, with a schema in any case', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string' } },
      $schema: 'x',
      additionalProperties: false,
    };
    const { body } = await sent({
      tools: [tool('a', { description: 'does a', parameters }), tool('b'), tool('c', { parameters: {} })],
    });
    const nothing = { type: 'object', properties: {} };
    expect(body.tools).to.deep.equal([
      {
        functionDeclarations: [
          {
            name: 'a',
            description: 'does a',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
          },
          { name: 'b', parameters: nothing },
          { name: 'c', parameters: nothing },
        ],
      },
    ]);
    expect((await sent({ tools: [] })).body).to.not.have.any.keys('tools', 'toolConfig');
  });

  it('are chosen among as the caller says', async () => {
    const calling = (config: object): object => ({ functionCallingConfig: config });
    expect(await choice('auto')).to.deep.equal(calling({ mode: 'AUTO' }));
    expect(await choice('none')).to.deep.equal(calling({ mode: 'NONE' }));
    expect(await choice('required')).to.deep.equal(calling({ mode: 'ANY' }));
    expect(await choice({ type: 'function', function: { name: 'f' } })).to.deep.equal(
      calling({ mode: 'ANY', allowedFunctionNames: ['f'] }),
    );
    for (const unreadable of ['maybe', {}, { type: 'function' }, { type: 'function', function: { name: '' } }])
      expect(await choice(unreadable), JSON.stringify(unreadable)).to.equal(undefined);
  });

  it('are not chosen among when there are none', async () => {
    expect(await sent({ tool_choice: 'required' })).to.deep.include({ body: (await sent()).body, ignored: [] });
  });

  it('must be functions with a name', async () => {
    for (const wrong of [
      { type: 'custom', custom: { name: 'x' } },
      { type: 'function' },
      { type: 'function', function: {} },
    ]) {
      const { code, message } = await refusedBy(gemini, 'chat', ask({ tools: [tool('f'), wrong] }));
      expect([code, message]).to.deep.equal(['invalid_request', 'tools[1] must be a function with a name']);
    }
  });
});
