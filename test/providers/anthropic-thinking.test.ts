import { expect } from 'chai';
import { claudeTraits } from '../../providers/_common/anthropic/index.ts';
import { shippedFacts } from '../kit/facts.ts';
import { bodyOf, MODEL, sent } from './anthropic-support.ts';

const TOOL = { type: 'function', function: { name: 'tide' } };
const SCHEMA = {
  type: 'object',
  properties: { open: { type: 'integer', minimum: 0 }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['open'],
};
const formatOf = (schema: unknown): object => ({ type: 'json_schema', json_schema: { name: 'hours', schema } });

describe('anthropic, models', () => {
  for (const [model, thinking, holdsSchemas] of [
    ['claude-3-5-sonnet-20241022', 'none', false],
    ['claude-3-opus-20240229', 'none', false],
    ['claude-2.1', 'none', false],
    ['claude-3-7-sonnet-20250219', 'budget', false],
    ['claude-opus-4-20250514', 'budget', false],
    ['claude-opus-4-1', 'budget', false],
    ['claude-sonnet-4-5-20250929', 'budget', true],
    ['claude-haiku-4-5', 'budget', true],
    ['claude-opus-4-6', 'adaptive', true],
    ['claude-opus-4-7', 'adaptive', true],
    ['claude-sonnet-5', 'adaptive', true],
    ['claude-mythos-preview', 'adaptive', true],
    ['house-model', 'budget', false],
  ] as const) {
    it(`of the name ${model} think by ${thinking}`, () => {
      expect(claudeTraits(shippedFacts('anthropic', model))).to.include({ thinking, holdsSchemas });
    });
  }
});

describe('anthropic, thinking', () => {
  it('by effort is a budget, and the default ceiling stands above it', async () => {
    const budgets = [];
    for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']) {
      const { thinking, max_tokens } = await bodyOf({ reasoning_effort: effort });
      expect(thinking.type).to.equal('enabled');
      expect(max_tokens)
        .to.equal(thinking.budget_tokens + 1024)
        .and.be.at.most(32_000);
      budgets.push(thinking.budget_tokens);
    }
    expect(budgets[0]).to.equal(1024);
    expect(budgets).to.deep.equal(budgets.toSorted((a, b) => a - b));
  });

  it("by effort stays within the caller's ceiling, or is left out and named", async () => {
    for (let ceiling = 1; ceiling < 40_000; ceiling = Math.ceil(ceiling * 1.3)) {
      const { body, ignored } = await sent({ reasoning_effort: 'high', max_tokens: ceiling });
      expect(body.max_tokens).to.equal(ceiling);
      if (body.thinking) expect(body.thinking.budget_tokens).to.be.within(1024, ceiling - 1);
      else expect(ignored).to.deep.equal(['reasoning_effort']);
      expect(body.thinking !== undefined, `at ${ceiling}`).to.equal(ceiling >= 1280);
    }
  });

  it('as the caller gives it travels, unless its budget is below 1,024 or not below the ceiling', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    expect(await bodyOf({ thinking })).to.deep.include({ thinking, max_tokens: 3024 });
    expect(await bodyOf({ thinking, max_tokens: 2001 })).to.deep.include({ thinking, max_tokens: 2001 });
    for (const [budget_tokens, max_tokens] of [
      [1023, undefined],
      [512, 4096],
      [2000, 2000],
      [undefined, undefined],
      ['2000', undefined],
    ]) {
      const { body, ignored } = await sent({ thinking: { type: 'enabled', budget_tokens }, max_tokens });
      expect(body).to.not.have.property('thinking');
      expect(ignored).to.deep.equal(['thinking']);
    }
    expect(await bodyOf({ model: 'claude-opus-4-8', thinking: { type: 'adaptive' } })).to.deep.include({
      thinking: { type: 'adaptive' },
    });
  });

  it('of the newest models is adaptive, by effort', async () => {
    for (const [effort, word] of [
      ['minimal', 'low'],
      ['low', 'low'],
      ['high', 'high'],
      ['xhigh', 'xhigh'],
    ]) {
      const body = await bodyOf({ model: 'claude-opus-4-8', reasoning_effort: effort });
      expect(body).to.deep.include({
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: word },
      });
      expect(body.max_tokens).to.be.above(1024);
    }
    const translated = await bodyOf({ model: 'claude-sonnet-5', thinking: { type: 'enabled', budget_tokens: 8000 } });
    expect(translated).to.deep.include({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'medium' },
    });
    expect(
      (await bodyOf({ model: 'claude-opus-4-8', reasoning_effort: 'low', output_config: { effort: 'max' } }))
        .output_config,
    ).to.deep.equal({ effort: 'max' });
  });

  it('is switched off where it would run unasked, and named where it cannot be', async () => {
    expect(await bodyOf({ reasoning_effort: 'none' })).to.not.have.property('thinking');
    expect((await bodyOf({ model: 'claude-opus-5', reasoning_effort: 'none' })).thinking).to.deep.equal({
      type: 'disabled',
    });
    expect((await bodyOf({ model: 'claude-opus-5', thinking: { type: 'disabled' } })).thinking).to.deep.equal({
      type: 'disabled',
    });
    const { body, ignored } = await sent({ model: 'claude-fable-5', reasoning_effort: 'none' });
    expect(body).to.not.have.property('thinking');
    expect(body.output_config, 'the least it thinks').to.deep.equal({ effort: 'low' });
    expect(ignored).to.deep.equal(['reasoning_effort']);
  });

  it('is not switched off beside an effort that is too high for it', async () => {
    const off = (effort: string): ReturnType<typeof sent> =>
      sent({ model: 'claude-opus-5', thinking: { type: 'disabled' }, output_config: { effort } });
    expect((await off('high')).body.thinking).to.deep.equal({ type: 'disabled' });
    const { body, ignored } = await off('max');
    expect([body.thinking, body.output_config, ignored]).to.deep.equal([undefined, { effort: 'max' }, ['thinking']]);
  });

  it('of Claude 4.6 and Opus 5 adapts to an effort and takes a budget too', async () => {
    for (const model of ['claude-sonnet-4-6', 'claude-opus-5']) {
      const asked = (more: object): Promise<any> => bodyOf({ model, ...more });
      expect(await asked({ reasoning_effort: 'medium' })).to.deep.include({
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'medium' },
      });
      const thinking = { type: 'enabled', budget_tokens: 8000 };
      expect(await asked({ thinking }))
        .to.deep.include({ thinking })
        .and.not.have.property('output_config');
      expect(await asked({ thinking, max_tokens: 4000 }), 'no room for it').to.deep.include({
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'medium' },
      });
    }
    const { body, bounded } = await sent({ model: 'claude-opus-4-6', reasoning_effort: 'xhigh' });
    expect([body.output_config, bounded]).to.deep.equal([{ effort: 'max' }, ['reasoning_effort']]);
  });

  it('of a budget above what the model takes is bounded, and so is a ceiling that the catalog does not know', async () => {
    const model = 'claude-opus-4-1';
    const thinking = { type: 'enabled', budget_tokens: 50_000 };
    const { body, bounded } = await sent({ model, thinking, max_tokens: 60_000 });
    expect([body.thinking.budget_tokens, body.max_tokens, bounded]).to.deep.equal([
      31_999,
      32_000,
      ['max_tokens', 'thinking'],
    ]);
    const known = await sent({ max_tokens: 5000 }, false, { maxOutputTokens: 64_000, facts: { max_output: 100 } });
    expect([known.body.max_tokens, known.bounded]).to.deep.equal([5000, []]);
  });

  it('is the least that Sonnet 5.5 takes where it would be switched off', async () => {
    for (const wish of [
      { reasoning_effort: 'none' },
      { thinking: { type: 'disabled' } },
      { thinking: { type: 'between_tools' }, reasoning_effort: 'xhigh' },
    ]) {
      const { body, ignored } = await sent({ model: 'claude-sonnet-5-5', ...wish });
      expect(body.thinking).to.deep.equal({ type: 'between_tools' });
      expect(body.output_config).to.deep.equal(
        'thinking' in wish && 'reasoning_effort' in wish ? { effort: 'high' } : undefined,
      );
      expect(ignored).to.deep.equal([]);
    }
    expect(await sent({ model: 'claude-opus-5-5', reasoning_effort: 'none' })).to.have.deep.property('ignored', [
      'reasoning_effort',
    ]);
  });

  it('is left out, and named, where the model cannot think or the field has an unknown form', async () => {
    for (const wish of [
      { model: 'claude-3-5-sonnet-20241022', reasoning_effort: 'high' },
      { reasoning_effort: 'furious' },
    ])
      expect(await sent(wish)).to.have.deep.property('ignored', ['reasoning_effort']);
    for (const wish of [
      { thinking: true },
      { thinking: {} },
      { model: 'claude-3-haiku-20240307', thinking: { type: 'enabled', budget_tokens: 2000 } },
    ])
      expect(await sent(wish)).to.have.deep.property('ignored', ['thinking']);
  });

  it('gives way to a tool that must be called', async () => {
    const { body, ignored } = await sent({ reasoning_effort: 'low', tools: [TOOL], tool_choice: 'required' });
    expect(body)
      .to.deep.include({ tool_choice: { type: 'any' } })
      .and.not.have.property('thinking');
    expect(ignored).to.deep.equal(['reasoning_effort']);
    expect((await bodyOf({ model: 'claude-opus-5', tools: [TOOL], tool_choice: 'required' })).thinking).to.deep.equal({
      type: 'disabled',
    });
    const beside = await sent({
      model: 'claude-fable-5',
      reasoning_effort: 'low',
      tools: [TOOL],
      tool_choice: 'required',
    });
    expect([beside.body.tool_choice, beside.body.thinking, beside.body.output_config, beside.ignored]).to.deep.equal([
      { type: 'any' },
      undefined,
      { effort: 'low' },
      [],
    ]);
    const never = await sent({ model: 'claude-fable-5-1', tools: [TOOL], tool_choice: 'required' });
    expect([never.body.tool_choice, never.ignored]).to.deep.equal([undefined, ['tool_choice']]);
  });

  it('leaves out what it restricts', async () => {
    const { body, ignored } = await sent({ reasoning_effort: 'low', temperature: 0.2, top_p: 0.5, top_k: 4 });
    expect(body).to.not.have.any.keys('temperature', 'top_p', 'top_k');
    expect(ignored).to.deep.equal(['temperature', 'top_p', 'top_k']);
    expect((await sent({ reasoning_effort: 'low', temperature: 1, top_p: 0.97 })).body).to.include({ top_p: 0.97 });
  });

  it('by a budget needs the thinking of the turn that called the tools', async () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [{ id: 't', type: 'function', function: { name: 'tide', arguments: '' } }] },
      { role: 'tool', tool_call_id: 't', content: 'dry' },
    ];
    const { body, ignored } = await sent({ messages, tools: [TOOL], reasoning_effort: 'low' });
    expect(body).to.not.have.property('thinking');
    expect(ignored).to.deep.equal(['reasoning_effort']);
    expect(
      await sent({ messages, tools: [TOOL], reasoning_effort: 'low', model: 'claude-opus-4-8' }),
    ).to.have.deep.property('ignored', []);
  });
});

describe('anthropic, earlier thinking', () => {
  const turn = async (message: object): Promise<any> =>
    (
      await bodyOf({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y', ...message },
        ],
      })
    ).messages[1].content;
  const own = { format: 'anthropic-claude-v1', index: 0 };

  it('comes back before the other blocks, in order', async () => {
    const reasoning_details = [
      { type: 'reasoning.text', text: 'hm', signature: 'sig', ...own },
      { type: 'reasoning.encrypted', data: 'sealed', ...own, index: 1 },
    ];
    expect(await turn({ reasoning_details })).to.deep.equal([
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'y' },
    ]);
  });

  it("may be in the vendor's own form, or its text in reasoning_content", async () => {
    expect(
      (await turn({ reasoning_details: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }] }))[0],
    ).to.deep.equal({ type: 'thinking', thinking: 'hm', signature: 'sig' });
    expect(
      (await turn({ reasoning_content: 'hm', reasoning_details: [{ signature: 'sig', ...own }] }))[0],
    ).to.deep.equal({ type: 'thinking', thinking: 'hm', signature: 'sig' });
  });

  it('of other vendors, or without a signature, stays behind', async () => {
    for (const item of [
      { type: 'reasoning.text', text: 'hm', signature: 's', format: 'google-gemini-v1' },
      { type: 'reasoning.text', text: 'hm', ...own },
      'hm',
      null,
    ]) {
      expect(await turn({ reasoning_content: 'hm', reasoning_details: [item] })).to.equal('y');
    }
  });
});

describe('anthropic, structured answers', () => {
  it('use the output format where model and schema allow it, beside tools too', async () => {
    const { body, ignored } = await sent({ response_format: formatOf(SCHEMA), tools: [TOOL], reasoning_effort: 'low' });
    expect(body.output_config.format).to.deep.equal({
      type: 'json_schema',
      schema: {
        type: 'object',
        required: ['open'],
        additionalProperties: false,
        properties: {
          open: { type: 'integer', description: '{minimum: 0}' },
          tags: { type: 'array', items: { type: 'string' } },
        },
      },
    });
    expect(body.thinking.type).to.equal('enabled');
    expect(body.tools).to.have.length(1);
    expect(ignored).to.deep.equal([]);
  });

  it('keep properties that are called like keywords, and definitions', async () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string', maxLength: 3 }, next: { $ref: '#/definitions/hour' } },
      definitions: { hour: { oneOf: [{ type: 'integer' }, { type: 'null' }] } },
    };
    const { format } = (await bodyOf({ response_format: formatOf(schema) })).output_config;
    expect(format.schema).to.deep.equal({
      type: 'object',
      additionalProperties: false,
      $defs: { hour: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
      properties: { pattern: { type: 'string', description: '{maxLength: 3}' }, next: { $ref: '#/$defs/hour' } },
    });
  });

  const recursive = {
    type: 'object',
    properties: { next: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  };
  for (const [name, model, response_format] of [
    ['json_object', MODEL, { type: 'json_object' }],
    ['an open object', MODEL, formatOf({ type: 'object', properties: {}, additionalProperties: { type: 'string' } })],
    ['recursion', MODEL, formatOf(recursive)],
    [
      'a reference to what every object inherits',
      MODEL,
      formatOf({
        type: 'object',
        properties: { a: { $ref: '#/$defs/constructor' } },
        $defs: { b: { type: 'integer' } },
      }),
    ],
    ['no schema', MODEL, { type: 'json_schema' }],
    ['an older model', 'claude-sonnet-4-20250514', formatOf(SCHEMA)],
  ] as const) {
    it(`force a tool for ${name}, unless the caller has tools`, async () => {
      const { body, ignored } = await sent({ model, response_format });
      expect(body.tools.map((tool: any) => tool.name)).to.deep.equal(['gw_structured_answer']);
      expect(body.tools[0].input_schema.type).to.equal('object');
      expect(body.tool_choice).to.include({ type: 'tool', name: 'gw_structured_answer' });
      expect(body).to.not.have.property('output_config');
      expect(ignored).to.deep.equal([]);
      expect(await sent({ model, response_format, tools: [TOOL] })).to.have.deep.property('ignored', [
        'response_format',
      ]);
    });
  }

  it('need no field when they are text, and are named when the type is unknown or no tool can be forced', async () => {
    expect(await sent({ response_format: { type: 'text' } })).to.have.deep.property('ignored', []);
    expect(await sent({ response_format: { type: 'grammar' } })).to.have.deep.property('ignored', ['response_format']);
    expect(await sent({ model: 'claude-fable-5-1', response_format: { type: 'json_object' } })).to.have.deep.property(
      'ignored',
      ['response_format'],
    );
  });
});
