import { expect } from 'chai';
import bedrock from '../../providers/bedrock/index.ts';
import { callFor, relayStream, translateReply } from '../kit/index.ts';
import {
  bodyOf,
  CLAUDE,
  event,
  fixture,
  LLAMA,
  MISTRAL,
  NOVA,
  PROFILE,
  refusal,
  sent,
  streamOf,
} from './bedrock-support.ts';

const ANSWER = 'gw_structured_answer';
const SCHEMA = {
  type: 'object',
  properties: { place: { type: 'string' } },
  required: ['place'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema', json_schema: { name: 'tide', schema: SCHEMA } };
const TIDE = {
  type: 'function',
  function: { name: 'tide', description: 'Tells the tide.', parameters: { $schema: 'x', ...SCHEMA } },
};
const SPEC = {
  toolSpec: {
    name: 'tide',
    description: 'Tells the tide.',
    inputSchema: { json: { type: 'object', properties: SCHEMA.properties, required: ['place'] } },
  },
};
const call = (id: string, args: string): object => ({
  id,
  type: 'function',
  function: { name: 'tide', arguments: args },
});

const user = (...content: readonly object[]): object => ({ messages: [{ role: 'user', content }] });
const PNG = { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1hZ2U=', detail: 'low' } };
const IMAGE = { image: { format: 'png', source: { bytes: 'aW1hZ2U=' } } };

describe('bedrock, converse', () => {
  it('takes every family without a wire of its own, with limits, system and tier', async () => {
    const { url, body, ignored } = await sent(MISTRAL, {
      messages: [
        { role: 'developer', content: 'terse' },
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
      max_completion_tokens: 9,
      max_tokens: 5,
      temperature: 0.2,
      top_p: 0.9,
      stop: ['END'],
      service_tier: 'priority',
      metadata: { team: 'harbour' },
    });
    expect(url).to.match(/\/model\/mistral\.mistral-large-2407-v1%3A0\/converse$/);
    expect(body).to.deep.equal({
      messages: [{ role: 'user', content: [{ text: 'a' }, { text: 'b' }] }],
      system: [{ text: 'terse' }],
      inferenceConfig: { maxTokens: 9, temperature: 0.2, topP: 0.9, stopSequences: ['END'] },
      serviceTier: { type: 'priority' },
      requestMetadata: { team: 'harbour' },
    });
    expect(ignored).to.deep.equal([]);
    expect(await bodyOf(PROFILE)).to.deep.equal({ messages: [{ role: 'user', content: [{ text: 'hi' }] }] });
  });

  it('takes Nova and Llama where their own wire has no place: tools, answers as JSON, media, tools of earlier turns', async () => {
    const turns = {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [call('x', '{}')] },
        { role: 'tool', tool_call_id: 'x', content: 'low' },
      ],
    };
    for (const model of [NOVA, LLAMA]) {
      for (const more of [
        { tools: [TIDE] },
        { response_format: { type: 'json_object' } },
        { response_format: FORMAT },
        turns,
      ])
        expect((await sent(model, more)).url, model).to.match(/\/converse$/);
      for (const more of [{ tools: [] }, { response_format: { type: 'text' } }, { tools: null }])
        expect((await sent(model, more)).url, model).to.match(/\/invoke$/);
      expect((await sent(model, { tools: [TIDE] }, true)).url, model).to.match(/\/converse-stream$/);
    }
    expect((await sent(NOVA, user(PNG))).url).to.match(/\/converse$/);
    expect((await bodyOf(LLAMA, { tools: [TIDE], stop: ['x'], max_tokens: 3 })).inferenceConfig).to.deep.equal({
      maxTokens: 3,
    });
  });

  it('has a place for metadata of texts only', async () => {
    for (const metadata of [
      { a: 1 },
      { ü: 'x' },
      'x',
      ['x'],
      { a: 'x'.repeat(257) },
      Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])),
    ]) {
      const { body, ignored } = await sent(MISTRAL, { metadata });
      expect({ ignored, sent: body.requestMetadata }, JSON.stringify(metadata)).to.deep.equal({
        ignored: ['metadata'],
        sent: undefined,
      });
    }
  });
});

describe('bedrock, tools through converse', () => {
  it('are declared with schemas every model takes', async () => {
    expect((await bodyOf(NOVA, { tools: [TIDE] })).toolConfig).to.deep.equal({ tools: [SPEC] });
    const bare = { type: 'function', function: { name: 'clock' } };
    const union = {
      type: 'function',
      function: { name: 'either', description: '', parameters: { anyOf: [{ type: 'object' }] } },
    };
    expect((await bodyOf(LLAMA, { tools: [bare, union] })).toolConfig.tools).to.deep.equal([
      { toolSpec: { name: 'clock', inputSchema: { json: { type: 'object', properties: {} } } } },
      { toolSpec: { name: 'either', inputSchema: { json: { type: 'object', properties: {} } } } },
    ]);
  });

  it('have one object as their input, also where alternatives stand at its root', async () => {
    const parameters = {
      oneOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'string' } } },
      ],
    };
    const [{ toolSpec }] = (await bodyOf(NOVA, { tools: [{ type: 'function', function: { name: 'f', parameters } }] }))
      .toolConfig.tools;
    expect(toolSpec.inputSchema.json)
      .to.deep.include({ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } })
      .and.not.have.any.keys('oneOf', 'required');
  });

  it("are refused when they are not functions, or take the name of the gateway's own", async () => {
    expect(await refusal(NOVA, { tools: [TIDE, { type: 'web_fetch' }] })).to.equal(
      'invalid_request: tools[1] must be a function with a name',
    );
    expect(await refusal(NOVA, { tools: [{ type: 'function', function: { name: ANSWER } }] })).to.include('tools[0]');
  });

  it('that search the web are left out and reported, and refused where nothing else is asked for', async () => {
    for (const model of [NOVA, MISTRAL, CLAUDE]) {
      for (const type of ['web_search', 'web_search_20250305', 'web_search_preview']) {
        const search = { type, name: 'web_search' };
        const { body, ignored } = await sent(model, { tools: [search, TIDE] });
        expect(ignored, model).to.deep.equal(['tools[0]']);
        expect(JSON.stringify(body), model).to.not.include('web_search');
        expect(await refusal(model, { tools: [search] }), model).to.match(/^unsupported_parameter: tools\[0\]/);
      }
    }
  });

  it('are chosen as the caller says, in families with a choice', async () => {
    const choices = { auto: { auto: {} }, required: { any: {} } } as const;
    for (const [asked, native] of Object.entries(choices))
      expect((await bodyOf(MISTRAL, { tools: [TIDE], tool_choice: asked })).toolConfig.toolChoice, asked).to.deep.equal(
        native,
      );
    expect(
      (await bodyOf(MISTRAL, { tools: [TIDE], tool_choice: { type: 'function', function: { name: 'tide' } } }))
        .toolConfig.toolChoice,
    ).to.deep.equal({ tool: { name: 'tide' } });
    expect((await bodyOf(MISTRAL, { tools: [TIDE], tool_choice: 'none' })).toolConfig).to.equal(undefined);
    for (const asked of ['sometimes', null, { type: 'function' }, { type: 'function', function: { name: '' } }]) {
      const { body, ignored } = await sent(MISTRAL, { tools: [TIDE], tool_choice: asked });
      expect({ config: body.toolConfig, ignored }, JSON.stringify(asked)).to.deep.equal({
        config: { tools: [SPEC] },
        ignored: asked === null ? [] : ['tool_choice'],
      });
    }
    expect((await bodyOf(MISTRAL, { tool_choice: 'required' })).toolConfig).to.equal(undefined);
    expect((await bodyOf(LLAMA, { tools: [TIDE], tool_choice: 'required' })).toolConfig).to.deep.equal({
      tools: [SPEC],
    });
  });

  it('called in parallel come back in one turn', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: 'looking',
        tool_calls: [call('call_1', '{"place":"Brest"}'), call('call_2', 'oops'), call('call_3', '[1]')],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'low' },
      {
        role: 'tool',
        tool_call_id: 'call_2',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'gh' },
        ],
      },
      { role: 'tool', tool_call_id: 'call_3', content: '' },
      { role: 'user', content: 'and?' },
    ];
    const body = await bodyOf(NOVA, { messages });
    expect(body.messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { text: 'looking' },
          { toolUse: { toolUseId: 'call_1', name: 'tide', input: { place: 'Brest' } } },
          { toolUse: { toolUseId: 'call_2', name: 'tide', input: {} } },
          { toolUse: { toolUseId: 'call_3', name: 'tide', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: 'low' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: 'high' }] } },
          { toolResult: { toolUseId: 'call_3', content: [] } },
          { text: 'and?' },
        ],
      },
    ]);
    expect(body.toolConfig).to.deep.equal({
      tools: [{ toolSpec: { name: 'tide', inputSchema: { json: { type: 'object', properties: {} } } } }],
    });
  });

  it('stay declared for earlier turns although the caller wants none called, which is reported', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [call('x', '{}')] },
      { role: 'tool', tool_call_id: 'x', content: 'low' },
    ];
    const { body, ignored } = await sent(MISTRAL, { messages, tools: [TIDE], tool_choice: 'none' });
    expect({ config: body.toolConfig, ignored }).to.deep.equal({ config: { tools: [SPEC] }, ignored: ['tool_choice'] });
  });

  it('keep what a cache marks where the model has one for tools', async () => {
    const marked = { ...TIDE, cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect((await bodyOf(PROFILE, { tools: [marked] })).toolConfig.tools).to.deep.equal([
      SPEC,
      { cachePoint: { type: 'default', ttl: '1h' } },
    ]);
    const nova = await sent(NOVA, { tools: [marked] });
    expect({ tools: nova.body.toolConfig.tools, ignored: nova.ignored }).to.deep.equal({
      tools: [SPEC],
      ignored: ['cache_control'],
    });
  });

  it('that failed without a word have one, and those that did not stay as they are', async () => {
    for (const content of ['', ' ', [], [{ type: 'text', text: '' }]]) {
      const resultOf = async (more: object): Promise<unknown> => {
        const messages = [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: null, tool_calls: [call('c1', '{}')] },
          { role: 'tool', tool_call_id: 'c1', content, ...more },
        ];
        const { body } = await sent(NOVA, { messages, tools: [TIDE] });
        return body.messages.at(-1).content[0].toolResult;
      };
      expect(await resultOf({ is_error: true })).to.deep.include({ content: [{ text: 'error' }], status: 'error' });
      expect(await resultOf({})).to.deep.include({ content: [] });
    }
  });

  it('bring images with their results', async () => {
    const messages = [
      { role: 'assistant', content: null, tool_calls: [call('x', '{}')] },
      { role: 'tool', tool_call_id: 'x', content: [{ type: 'text', text: 'see' }, PNG] },
    ];
    expect((await bodyOf(NOVA, { messages, tools: [TIDE] })).messages[1].content).to.deep.equal([
      { toolResult: { toolUseId: 'x', content: [{ text: 'see' }, IMAGE] } },
    ]);
  });
});

describe('bedrock, answers as JSON through converse', () => {
  const answerTool = (json: object): object => ({
    toolSpec: {
      name: ANSWER,
      description: 'Takes the answer. Its input is the whole answer, as one JSON object.',
      inputSchema: { json },
    },
  });
  const WANTED = { type: 'object', properties: SCHEMA.properties, required: ['place'] };

  it('are the input of a tool that Nova must call', async () => {
    expect((await bodyOf(NOVA, { response_format: FORMAT })).toolConfig).to.deep.equal({
      tools: [answerTool(WANTED)],
      toolChoice: { tool: { name: ANSWER } },
    });
    for (const response_format of [
      { type: 'json_object' },
      { type: 'json_schema' },
      { type: 'json_schema', json_schema: 'x' },
    ]) {
      expect((await bodyOf(NOVA, { response_format })).toolConfig.tools).to.deep.equal([
        answerTool({ type: 'object', properties: {} }),
      ]);
    }
  });

  it('are the input of the one tool there is where only some tool can be demanded', async () => {
    expect((await bodyOf('mistral.mistral-large-2402-v1:0', { response_format: FORMAT })).toolConfig).to.deep.equal({
      tools: [answerTool(WANTED)],
      toolChoice: { any: {} },
    });
  });

  it("are beside the caller's tools one way more to go on", async () => {
    expect((await bodyOf(NOVA, { response_format: FORMAT, tools: [TIDE] })).toolConfig).to.deep.equal({
      tools: [SPEC, answerTool(WANTED)],
      toolChoice: { any: {} },
    });
  });

  it('are asked of Llama in words, which cannot be made to call', async () => {
    const body = await bodyOf(LLAMA, {
      response_format: FORMAT,
      messages: [
        { role: 'system', content: 'terse' },
        { role: 'user', content: 'hi' },
      ],
    });
    expect(body.toolConfig).to.deep.equal({ tools: [answerTool(WANTED)] });
    expect(body.system).to.deep.equal([{ text: 'terse' }, { text: `Give your answer by calling the tool ${ANSWER}.` }]);
  });

  it("are the vendor's text format where the model has it", async () => {
    const qwen = await bodyOf('qwen.qwen3-235b-a22b-2507-v1:0', { response_format: FORMAT });
    expect(qwen).to.deep.include({
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'tide', schema: JSON.stringify(SCHEMA) } },
        },
      },
    });
    expect(qwen).to.not.have.any.keys('toolConfig', 'system');
    expect(await bodyOf('deepseek.r1-v1:0', { response_format: FORMAT })).to.not.have.property('outputConfig');
  });

  it('give way to a tool the caller wants called, which is reported', async () => {
    const { body, ignored } = await sent(MISTRAL, { response_format: FORMAT, tools: [TIDE], tool_choice: 'required' });
    expect({ config: body.toolConfig, ignored }).to.deep.equal({
      config: { tools: [SPEC], toolChoice: { any: {} } },
      ignored: ['response_format'],
    });
  });
});

describe('bedrock, media and thoughts through converse', () => {
  it('sends images, documents and audio with the request', async () => {
    const content = [
      { type: 'text', text: 'look' },
      PNG,
      { type: 'image_url', image_url: { url: 'DATA:image/JPG;base64,AAAA' } },
      {
        type: 'file',
        file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'Tide table: 2026 (draft).pdf' },
      },
      { type: 'file', file: { file_data: 'data:text/markdown;base64,IyA=' } },
      { type: 'file', file: { file_data: 'data:image/webp;base64,AAAA', filename: 'x.webp' } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    ];
    expect((await bodyOf('mistral.voxtral-small-24b-2507', user(...content))).messages[0].content).to.deep.equal([
      { text: 'look' },
      IMAGE,
      { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
      { document: { format: 'pdf', name: 'Tide table 2026 (draft) (0-3)', source: { bytes: 'JVBE' } } },
      { document: { format: 'md', name: 'document (0-4)', source: { bytes: 'IyA=' } } },
      { image: { format: 'webp', source: { bytes: 'AAAA' } } },
      { audio: { format: 'wav', source: { bytes: 'UklGRg==' } } },
    ]);
    expect((await bodyOf('us.meta.llama4-scout-17b-instruct-v1:0', user(PNG))).messages[0].content).to.deep.equal([
      IMAGE,
    ]);
    const bare = { type: 'file', file: { file_data: 'UEsD', filename: 'tides.xlsx' } };
    expect((await bodyOf(NOVA, user(bare))).messages[0].content).to.deep.equal([
      { document: { format: 'xlsx', name: 'tides (0-0)', source: { bytes: 'UEsD' } } },
      { text: 'tides (0-0)' },
    ]);
  });

  it('refuses what the service cannot fetch or read, by its place', async () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'https://x/y.png' } },
      { type: 'image_url', image_url: { url: 'data:image/png,raw' } },
      { type: 'image_url', image_url: {} },
      { type: 'image_url' },
      { type: 'image_url', image_url: { url: 'data:image/bmp;base64,AA==' } },
      { type: 'file', file: { file_id: 'f' } },
      { type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'midi' } },
      { type: 'input_audio', input_audio: {} },
      { type: 'video_url', video_url: { url: 'x' } },
    ];
    for (const part of parts)
      expect(await refusal(PROFILE, user({ type: 'text', text: 'a' }, part)), JSON.stringify(part)).to.match(
        /^invalid_request: messages\[0\]\.content\[1\]/,
      );
  });

  it('returns thoughts with their signatures, and leaves those of others behind', async () => {
    const reasoning_details = [
      { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'Two places.', signature: 'c2ln' },
      { type: 'reasoning.encrypted', index: 1, format: 'anthropic-claude-v1', data: 'c2VhbGVk' },
      { type: 'reasoning.text', index: 2, format: 'google-gemini-v1', text: 'x', signature: 'y' },
    ];
    const body = await bodyOf(PROFILE, {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b', reasoning_content: 'Two places.', reasoning_details },
      ],
    });
    expect(body.messages[1].content).to.deep.equal([
      { reasoningContent: { reasoningText: { text: 'Two places.', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'c2VhbGVk' } },
      { text: 'b' },
    ]);
  });

  it('takes an answer back unchanged: thoughts, text and calls, streamed or not, and the results after it', async () => {
    const native = fixture('chat/converse-tools-reply.json');
    const whole = translateReply(bedrock, callFor(PROFILE), native);
    const streamed = relayStream(bedrock, callFor(PROFILE, { stream: true }), [
      streamOf('chat/converse-tools-stream.json'),
    ]).reply;
    for (const {
      choices: [choice],
    } of [whole, streamed]) {
      const results = (choice?.message.tool_calls ?? []).map(({ id }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'low',
      }));
      const { messages } = await bodyOf(PROFILE, {
        tools: [TIDE],
        messages: [{ role: 'user', content: 'hi' }, choice?.message, ...results],
      });
      expect(messages[1]).to.deep.equal({ role: 'assistant', content: native.output.message.content });
      expect(messages[2].content.map(({ toolResult }: any) => toolResult.toolUseId)).to.deep.equal([
        'tooluse_1',
        'tooluse_2',
      ]);
    }
  });

  it('asks for thinking where the model has a measure of it', async () => {
    const nova2 = 'us.amazon.nova-2-lite-v1:0';
    const fieldsOf = async (model: string, more: object): Promise<unknown> =>
      (await bodyOf(model, more)).additionalModelRequestFields;
    expect(await fieldsOf(nova2, { reasoning_effort: 'minimal', top_k: 5 })).to.deep.equal({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
      inferenceConfig: { topK: 5 },
    });
    expect(await fieldsOf(nova2, { reasoning_effort: 'high' })).to.deep.equal({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
    });
    expect(await fieldsOf(nova2, { reasoning_effort: 'high', max_tokens: 10 })).to.deep.equal({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' },
    });
    expect(await sent(nova2, { reasoning_effort: 'none' }))
      .to.deep.include({ ignored: [] })
      .and.have.property('body')
      .that.does.not.have.property('additionalModelRequestFields');
    expect(await fieldsOf('openai.gpt-oss-120b-1:0', { reasoning_effort: 'high' })).to.deep.equal({
      reasoning_effort: 'high',
    });
    for (const model of [NOVA, MISTRAL, LLAMA])
      expect((await sent(model, { reasoning_effort: 'low' })).ignored, model).to.deep.equal(['reasoning_effort']);
    for (const [effort, word] of [
      ['none', 'none'],
      ['minimal', 'low'],
      ['high', 'high'],
      ['xhigh', 'xhigh'],
      ['max', 'xhigh'],
    ]) {
      expect(await fieldsOf('global.openai.gpt-5.6-luna', { reasoning_effort: effort }), effort).to.deep.equal({
        reasoning: { effort: word },
      });
    }
    expect((await bodyOf(CLAUDE, { reasoning_effort: 'low' })).thinking).to.deep.equal({
      type: 'enabled',
      budget_tokens: 2048,
    });
  });

  it('leaves out what a model has no field for, and says so', async () => {
    const asked = { temperature: 0.5, top_p: 0.9, stop: ['END'], max_tokens: 9 };
    for (const [model, inferenceConfig, ignored] of [
      ['openai.gpt-5.6-terra', { maxTokens: 9 }, ['temperature', 'top_p', 'stop']],
      ['global.openai.gpt-6-luna', { maxTokens: 9 }, ['temperature', 'top_p', 'stop']],
      ['openai.gpt-oss-120b-1:0', { maxTokens: 9, temperature: 0.5, topP: 0.9 }, ['stop']],
      ['us.xai.grok-4.6', { maxTokens: 9, stopSequences: ['END'] }, ['temperature', 'top_p']],
      ['moonshotai.kimi-k3', { maxTokens: 9, stopSequences: ['END'] }, ['temperature', 'top_p']],
      ['zai.glm-5', { maxTokens: 9, temperature: 0.5, topP: 0.9 }, ['stop']],
      ['qwen.qwen3-32b-v1:0', { maxTokens: 9, temperature: 0.5, topP: 0.9 }, ['stop']],
      [MISTRAL, { maxTokens: 9, temperature: 0.5, topP: 0.9, stopSequences: ['END'] }, []],
    ] as const) {
      expect(await sent(model, asked), model)
        .to.deep.include({ ignored })
        .and.have.nested.property('body.inferenceConfig')
        .that.deep.equals(inferenceConfig);
    }
    expect(await sent('openai.gpt-5.6-terra', { temperature: 1.5 }), 'not bounded either').to.not.have.property(
      'bounded',
      'temperature',
    );
  });

  it('gives calls the ids that Mistral takes, each its own', async () => {
    const called = (id: string): object => ({ id, type: 'function', function: { name: 'tide', arguments: '{}' } });
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [called('tooluse_abc1'), called('tooluse_abc2'), called('aB3dE5gH7')] },
      ...['tooluse_abc1', 'tooluse_abc2', 'aB3dE5gH7'].map((id) => ({ role: 'tool', tool_call_id: id, content: id })),
    ];
    for (const model of [MISTRAL, 'us.mistral.pixtral-large-2502-v1:0']) {
      const [, turn, results] = (await bodyOf(model, { messages })).messages;
      const ids = turn.content.map(({ toolUse }: any) => toolUse.toolUseId);
      expect(new Set(ids).size, model).to.equal(3);
      for (const id of ids) expect(id).to.match(/^[a-zA-Z0-9]{9}$/);
      expect(ids[2]).to.equal('aB3dE5gH7');
      expect(
        results.content.map(({ toolResult }: any) => [toolResult.toolUseId, toolResult.content[0].text]),
      ).to.deep.equal([
        [ids[0], 'tooluse_abc1'],
        [ids[1], 'tooluse_abc2'],
        [ids[2], 'aB3dE5gH7'],
      ]);
    }
  });

  it('takes input that comes as the text of an object', () => {
    const content = [{ toolUse: { toolUseId: 't', name: 'tide', input: '{"depth":3}' } }];
    const {
      choices: [choice],
    } = translateReply(bedrock, callFor(MISTRAL), {
      output: { message: { role: 'assistant', content } },
      stopReason: 'tool_use',
      usage: {},
    });
    expect(choice?.message.tool_calls?.[0]?.function.arguments).to.equal('{"depth":3}');
  });

  it('names a tool without the marks of a channel that gpt-oss leaves behind it, also one that holds the answer', async () => {
    const model = 'openai.gpt-oss-120b-1:0';
    const reply = (name: string): object => ({
      output: { message: { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name, input: { depth: 3 } } }] } },
      stopReason: 'tool_use',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    });
    const events = (name: string): Buffer =>
      Buffer.concat(
        (
          [
            ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name } } }],
            ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"depth":3}' } } }],
            ['contentBlockStop', { contentBlockIndex: 0 }],
            ['messageStop', { stopReason: 'tool_use' }],
          ] as const
        ).map(([type, payload]) => event(type, payload)),
      );
    const both = (name: string): any[] =>
      [
        translateReply(bedrock, callFor(model), reply(name)),
        relayStream(bedrock, callFor(model, { stream: true }), [events(name)]).reply,
      ].map(({ choices: [choice] }) => choice);
    for (const { message } of both('tide<|channel|>commentary'))
      expect(message.tool_calls[0].function).to.deep.equal({ name: 'tide', arguments: '{"depth":3}' });
    for (const { message, finish_reason } of both('gw_structured_answer<|channel|>json')) {
      expect(message).to.include({ content: '{"depth":3}' }).and.not.have.property('tool_calls');
      expect(finish_reason).to.equal('stop');
    }
    const messages = [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        tool_calls: [{ id: 't', type: 'function', function: { name: 'tide<|channel|>commentary', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't', content: '1' },
    ];
    const body = await bodyOf(model, { messages });
    expect(body.messages[1].content[0].toolUse.name).to.equal('tide');
    expect(body.toolConfig.tools[0].toolSpec.name).to.equal('tide');
  });
});
