import { expect } from 'chai';
import anthropic from '../../providers/anthropic/index.ts';
import { ask, sentBy } from '../kit/index.ts';
import { bodyOf as bedrockBody, NOVA } from './bedrock-support.ts';

/** What the strict vendors of the tests have found: requests that the real ones refuse. */

const bodyOf = async (more: object): Promise<any> => (await sentBy(anthropic, 'chat', { ...ask('hi', { model: SONNET }), ...more } as never)).body;
const SONNET = 'claude-sonnet-4-5';
const tuple = { type: 'object', properties: { at: { type: 'array', items: [{ type: 'number' }, { anyOf: [{ type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'null' } }] }], additionalItems: false, minItems: 2, maxItems: 2 } } };
const current = {
  type: 'object',
  properties: { at: { type: 'array', prefixItems: [{ type: 'number' }, { anyOf: [{ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' } }] }], items: false, minItems: 2, maxItems: 2 } },
};

describe('requests to Claude', () => {
  it('say tuples as the draft does that the vendor checks by', async () => {
    const tools = [{ type: 'function', function: { name: 'mark', parameters: tuple } }];
    expect((await bodyOf({ tools })).tools[0].input_schema).to.deep.equal(current);
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema: tuple } };
    expect((await bodyOf({ response_format })).tools[0].input_schema).to.deep.equal(current);
  });

  it('leave schemas of that draft as they are, whatever their members are called', async () => {
    const parameters = { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } }, additionalItems: { type: 'string', enum: ['a'], default: [{}] } }, required: ['items'] };
    const { tools } = await bodyOf({ tools: [{ type: 'function', function: { name: 'mark', parameters } }] });
    expect(tools[0].input_schema).to.deep.equal(parameters);
  });

  it('hold no instructions that say nothing', async () => {
    const messages = [{ role: 'system', content: ' \n' }, { role: 'user', content: 'hi' }];
    expect(await bodyOf({ messages })).to.not.have.property('system');
    expect(await bodyOf({ messages: [{ role: 'system', content: 'be brief' }, ...messages] })).to.have.property('system', 'be brief');
  });

  it('do not think about an answer that is begun without thinking, and say so', async () => {
    const messages = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'It is' }];
    for (const asked of [{ reasoning_effort: 'high' }, { thinking: { type: 'enabled', budget_tokens: 2000 } }]) {
      const { body, ignored } = await sentBy(anthropic, 'chat', { model: SONNET, messages, max_tokens: 9000, ...asked } as never);
      expect(body).to.not.have.property('thinking');
      expect(ignored).to.deep.equal(Object.keys(asked));
    }
  });
});

describe('requests through converse', () => {
  it('hold a text beside every document: the name, where the caller says none', async () => {
    const file = { type: 'file', file: { filename: 'tides.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } };
    const contentOf = async (...content: readonly object[]): Promise<any[]> => (await bedrockBody(NOVA, { messages: [{ role: 'user', content }] })).messages[0].content;
    const [document, text] = await contentOf(file);
    expect(text).to.deep.equal({ text: document.document.name });
    expect((await contentOf(file, { type: 'text', text: 'sum it up' })).map((block) => Object.keys(block)[0])).to.deep.equal(['document', 'text']);
  });
});
