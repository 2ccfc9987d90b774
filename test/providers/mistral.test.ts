import { expect } from 'chai';
import mistral from '../../providers/mistral/index.ts';
import {
  answeredBy,
  callFor,
  everyCut,
  gatewayOf,
  golden,
  refusedBy,
  relayStream,
  sendText,
  sentBy,
  sseBytes,
  translateReply,
  unusableTo,
} from '../kit/index.ts';
import { factsOf } from '../contract/providers/support.ts';
import { CHAT, EMBED, FORWARDED, itForwardsChatWithoutOptions, itServes } from './support.ts';

const SPEECH = { model: 'm', input: 'hi', voice: 'v' };

describe('mistral', () => {
  itServes(
    mistral,
    'https://api.mistral.ai/v1',
    ['chat', 'embeddings', 'moderations', 'audio.transcriptions', 'audio.speech'],
    FORWARDED,
  );
  itForwardsChatWithoutOptions(mistral);

  it('serves no translation', () => {
    expect(mistral.translators).to.not.have.property('audio.translations');
  });

  it('sends one ceiling, by its old name, and the seed by its own', async () => {
    const { body } = await sentBy(mistral, 'chat', { ...CHAT, max_completion_tokens: 7, seed: 3 });
    expect(body).to.include({ max_tokens: 7, random_seed: 3 }).and.not.have.any.keys('max_completion_tokens', 'seed');
  });

  it('returns the thinking of earlier turns to models that think, before what they said', async () => {
    const messages = [
      { role: 'assistant', content: 'a', reasoning_content: 'r' },
      { role: 'user', content: 'b' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 's',
        tool_calls: [{ id: 'aB3dE5gH7', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'aB3dE5gH7', content: 'c' },
    ];
    const thinking = (text: string): object => ({ type: 'thinking', thinking: [{ type: 'text', text }], closed: true });
    for (const more of [
      { model: 'magistral-small-latest' },
      { model: 'mistral-small-latest', reasoning_effort: 'high' },
    ]) {
      const { body } = await sentBy(mistral, 'chat', { ...CHAT, ...more, messages });
      expect(body.messages.slice(0, 3).map(({ content }: any) => content)).to.deep.equal([
        [thinking('r'), { type: 'text', text: 'a' }],
        'b',
        [thinking('s')],
      ]);
      expect(body.messages[2].tool_calls).to.have.length(1);
    }
  });

  it('sends no reasoning of earlier turns otherwise, which the closed schema refuses', async () => {
    const { body } = await sentBy(mistral, 'chat', {
      ...CHAT,
      reasoning_effort: null,
      messages: [
        { role: 'assistant', content: 'a', reasoning_content: 'r', reasoning_details: [{}] },
        { role: 'user', content: 'b' },
      ],
    });
    expect(body.messages).to.deep.equal([
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
  });

  it('sends dimensions by its own name and no input type', async () => {
    const { body, ignored } = await sentBy(mistral, 'embeddings', { ...EMBED, encoding_format: 'base64' });
    expect(body).to.deep.equal({
      model: 'm',
      input: ['a', 'b'],
      output_dimension: 8,
      truncate: 'END',
      encoding_format: 'base64',
    });
    expect(ignored).to.deep.equal(['input_type']);
  });

  it('derives what its moderation leaves out', async () => {
    const reply = await answeredBy(
      mistral,
      'moderations',
      { model: 'm', input: ['a', 'b'] },
      { results: [{ categories: { pii: false } }, { categories: { pii: true } }] },
    );
    expect(reply.results.map(({ flagged }: { flagged: boolean }) => flagged)).to.deep.equal([false, true]);
  });
});

describe('mistral, speech', () => {
  it('names the voice its own way and has no speed', async () => {
    const { body, ignored } = await sentBy(mistral, 'audio.speech', { ...SPEECH, speed: 2 });
    expect(body).to.deep.equal({ model: 'm', input: 'hi', voice_id: 'v', response_format: 'mp3' });
    expect(ignored).to.deep.equal(['speed']);
  });

  it('is decoded, not relayed', async () => {
    expect(mistral.translators['audio.speech']?.relaysBytes).to.equal(false);
    const { body } = await answeredBy(mistral, 'audio.speech', SPEECH, {
      audio_data: Buffer.from('sound').toString('base64'),
    });
    expect(Buffer.from(body).toString()).to.equal('sound');
    for (const reply of [{}, { audio_data: '' }, { audio_data: 7 }])
      expect(await unusableTo(mistral, 'audio.speech', SPEECH, reply)).to.equal('the answer holds no audio');
  });
});

/** A turn of the user, and what the assistant gets of it. */
const turns = async (...messages: readonly object[]): Promise<any> =>
  (await sentBy(mistral, 'chat', { ...CHAT, messages } as never)).body.messages;
const user = { role: 'user', content: 'u' };

describe('mistral, the closed schema', () => {
  it('has fields that are sent, and others that are left out and named', async () => {
    const own = {
      metadata: { a: 'b' },
      prediction: { type: 'content', content: 'x' },
      prompt_mode: 'reasoning',
      safe_prompt: true,
      prompt_cache_key: 'k',
      guardrails: [],
      document_page_limit: 8,
      parallel_tool_calls: false,
    };
    const foreign = {
      store: true,
      modalities: ['text'],
      verbosity: 'low',
      safety_identifier: 's',
      top_k: 5,
      functions: [],
      stream_options: { include_usage: true },
      user: 'u',
      logit_bias: { 1: 1 },
      logprobs: false,
      zebra: 'z',
      nothing: null,
    };
    const { body, ignored } = await sentBy(mistral, 'chat', { ...CHAT, ...own, ...foreign });
    expect(body).to.deep.equal({ ...CHAT, ...own });
    expect(ignored).to.deep.equal([
      'store',
      'modalities',
      'verbosity',
      'safety_identifier',
      'top_k',
      'functions',
      'zebra',
    ]);
  });

  it('has two tiers of service, one of them under a name of its own', async () => {
    const tier = async (service_tier: string): Promise<unknown[]> => {
      const { body, ignored } = await sentBy(mistral, 'chat', { ...CHAT, service_tier });
      return [body.service_tier, ignored];
    };
    expect([await tier('auto'), await tier('default'), await tier('standard_only'), await tier('flex')]).to.deep.equal([
      ['auto', []],
      ['standard_only', []],
      ['standard_only', []],
      [undefined, ['service_tier']],
    ]);
  });

  it('has tools with parameters, and without cache markers, which are named once wherever they stand', async () => {
    const cache_control = { type: 'ephemeral' };
    const parameters = { type: 'object', properties: { a: { type: 'string' } } };
    const tools = [
      { type: 'function', function: { name: 'f', description: 'd', strict: true, parameters, cache_control } },
      { type: 'function', cache_control, function: { name: 'g' } },
      { type: 'code_interpreter' },
    ];
    const { body, ignored } = await sentBy(mistral, 'chat', {
      ...CHAT,
      tools,
      messages: [{ role: 'user', content: [{ type: 'text', text: 't', cache_control }] }],
    } as never);
    expect(body.tools).to.deep.equal([
      { type: 'function', function: { name: 'f', description: 'd', strict: true, parameters } },
      { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
      { type: 'code_interpreter' },
    ]);
    expect(body.messages[0].content).to.deep.equal([{ type: 'text', text: 't' }]);
    expect(new Set(ignored)).to.deep.equal(new Set(['cache_control']));
  });

  it('is kept by a gateway: what is left out is named to the client', async () => {
    const { host, upstream } = await gatewayOf(factsOf('mistral'), (_request, response) =>
      sendText(response, 200, 'application/json', golden('mistral/chat/reply.json')),
    );
    const answer = await host.post('/v1/chat/completions', {
      model: 'mistral-small-latest',
      messages: [user],
      user: 'u',
      store: true,
      logprobs: true,
      cache_control: { type: 'ephemeral' },
    });
    expect([answer.status, answer.headers.get('x-gateway-ignored-params')]).to.deep.equal([
      200,
      'logprobs, user, store, cache_control',
    ]);
    expect(upstream.seen[0]?.json()).to.deep.equal({ model: 'mistral-small-latest', messages: [user] });
  });
});

describe('mistral, turns', () => {
  it('of the assistant at the end are to be continued, and nowhere else', async () => {
    const said = { role: 'assistant', content: 'a' };
    expect(await turns(user, { ...said, prefix: true }, user, said)).to.deep.equal([
      user,
      said,
      user,
      { ...said, prefix: true },
    ]);
    expect(await turns(user, { ...said, content: [{ type: 'text', text: 'b' }] })).to.deep.equal([
      user,
      { role: 'assistant', content: [{ type: 'text', text: 'b' }], prefix: true },
    ]);
    const calls = [{ id: 'abcDEF123', type: 'function', function: { name: 'f', arguments: '{}' } }];
    expect(await turns(user, { ...said, tool_calls: calls })).to.deep.equal([user, { ...said, tool_calls: calls }]);
  });

  it('that say nothing are left out, a refusal is what was said', async () => {
    expect(
      await turns(
        user,
        { role: 'assistant', content: '' },
        { role: 'assistant', content: [] },
        user,
        { role: 'assistant', content: null, refusal: 'no' },
        user,
      ),
    ).to.deep.equal([user, user, { role: 'assistant', content: 'no' }, user]);
  });

  it('of the system after the assistant or a tool go to the front, with developers among them', async () => {
    const [rules, more] = [
      { role: 'system', content: 'rules' },
      { role: 'developer', content: 'more' },
    ];
    expect(await turns(rules, user, more, user)).to.deep.equal([rules, user, { ...more, role: 'system' }, user]);
    expect(await turns(rules, user, { role: 'assistant', content: 'a' }, more, user)).to.deep.equal([
      rules,
      { ...more, role: 'system' },
      user,
      { role: 'assistant', content: 'a' },
      user,
    ]);
  });

  it('name calls by nine letters and digits, the same in the call and its result', async () => {
    const pair = (id: string): object[] => [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: id, content: 'r' },
    ];
    const ids = async (...given: readonly string[]): Promise<string[]> =>
      (await turns(...given.flatMap(pair), user)).flatMap(
        ({ tool_calls: calls, tool_call_id: id }: any) => calls?.map((call: any) => call.id) ?? id ?? [],
      );
    const foreign = ['toolu_01AbC', 'call_0_0', 'functions.f:0', 'short', 'nineteen_'];
    const made = await ids(...foreign);
    for (const id of made) expect(id).to.match(/^[a-zA-Z0-9]{9}$/);
    expect(
      made.filter((_id, at) => at % 2 === 0),
      'results',
    ).to.deep.equal(made.filter((_id, at) => at % 2 === 1));
    expect(new Set(made).size, 'apart').to.equal(foreign.length);
    expect(await ids(...foreign, 'another'), 'in a later request').to.deep.include.members(made);
    expect(await ids('abcDEF123', 'call_0_0', 'abcDEF123')).to.satisfy(
      ([own, , other, , again]: string[]) => own === 'abcDEF123' && other !== own && again !== own,
    );
  });

  it('have members of the schema alone', async () => {
    const call = {
      id: 'abcDEF123',
      type: 'function',
      index: 3,
      function: { name: 'f', arguments: '', parsed_arguments: {} },
      extra_content: {},
    };
    const given = [
      { ...user, name: 'Ada', zebra: 1 },
      { role: 'assistant', content: '', name: 'x', refusal: null, annotations: [], audio: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'abcDEF123', name: 'f', content: 'r', zebra: 1 },
    ];
    expect(await turns(...given)).to.deep.equal([
      user,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'abcDEF123', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'abcDEF123', name: 'f', content: 'r' },
    ]);
  });

  it('hold images, audio and documents in the forms of the vendor', async () => {
    const data = (type: string, text: string): string => `data:${type};base64,${Buffer.from(text).toString('base64')}`;
    const file = (fields: object): object => ({ type: 'file', file: fields });
    const pdf = data('application/pdf', '%PDF-1.7');
    const content = [
      { type: 'image_url', image_url: { url: 'https://i.example/a.png', detail: 'low', zebra: 1 } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      file({ filename: 'a.pdf', file_data: pdf }),
      file({ filename: 'a.pdf', file_data: Buffer.from('%PDF-1.7').toString('base64') }),
      file({ file_data: 'https://d.example/b.pdf' }),
      file({ file_id: 'f-1' }),
      file({ file_data: data('image/png', 'x') }),
      file({ filename: 'n.txt', file_data: data('text/plain;charset=utf-8', 'grüß') }),
      file({ file_data: 'data:application/json,%7B%22a%22%3A1%7D' }),
    ];
    expect((await turns({ role: 'user', content }))[0].content).to.deep.equal([
      { type: 'image_url', image_url: { url: 'https://i.example/a.png', detail: 'low' } },
      { type: 'input_audio', input_audio: 'AA==' },
      { type: 'document_url', document_url: pdf, document_name: 'a.pdf' },
      { type: 'document_url', document_url: pdf, document_name: 'a.pdf' },
      { type: 'document_url', document_url: 'https://d.example/b.pdf' },
      { type: 'file', file_id: 'f-1' },
      { type: 'image_url', image_url: { url: data('image/png', 'x') } },
      { type: 'text', text: 'grüß' },
      { type: 'text', text: '{"a":1}' },
    ]);
    for (const part of [
      file({}),
      { type: 'file' },
      file({ file_data: 'AAAA' }),
      { type: 'input_audio' },
      { type: 'input_audio', input_audio: {} },
    ]) {
      expect(
        (
          await refusedBy(mistral, 'chat', {
            ...CHAT,
            messages: [user, { role: 'user', content: [{ type: 'text', text: 't' }, part] }],
          } as never)
        ).message,
      ).to.match(/^messages\[1\]\.content\[1\]: /);
    }
  });
});

describe('mistral, answers', () => {
  const call = callFor('magistral-medium-latest');
  const fixture = (name: string): Buffer => Buffer.from(golden(`mistral/chat/${name}.txt`));
  const SEARCH = { web_search_options: {}, tools: [{ type: 'function', function: { name: 'tide' } }] };

  it('think apart from what they say, whole and streamed at every cut', () => {
    const {
      choices: [whole],
      usage,
    } = translateReply(mistral, call, JSON.parse(golden('mistral/chat/thinking.json')));
    expect(whole?.message).to.include({
      content: 'Each brother has two sisters.',
      reasoning_content: 'Three brothers, so two sisters.',
    });
    expect(usage).to.deep.equal({
      prompt_tokens: 11,
      completion_tokens: 27,
      total_tokens: 38,
      cache_read_tokens: 4,
      prompt_tokens_details: { cached_tokens: 4 },
    });
    for (const pieces of everyCut(fixture('thinking'))) {
      const {
        reply: {
          choices: [choice],
          usage: counted,
        },
        failure,
      } = relayStream(mistral, call, pieces);
      expect(failure).to.equal(undefined);
      expect([choice?.message, choice?.finish_reason, counted]).to.deep.equal([
        { role: 'assistant', content: whole?.message.content, reasoning_content: whole?.message.reasoning_content },
        'stop',
        usage,
      ]);
    }
  });

  it("that searched are one message: the text, its sources, and the calls of the client's own tools", () => {
    const expected = {
      role: 'assistant',
      content: 'It opens at six.',
      annotations: [
        {
          type: 'url_citation',
          url_citation: { start_index: 0, end_index: 0, url: 'https://harbour.example/brest', title: 'Port of Brest' },
        },
      ],
    };
    const {
      choices: [whole],
    } = translateReply(mistral, call, JSON.parse(golden('mistral/chat/search.json')), SEARCH);
    const { tool_calls: calls, ...message } = whole?.message ?? {};
    expect(message).to.deep.equal(expected);
    expect(calls?.map(({ function: { name } }) => name)).to.deep.equal(['tide']);
    for (const pieces of everyCut(fixture('search'))) {
      const {
        chunks,
        reply: {
          choices: [choice],
        },
      } = relayStream(mistral, call, pieces, SEARCH);
      const { tool_calls: streamed, ...rest } = choice?.message ?? {};
      expect([rest, streamed?.map(({ id, function: { name } }) => [id, name])]).to.deep.equal([
        expected,
        [['k2LmPq9Xz', 'tide']],
      ]);
      expect(
        chunks.filter(({ choices: [{ delta }] }) => 'annotations' in delta),
        'sources once, with the end',
      ).to.deep.equal([chunks.at(-1)]);
    }
  });

  it('that did not search are relayed as ever', () => {
    expect(
      mistral.translators.chat?.editStream?.(call, { ...CHAT, tools: [{ type: 'function', function: { name: 'f' } }] }),
    ).to.equal(undefined);
  });

  it('of a search that hold nothing are unusable, and odd ones are read as far as they go', () => {
    for (const body of [
      { choices: [{ index: 0 }] },
      { choices: [{ messages: [] }] },
      { choices: [{ messages: [{ role: 'tool', content: 'x' }] }] },
      { choices: 7 },
      [],
    ])
      expect(() => translateReply(mistral, call, body, SEARCH), JSON.stringify(body)).to.throw();
    expect(
      translateReply(
        mistral,
        call,
        { choices: [{ index: 0, message: { content: 'a', tool_calls: [null, {}, { function: 7 }] } }] },
        SEARCH,
      ).choices[0]?.message,
    ).to.deep.equal({ role: 'assistant', content: 'a' });
    const odd = [
      { choices: 7 },
      { choices: [null, {}, { delta: 7 }, { index: 0, delta: { content: [null, 7, {}], tool_calls: 'x' } }] },
      { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] },
    ];
    const { failure, reply } = relayStream(mistral, call, [sseBytes([...odd, { type: '', data: '[DONE]' }])], SEARCH);
    expect([failure, reply.choices[0]?.message.content]).to.deep.equal([undefined, 'a']);
  });
});
