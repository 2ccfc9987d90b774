import { expect } from 'chai';
import { chatReply, replyJson, startHost, stubUpstream } from '../../kit/index.ts';
import type { Json } from './support.ts';

const CANARY = 'the canary sings';

/** A request that uses every member that is read, and some that are not. */
const EVERYTHING: Json = {
  model: 'm', instructions: 'text', user: 'text', safety_identifier: 'text', metadata: { k: 'text' }, only_here: { deep: ['text'] },
  input: [
    { type: 'message', role: 'developer', content: 'text' },
    { role: 'user', content: [{ type: 'input_text', text: 'text' }, { type: 'input_image', image_url: 'https://h/i.png', detail: 'low' }, { type: 'input_file', file_data: 'AAAA', filename: 'text' }, { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'text' }], content: [{ type: 'reasoning_text', text: 'text' }], encrypted_content: 'gAAA' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'text', annotations: [] }, { type: 'refusal', refusal: 'text' }] },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"a":"text"}' }, { type: 'function_call_output', call_id: 'a', output: 'text' },
    { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'text' }, { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'text' }] },
    { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'text' } }, { type: 'tool_search_output', call_id: 'c', tools: [{ type: 'function', name: 'h', description: 'text', parameters: { type: 'object' } }] },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'n', description: 'text', tools: [{ type: 'function', name: 'i', description: 'text', parameters: { description: 'text' } }] }] },
  ],
  tools: [
    { type: 'function', name: 'f', description: 'text', parameters: { type: 'object', properties: { a: { enum: ['text'], default: { data: 'text' } }, b: { examples: [{ type: 'input_file', file_data: 'text' }, { type: 'input_image', image_url: 'text' }] } } }, strict: true },
    { type: 'custom', name: 'g', description: 'text', format: { type: 'grammar', syntax: 'lark', definition: 'text' } }, { type: 'tool_search', execution: 'client', description: 'text' }, { type: 'web_search', filters: { allowed_domains: ['text'] } },
  ],
  text: { format: { type: 'json_schema', name: 'n', schema: { description: 'text' }, description: 'text' } },
};

/** Each string that is `text`, with another one in its place. */
function* places(value: unknown, path = ''): Generator<readonly [path: string, change: (text: string) => unknown]> {
  if (value === 'text' || (typeof value === 'string' && value.includes('"text"'))) yield [path, (text) => (value === 'text' ? text : value.replace('text', text))];
  else if (Array.isArray(value)) for (const [at, item] of value.entries()) for (const [where, change] of places(item, `${path}[${at}]`)) yield [where, (text) => value.with(at, change(text))];
  else if (typeof value === 'object' && value !== null) for (const [name, member] of Object.entries(value)) for (const [where, change] of places(member, `${path}.${name}`)) yield [where, (text) => ({ ...value, [name]: change(text) })];
}

describe('a canary in a translated request of the Responses API', () => {
  it('is found wherever it stands, and masked wherever it may be', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('ok')));
    const targets = [upstream.target('a')];
    const rejecting = await startHost({ targets, responses: { translate: 'auto' }, plugins: [{ name: 'regex-guard', stage: 'before_request', enabled: true, config: { patterns: [CANARY] } }] });
    const masking = await startHost({ targets, responses: { translate: 'auto' }, plugins: [{ name: 'pii-redact', stage: 'before_request', enabled: true, config: { entities: ['email'], action: 'mask' } }] });
    expect((await rejecting.post('/v1/responses', EVERYTHING)).status).to.equal(200);
    const found = [...places(EVERYTHING)];
    expect(found.length).to.be.greaterThan(25);
    for (const [place, change] of found) {
      const answer = await rejecting.post('/v1/responses', change(CANARY));
      expect([answer.status, answer.json().error?.code], place).to.deep.equal([400, 'request_rejected']);
      upstream.seen.length = 0;
      const masked = await masking.post('/v1/responses', change('a@b.example'));
      const isThought = place.includes('summary') || place.includes('.input[2].content');
      expect(masked.status, `${place}: ${masked.text}`).to.equal(isThought ? 400 : 200);
      expect(upstream.seen.map(({ text }) => text).join(''), place).to.not.include('a@b.example');
    }
  });
});
