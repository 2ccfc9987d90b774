import { expect } from 'chai';
import anthropic from '../../providers/anthropic/index.ts';
import cohere from '../../providers/cohere/index.ts';
import deepseek from '../../providers/deepseek/index.ts';
import mistral from '../../providers/mistral/index.ts';
import moonshot from '../../providers/moonshot/index.ts';
import perplexity from '../../providers/perplexity/index.ts';
import qwen from '../../providers/qwen/index.ts';
import { ask, refusedBy, sentBy } from '../kit/index.ts';
import { bodyOf as bedrockBody, NOVA } from './bedrock-support.ts';

/** What the strict vendors of the tests have found: requests that the real ones refuse. */

const bodyOf = async (more: object): Promise<any> =>
  (await sentBy(anthropic, 'chat', { ...ask('hi', { model: SONNET }), ...more } as never)).body;
const SONNET = 'claude-sonnet-4-5';
const tuple = {
  type: 'object',
  properties: {
    at: {
      type: 'array',
      items: [
        { type: 'number' },
        { anyOf: [{ type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'null' } }] },
      ],
      additionalItems: false,
      minItems: 2,
      maxItems: 2,
    },
  },
};
const current = {
  type: 'object',
  properties: {
    at: {
      type: 'array',
      prefixItems: [
        { type: 'number' },
        { anyOf: [{ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' } }] },
      ],
      items: false,
      minItems: 2,
      maxItems: 2,
    },
  },
};

describe('requests to Claude', () => {
  it('say tuples as the draft does that the vendor checks by', async () => {
    const tools = [{ type: 'function', function: { name: 'mark', parameters: tuple } }];
    expect((await bodyOf({ tools })).tools[0].input_schema).to.deep.equal(current);
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema: tuple } };
    expect((await bodyOf({ response_format })).tools[0].input_schema).to.deep.equal(current);
  });

  it('leave schemas of that draft as they are, whatever their members are called', async () => {
    const parameters = {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'string' } },
        additionalItems: { type: 'string', enum: ['a'], default: [{}] },
      },
      required: ['items'],
    };
    const { tools } = await bodyOf({ tools: [{ type: 'function', function: { name: 'mark', parameters } }] });
    expect(tools[0].input_schema).to.deep.equal(parameters);
  });

  it('hold no instructions that say nothing', async () => {
    const messages = [
      { role: 'system', content: ' \n' },
      { role: 'user', content: 'hi' },
    ];
    expect(await bodyOf({ messages })).to.not.have.property('system');
    expect(await bodyOf({ messages: [{ role: 'system', content: 'be brief' }, ...messages] })).to.have.property(
      'system',
      'be brief',
    );
  });

  it('do not think about an answer that is begun without thinking, and say so', async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'It is' },
    ];
    for (const asked of [{ reasoning_effort: 'high' }, { thinking: { type: 'enabled', budget_tokens: 2000 } }]) {
      const { body, ignored } = await sentBy(anthropic, 'chat', {
        model: SONNET,
        messages,
        max_tokens: 9000,
        ...asked,
      });
      expect(body).to.not.have.property('thinking');
      expect(ignored).to.deep.equal(Object.keys(asked));
    }
  });
});

describe('requests through converse', () => {
  it('hold a text beside every document: the name, where the caller says none', async () => {
    const file = { type: 'file', file: { filename: 'tides.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } };
    const contentOf = async (...content: readonly object[]): Promise<any[]> =>
      (await bedrockBody(NOVA, { messages: [{ role: 'user', content }] })).messages[0].content;
    const [document, text] = await contentOf(file);
    expect(text).to.deep.equal({ text: document.document.name });
    expect(
      (await contentOf(file, { type: 'text', text: 'sum it up' })).map((block) => Object.keys(block)[0]),
    ).to.deep.equal(['document', 'text']);
  });
});

const sentTo = (module: typeof anthropic, more: object, model = 'm'): Promise<any> =>
  sentBy(module, 'chat', { ...ask('hi', { model }), ...more } as never);
const CALLED = [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'abcdefgh1', type: 'function', function: { name: 'tide', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'abcdefgh1', content: '7' },
];

describe('requests to mistral', () => {
  it('have a turn of the assistant between results and the next question', async () => {
    const rolesOf = async (...more: readonly object[]): Promise<string[]> =>
      (await sentTo(mistral, { messages: [...CALLED, ...more] })).body.messages.map(({ role }: any) => role);
    expect(await rolesOf({ role: 'user', content: 'and now?' })).to.deep.equal([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(await rolesOf()).to.deep.equal(['user', 'assistant', 'tool']);
    expect(await rolesOf({ role: 'assistant', content: 'calm' }, { role: 'user', content: 'and now?' })).to.deep.equal([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it("do not end with the system's turn", async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'be brief' },
    ];
    expect((await sentTo(mistral, { messages })).body.messages.map(({ role }: any) => role)).to.deep.equal([
      'system',
      'user',
    ]);
  });

  it("keep sampling within the vendor's bounds, and say so", async () => {
    const { body, bounded, ignored } = await sentTo(mistral, { temperature: 2, seed: -3, top_p: 0.5 });
    expect(body).to.include({ temperature: 1.5, random_seed: 0, top_p: 0.5 });
    expect({ bounded, ignored }).to.deep.equal({ bounded: ['temperature', 'seed'], ignored: [] });
    const greedy = await sentTo(mistral, { temperature: 0, top_p: 0.5 });
    expect(greedy.body).to.include({ temperature: 0 }).and.not.have.property('top_p');
    expect(greedy.ignored).to.deep.equal(['top_p']);
    expect((await sentTo(mistral, { temperature: 0, top_p: 1 })).body).to.include({ top_p: 1 });
  });
});

describe('requests to cohere', () => {
  it("keep sampling within the vendor's bounds, and say so", async () => {
    const { body, bounded } = await sentTo(cohere, { top_p: 1, frequency_penalty: -1, presence_penalty: 2, seed: -3 });
    expect(body).to.include({ p: 0.99, frequency_penalty: 0, presence_penalty: 1, seed: 0 });
    expect(bounded).to.have.members(['top_p', 'frequency_penalty', 'presence_penalty', 'seed']);
    expect((await sentTo(cohere, { top_p: 0, frequency_penalty: 0.5 })).body).to.include({
      p: 0.01,
      frequency_penalty: 0.5,
    });
  });

  it('declare what functions without arguments take', async () => {
    expect(
      (await sentTo(cohere, { tools: [{ type: 'function', function: { name: 'now' } }] })).body.tools[0].function
        .parameters,
    ).to.deep.equal({ type: 'object', properties: {} });
  });

  it('hold no turns that say nothing, and name the file of a turn that is nothing else', async () => {
    const blank = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '' },
      { role: 'user', content: [{ type: 'text', text: '' }] },
      { role: 'user', content: 'still there?' },
    ];
    expect((await sentTo(cohere, { messages: blank })).body.messages).to.deep.equal([
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'still there?' },
    ]);
    const file = { type: 'file', file: { filename: 'tides.txt', file_data: 'data:text/plain;base64,Nw==' } };
    const { body } = await sentTo(cohere, { messages: [{ role: 'user', content: [file] }] });
    expect(body).to.deep.include({
      messages: [{ role: 'user', content: 'tides.txt' }],
      documents: [{ data: { text: '7', title: 'tides.txt' } }],
    });
    expect(await refusedBy(cohere, 'chat', { ...ask('', { model: 'm' }) } as never)).to.have.property(
      'code',
      'invalid_request',
    );
  });
});

describe('requests to perplexity', () => {
  it('ask for any JSON by a schema, as the vendor knows no other way', async () => {
    expect((await sentTo(perplexity, { response_format: { type: 'json_object' } })).body.response_format).to.deep.equal(
      { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    );
  });

  it('force a function by leaving the others out', async () => {
    const tools = ['tide', 'wind'].map((name) => ({
      type: 'function',
      function: { name, description: 'at a harbour', parameters: { type: 'object', properties: {} } },
    }));
    const { body } = await sentTo(perplexity, { tools, tool_choice: { type: 'function', function: { name: 'wind' } } });
    expect(body).to.deep.include({ tools: [tools[1]], tool_choice: 'required' });
    expect((await sentTo(perplexity, { tools, tool_choice: 'auto' })).body).to.deep.include({
      tools,
      tool_choice: 'auto',
    });
  });

  it('use the efforts that the vendor knows', async () => {
    expect(await sentTo(perplexity, { reasoning_effort: 'xhigh' }))
      .to.deep.include({ bounded: ['reasoning_effort'] })
      .and.to.have.nested.property('body.reasoning_effort', 'high');
    expect(await sentTo(perplexity, { reasoning_effort: 'none' }))
      .to.deep.include({ ignored: ['reasoning_effort'] })
      .and.not.have.nested.property('body.reasoning_effort');
    expect(await sentTo(perplexity, { reasoning_effort: 'low' }))
      .to.deep.include({ bounded: [], ignored: [] })
      .and.to.have.nested.property('body.reasoning_effort', 'low');
  });
});

describe('an effort of none', () => {
  it('switches thinking off by the field that the vendor has for it', async () => {
    expect((await sentTo(deepseek, { reasoning_effort: 'none' })).body)
      .to.deep.include({ thinking: { type: 'disabled' } })
      .and.not.have.property('reasoning_effort');
    expect((await sentTo(moonshot, { reasoning_effort: 'none' }, 'kimi-k2.6')).body)
      .to.deep.include({ thinking: { type: 'disabled' } })
      .and.not.have.property('reasoning_effort');
    expect((await sentTo(qwen, { reasoning_effort: 'none' })).body)
      .to.include({ enable_thinking: false })
      .and.not.have.property('reasoning_effort');
  });

  it('is named where a model always thinks; other efforts travel', async () => {
    const kimi = await sentTo(moonshot, { reasoning_effort: 'none' }, 'kimi-k3');
    expect(kimi.ignored).to.deep.equal(['reasoning_effort']);
    expect(kimi.body).to.not.have.property('thinking');
    for (const module of [deepseek, moonshot, qwen])
      expect((await sentTo(module, { reasoning_effort: 'low' })).body)
        .to.include({ reasoning_effort: 'low' })
        .and.not.have.any.keys('thinking', 'enable_thinking');
  });
});
