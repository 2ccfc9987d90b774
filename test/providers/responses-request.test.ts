import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import azureFoundry from '../../providers/azure-foundry/index.ts';
import azureOpenai from '../../providers/azure-openai/index.ts';
import ollama from '../../providers/ollama/index.ts';
import openai from '../../providers/openai/index.ts';
import xai from '../../providers/xai/index.ts';
import { requestOf } from '../differential/generate/request.ts';
import { readCommon } from '../differential/meaning/common.ts';
import type { Meaning } from '../differential/meaning/meaning.ts';
import { readResponses } from '../differential/meaning/responses.ts';
import { ask, cases, connected, Dice } from '../kit/index.ts';
import { byResponses, callOf, inputFor, SEALING, sentFor } from './responses-support.ts';

type Fields = Record<string, any>;

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };

describe('chats by the Responses API, the request', () => {
  it('carries the conversation as items without ids, in order', () => {
    const items = inputFor(
      [
        { role: 'system', content: 'S' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'D' },
            { type: 'text', text: 'E' },
          ],
        },
        { role: 'user', content: '' },
        {
          role: 'assistant',
          content: 'let me look',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            { id: 'c2', type: 'function', function: { name: 'list', arguments: '' } },
            { id: 'c3', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'text of a' },
        { role: 'tool', tool_call_id: 'c2', content: null },
        { role: 'tool', tool_call_id: 'c3', content: [{ type: 'text', text: 'one row' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A' },
            { type: 'refusal', refusal: 'B' },
          ],
          refusal: 'C',
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null },
        { role: 'user', content: 'go on' },
      ],
      { facts: { system_role: 'developer' } },
    );
    const text = (words: string): object => ({ type: 'input_text', text: words });
    expect(items).to.deep.equal([
      { role: 'developer', content: [text('S')] },
      { role: 'developer', content: [text('D'), text('E')] },
      { role: 'user', content: [text('')] },
      { role: 'assistant', content: 'let me look' },
      { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"path":"a"}' },
      { type: 'function_call', call_id: 'c2', name: 'list', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c3', name: 'sql', input: 'SELECT 1' },
      { type: 'function_call_output', call_id: 'c1', output: 'text of a' },
      { type: 'function_call_output', call_id: 'c2', output: '' },
      { type: 'custom_tool_call_output', call_id: 'c3', output: [text('one row')] },
      { role: 'assistant', content: 'A\n\nB\n\nC' },
      { role: 'user', content: [text('go on')] },
    ]);
  });

  it('says system, unless the rules of the model say developer', () => {
    for (const facts of [undefined, {}, { system_role: 'system' as const }])
      expect(inputFor([{ role: 'developer', content: 'D' }], { facts })[0]!['role']).to.equal('system');
  });

  it('carries images and files in turns of the user and in results of tools', () => {
    const parts = [
      {
        type: 'image_url',
        image_url: { url: 'https://example.com/a.png' },
        prompt_cache_breakpoint: { mode: 'explicit' },
      },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'b.pdf' } },
      { type: 'file', file: { file_id: 'file-7', filename: 'c.pdf' } },
      { type: 'file', file: { file_data: 'https://example.com/d.pdf' } },
      { type: 'text', text: 'look', cache_control: { type: 'ephemeral' } },
    ];
    const made = [
      {
        type: 'input_image',
        image_url: 'https://example.com/a.png',
        detail: 'auto',
        prompt_cache_breakpoint: { mode: 'explicit' },
      },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'file' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'b.pdf' },
      { type: 'input_file', file_id: 'file-7' },
      { type: 'input_file', file_url: 'https://example.com/d.pdf' },
      { type: 'input_text', text: 'look' },
    ];
    const call = { id: 'c1', type: 'function', function: { name: 'shot', arguments: '{}' } };
    const [user, , result] = inputFor([
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: parts },
    ]);
    expect(user!['content']).to.deep.equal(made);
    expect(result!['output']).to.deep.equal(made);
  });

  it('refuses what the API cannot be sent, by its place, and sends nothing', () => {
    const sound = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
    const cases: readonly (readonly [object, string])[] = [
      [{ role: 'user', content: [{ type: 'text', text: 'a' }, sound] }, 'messages[0].content[1]'],
      [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://v' } }] }, 'messages[0].content[0]'],
      [
        { role: 'assistant', content: [{ type: 'image_url', image_url: { url: 'https://i' } }] },
        'messages[0].content[0]',
      ],
      [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://i' } }] }, 'messages[0].content[0]'],
      [{ role: 'tool', tool_call_id: 'c', content: [sound] }, 'messages[0].content[0]'],
      [{ role: 'function', name: 'f', content: 'x' }, 'messages[0].role'],
    ];
    for (const [message, path] of cases) {
      try {
        inputFor([message]);
        expect.fail(`nothing refused ${JSON.stringify(message)}`);
      } catch (error) {
        expect(error, JSON.stringify(message)).to.be.instanceOf(GatewayError);
        expect((error as GatewayError).code).to.equal('unsupported_parameter');
        expect((error as GatewayError).message.startsWith(`${path}: `), (error as GatewayError).message).to.equal(true);
      }
    }
  });

  it('leaves the names of speakers out, and says so', () => {
    const { body, ignored } = sentFor({
      messages: [
        { role: 'user', content: 'a', name: 'mate' },
        { role: 'assistant', content: 'b', name: '' },
      ],
    });
    expect(ignored).to.deep.equal(['messages[0].name']);
    expect(JSON.stringify(body)).not.to.include('mate');
  });

  it('is the second turn of an agent, as the reference has it', () => {
    const sealed = {
      type: 'reasoning.encrypted',
      format: 'openai-responses-v1',
      index: 0,
      origin: 'openai',
      data: 'gAAA',
      id: 'call_1',
    };
    const { body, bounded } = sentFor(
      {
        max_tokens: 32_000,
        reasoning_effort: 'max',
        tools: [{ type: 'function', function: { name: 'read_file', description: '', parameters: SCHEMA } }],
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'read a' },
          {
            role: 'assistant',
            content: null,
            reasoning_details: [sealed],
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'text of a' },
        ],
      },
      { stream: true, wantsThoughts: true, facts: SEALING },
    );
    expect(body).to.deep.equal({
      model: 'gpt-x',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'xhigh', summary: 'auto' },
      max_output_tokens: 32_000,
      tools: [{ type: 'function', name: 'read_file', description: '', parameters: SCHEMA, strict: false }],
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'S' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'read a' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
        { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'text of a' },
      ],
    });
    expect(bounded).to.deep.equal(['reasoning_effort']);
  });

  it('goes where each provider has the API', async () => {
    const places = [
      [openai, 'https://api.openai.com/v1/responses', 'm', true],
      [xai, 'https://api.x.ai/v1/responses', 'm', true],
      [ollama, 'http://h/v1/responses', 'm', undefined],
      [azureFoundry, 'http://h/openai/v1/responses', 'm', true],
      [azureOpenai, 'http://h/openai/v1/responses', 'key', true],
    ] as const;
    for (const [module, url, model, isAutomatic] of places) {
      const {
        provider: { root, credentials },
      } = await connected(module);
      const call = callOf({ model: 'm', root, credentials });
      const wire = byResponses(module).translators.chat!.toUpstream(ask() as never, call);
      expect([root + wire.path, (wire.body as Fields)['model'], wire.headers], module.name).to.deep.equal([
        url,
        model,
        undefined,
      ]);
      expect(module.translators.chat?.viaResponses?.isAutomatic, module.name).to.equal(isAutomatic);
    }
  });

  it('says what the chat said: turns, texts, calls, outputs, media, tools and parameters, for any conversation', () => {
    for (let seed = 1; seed <= cases(3000); seed += 1) {
      const request = requestOf(new Dice(seed));
      if (JSON.stringify(request).includes('"input_audio"')) continue; // refused, as a test above shows
      const { body } = sentFor(request);
      const [asked, read] = [comparable(readCommon(request)), comparable(readResponses(body))];
      const shown = `seed ${seed}: ${JSON.stringify(request)}`;
      expect(read, shown).to.deep.equal(asked);
      expect(JSON.stringify(body['input']), shown).not.to.match(/"id":/);
      for (const tool of body['tools'] ?? [])
        if (tool.type === 'function') expect(tool.strict, shown).to.be.a('boolean');
    }
  });
});

const SAID = new Set(['text', 'media', 'call', 'result']);
const SETTINGS = [
  'temperature',
  'top_p',
  'top_k',
  'reasoning_effort',
  'verbosity',
  'response_format',
  'parallel_tool_calls',
  'user',
  'metadata',
  'service_tier',
  'thinking',
];

/** What both wires have words for. */
function comparable({ turns, tools, settings }: Meaning): Fields {
  const own = tools.filter(({ name }) => name !== 'web_search');
  return {
    turns: turns
      .filter(({ kind }) => SAID.has(kind))
      .map((turn) => ({
        ...turn,
        ...(turn.kind === 'media' && { detail: turn['detail'] === 'auto' ? undefined : turn['detail'] }),
      })),
    tools: own.map(({ name, description, schema, strict }) => ({
      name,
      description,
      schema: schema ?? { type: 'object', properties: {} },
      strict: strict ?? false,
    })),
    settings: {
      ...Object.fromEntries(SETTINGS.map((name) => [name, settings[name]])),
      max_tokens: settings['max_tokens'] === undefined ? undefined : Math.max(16, Number(settings['max_tokens'])),
      tool_choice: own.length > 0 ? settings['tool_choice'] : undefined,
    },
  };
}
