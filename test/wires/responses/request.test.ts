import { expect } from 'chai';
import { sealEnvelope } from '../../../builtins/wires/envelope.ts';
import { type ReadResponses, readResponses } from '../../../builtins/wires/responses/request.ts';
import { chooseTools, type KnownTool, ToolBook } from '../../../builtins/wires/responses/tools.ts';

const read = (more: object = {}): ReadResponses => readResponses({ model: 'm', input: 'hi', ...more });
const sent = (more: object): Record<string, unknown> => ({ ...read(more).request });
const messages = (...input: object[]): readonly unknown[] => read({ input }).request.messages;
const user = { role: 'user', content: 'hi' };
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' };
const output = { type: 'function_call_output', call_id: 'c1', output: 'done' };

function refusal(body: object): { readonly code: string; readonly message: string } {
  try {
    readResponses(body as Record<string, unknown>);
  } catch (error) {
    const { code, message, status } = error as { code: string; message: string; status: number };
    expect(status, message).to.equal(400);
    return { code, message };
  }
  throw new Error('nothing was refused');
}

describe('a request of the Responses API', () => {
  it('is read into a chat, field by field', () => {
    expect(
      sent({
        instructions: 'be brief',
        max_output_tokens: 9,
        temperature: 0.5,
        top_p: 0.25,
        top_logprobs: 3,
        user: 'u',
        service_tier: 'flex',
        stream: true,
        reasoning: { effort: 'high', summary: 'auto' },
        text: { format: { type: 'text' }, verbosity: 'low' },
        prompt_cache_key: 'k',
        include: ['message.output_text.logprobs'],
      }),
    ).to.deep.equal({
      model: 'm',
      messages: [{ role: 'system', content: 'be brief' }, user],
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 0.25,
      top_logprobs: 3,
      logprobs: true,
      user: 'u',
      service_tier: 'flex',
      stream: true,
      reasoning_effort: 'high',
      verbosity: 'low',
      prompt_cache_key: 'k',
    });
  });

  it('takes null for what is not there', () => {
    const absent = Object.fromEntries(
      [
        'instructions',
        'max_output_tokens',
        'temperature',
        'top_p',
        'top_logprobs',
        'user',
        'service_tier',
        'stream',
        'reasoning',
        'text',
        'tools',
        'tool_choice',
        'include',
        'store',
        'metadata',
        'truncation',
        'parallel_tool_calls',
        'previous_response_id',
        'conversation',
        'prompt',
        'background',
        'context_management',
        'moderation',
        'prompt_cache_key',
        'stream_options',
        'something_new',
      ].map((name) => [name, null]),
    );
    const { request, lost } = read(absent);
    expect(request).to.deep.equal({ model: 'm', messages: [user] });
    expect(lost).to.deep.equal([]);
  });

  for (const [what, more, format] of [
    ['plain text', { type: 'text' }, undefined],
    ['any object', { type: 'json_object' }, { type: 'json_object' }],
    [
      'a schema',
      { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true, description: 'd' },
      { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true, description: 'd' } },
    ],
  ] as const)
    it(`asks for ${what}`, () => {
      expect(sent({ text: { format: more } })['response_format']).to.deep.equal(format);
    });

  it('names the user by the safety identifier where there is no other name', () => {
    expect(sent({ safety_identifier: 's' })['user']).to.equal('s');
    expect(sent({ safety_identifier: 's', user: 'u' })['user']).to.equal('u');
  });

  it('reports what no other vendor can be given, and is silent about what changes nothing', () => {
    expect(
      read({
        something_new: 1,
        store: true,
        truncation: 'auto',
        include: ['web_search_call.results', 'reasoning.encrypted_content'],
        reasoning: { context: 'all' },
        text: { other: 1 },
        prompt_cache_retention: '24h',
        prompt_cache_options: {},
        client_metadata: {},
        max_tool_calls: 3,
        stream_options: { include_obfuscation: false },
        tools: [
          { type: 'web_search' },
          {
            type: 'function',
            name: 'f',
            parameters: {},
            defer_loading: true,
            strict: false,
            allowed_callers: ['direct'],
          },
        ],
        input: [{ type: 'web_search_call', id: 'ws' }, user],
      }).lost,
    ).to.have.members([
      'something_new',
      'store',
      'truncation',
      'include[0]',
      'reasoning.context',
      'text.other',
      'tools[0]',
      'tools[1].defer_loading',
      'input[0]',
    ]);
  });

  for (const name of [
    'previous_response_id',
    'conversation',
    'prompt',
    'background',
    'context_management',
    'moderation',
  ]) {
    it(`is refused with ${name}, by name, and served without it`, () => {
      expect(refusal({ model: 'm', input: 'hi', [name]: name === 'background' ? true : 'r' })).to.deep.include({
        code: 'unsupported_parameter',
      });
      expect(refusal({ model: 'm', input: 'hi', [name]: 'r' }).message).to.match(new RegExp(`^${name} `));
      expect(read({ [name]: false }).lost).to.deep.equal([]);
    });
  }

  it('says that the whole input is to be sent in the place of an earlier response', () => {
    expect(refusal({ model: 'm', input: 'hi', previous_response_id: 'r' }).message).to.include('send the whole input');
  });

  for (const [body, path] of [
    [{ input: 'hi' }, 'model'],
    [{ model: '', input: 'hi' }, 'model'],
    [{ model: 7, input: 'hi' }, 'model'],
    [{ model: 'm' }, 'input'],
    [{ model: 'm', input: [], instructions: 'x' }, 'input'],
    [{ model: 'm', input: 7 }, 'input'],
    [{ model: 'm', input: [7] }, 'input[0]'],
    [{ model: 'm', input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    [{ model: 'm', input: [{ role: 'user' }] }, 'input[0].content'],
    [{ model: 'm', input: [{ role: 'user', content: [{ text: 'x' }] }] }, 'input[0].content[0].type'],
    [{ model: 'm', input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
    [
      { model: 'm', input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'https://h/a.png' }] }] },
      'input[0].content[0]',
    ],
    [
      { model: 'm', input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'ftp://h/a' }] }] },
      'input[0].content[0].image_url',
    ],
    [
      {
        model: 'm',
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/tiff;base64,AAAA' }] }],
      },
      'input[0].content[0].image_url',
    ],
    [
      {
        model: 'm',
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,A*A' }] }],
      },
      'input[0].content[0].image_url',
    ],
    [
      {
        model: 'm',
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://h/a', detail: 7 }] }],
      },
      'input[0].content[0].detail',
    ],
    [{ model: 'm', input: [{ ...call, call_id: '' }] }, 'input[0].call_id'],
    [{ model: 'm', input: [{ ...call, name: undefined }] }, 'input[0].name'],
    [{ model: 'm', input: [user, call] }, 'input[1]'],
    [{ model: 'm', input: [output] }, 'input[0].call_id'],
    [{ model: 'm', input: [call, output, output] }, 'input[2].call_id'],
    [{ model: 'm', input: [call, { ...output, output: 7 }] }, 'input[1].output'],
    [{ model: 'm', input: [{ type: 'reasoning', summary: 'x' }] }, 'input[0].summary'],
    [{ model: 'm', input: 'hi', max_output_tokens: 0 }, 'max_output_tokens'],
    [{ model: 'm', input: 'hi', max_output_tokens: 1.5 }, 'max_output_tokens'],
    [{ model: 'm', input: 'hi', temperature: 3 }, 'temperature'],
    [{ model: 'm', input: 'hi', top_p: 'x' }, 'top_p'],
    [{ model: 'm', input: 'hi', stream: 'yes' }, 'stream'],
    [{ model: 'm', input: 'hi', store: 1 }, 'store'],
    [{ model: 'm', input: 'hi', metadata: [] }, 'metadata'],
    [{ model: 'm', input: 'hi', truncation: 7 }, 'truncation'],
    [{ model: 'm', input: 'hi', include: 'x' }, 'include'],
    [{ model: 'm', input: 'hi', include: [7] }, 'include[0]'],
    [{ model: 'm', input: 'hi', reasoning: 'x' }, 'reasoning'],
    [{ model: 'm', input: 'hi', reasoning: { summary: true } }, 'reasoning.summary'],
    [{ model: 'm', input: 'hi', text: { format: { type: 'grammar' } } }, 'text.format.type'],
    [{ model: 'm', input: 'hi', text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name'],
    [{ model: 'm', input: 'hi', text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
    [{ model: 'm', input: 'hi', tools: {} }, 'tools'],
    [{ model: 'm', input: 'hi', tools: [{}] }, 'tools[0].type'],
    [{ model: 'm', input: 'hi', tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ model: 'm', input: 'hi', tools: [{ type: 'function', name: 'f', parameters: [] }] }, 'tools[0].parameters'],
    [
      {
        model: 'm',
        input: 'hi',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'f' },
        ],
      },
      'tools[1].name',
    ],
    [
      { model: 'm', input: 'hi', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] },
      'tools[0].tools[0].type',
    ],
    [
      { model: 'm', input: 'hi', tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark' } }] },
      'tools[0].format.definition',
    ],
    [{ model: 'm', input: 'hi', tool_choice: 'required' }, 'tool_choice'],
    [{ model: 'm', input: 'hi', tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name'],
  ] as const)
    it(`is refused for ${path}: ${JSON.stringify(body).slice(0, 110)}`, () => {
      const { code, message } = refusal(body);
      expect(code).to.equal('invalid_request');
      expect(message.split(' ')[0]).to.equal(path);
    });

  it('says what a client does that refers to an item by its id', () => {
    expect(refusal({ model: 'm', input: [{ type: 'item_reference', id: 'i' }] }).message).to.equal(
      'input[0] refers to what only the vendor of this API keeps: send the item itself, as clients do with store: false',
    );
  });

  for (const [item, path] of [
    [{ type: 'item_reference', id: 'i' }, 'input[0]'],
    [{ id: 'i' }, 'input[0]'],
    [{ type: 'compaction', encrypted_content: 'x' }, 'input[0]'],
    [{ type: 'file_search_call', id: 'i' }, 'input[0]'],
    [{ type: 'mcp_call' }, 'input[0]'],
    [{ type: 'computer_call' }, 'input[0]'],
    [{ type: 'local_shell_call' }, 'input[0]'],
    [{ type: 'apply_patch_call' }, 'input[0]'],
    [{ type: 'image_generation_call' }, 'input[0]'],
    [{ type: 'code_interpreter_call' }, 'input[0]'],
    [{ type: 'tool_search_call', id: 'i', execution: 'server', arguments: { paths: ['f'] } }, 'input[0]'],
    [{ type: 'tool_search_output', id: 'i', execution: 'server', tools: [] }, 'input[0]'],
    [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }, 'input[0].content[0].file_id'],
    [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }, 'input[0].content[0].file_id'],
    [{ role: 'user', content: [{ type: 'input_hologram' }] }, 'input[0].content[0]'],
  ] as const)
    it(`is refused for what only its vendor has: ${JSON.stringify(item)}`, () => {
      const { code, message } = refusal({ model: 'm', input: [item] });
      expect(code).to.equal('unsupported_parameter');
      expect(message.split(' ')[0]).to.equal(path);
    });
});

describe('the items of an input', () => {
  it('are messages of their roles', () => {
    expect(
      messages({ type: 'message', role: 'developer', content: 'd' }, { role: 'system', content: 's' }, user, {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'refusal', refusal: 'no' },
        ],
      }),
    ).to.deep.equal([
      { role: 'developer', content: 'd' },
      { role: 'system', content: 's' },
      user,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'no' },
        ],
      },
    ]);
  });

  it('keep their parts', () => {
    expect(
      messages({
        role: 'user',
        content: [
          { type: 'input_text', text: 't' },
          { type: 'input_image', image_url: 'https://h/a.png', detail: 'original' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
          { type: 'input_file', file_data: 'AAAA' },
          { type: 'input_file', file_url: 'https://h/a.pdf' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      }),
    ).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: 'https://h/a.png', detail: 'high' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'document.pdf' } },
          { type: 'file', file: { file_data: 'https://h/a.pdf', filename: 'document.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ]);
  });

  it('are one turn of the assistant where reasoning, text and calls stand side by side', () => {
    expect(
      messages(
        user,
        { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'think' }] },
        { role: 'assistant', content: 'ok' },
        call,
        { ...call, call_id: 'c2' },
        output,
        { ...output, call_id: 'c2' },
        { role: 'user', content: 'go on' },
      ),
    ).to.deep.equal([
      user,
      {
        role: 'assistant',
        content: 'ok',
        reasoning_content: 'think',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'c2', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
      { role: 'tool', tool_call_id: 'c2', content: 'done' },
      { role: 'user', content: 'go on' },
    ]);
  });

  it('have results moved up to their calls, and other calls behind them', () => {
    const roles = messages(
      user,
      call,
      { role: 'user', content: 'wait' },
      output,
      { ...call, call_id: 'c2' },
      { ...output, call_id: 'c2' },
    ) as readonly { role: string }[];
    expect(roles.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'user', 'assistant', 'tool']);
  });

  it('may name several calls alike, as vendors do that number them anew in each turn', () => {
    expect(messages(user, call, output, call, { ...output, output: 'again' })).to.have.lengthOf(5);
  });

  it('keep the media of results', () => {
    expect(
      messages(user, call, {
        ...output,
        output: [
          { type: 'input_text', text: 't' },
          { type: 'input_image', image_url: 'https://h/a.png' },
        ],
      }).at(-1),
    ).to.deep.equal({
      role: 'tool',
      tool_call_id: 'c1',
      content: [
        { type: 'text', text: 't' },
        { type: 'image_url', image_url: { url: 'https://h/a.png' } },
      ],
    });
  });

  it('bring back reasoning of other vendors out of its envelope, with the text that stands in the item', () => {
    const signed = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', signature: 's' };
    expect(
      messages(
        user,
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'think' }],
          encrypted_content: sealEnvelope([signed]),
        },
        { role: 'assistant', content: 'ok' },
      )[1],
    ).to.deep.equal({
      role: 'assistant',
      content: 'ok',
      reasoning_content: 'think',
      reasoning_details: [{ ...signed, text: 'think' }],
    });
  });

  it('bring back text alone that was not shown', () => {
    expect(
      messages(
        user,
        {
          type: 'reasoning',
          summary: [],
          encrypted_content: sealEnvelope([{ type: 'reasoning.text', text: 'think' }]),
        },
        { role: 'assistant', content: 'ok' },
      )[1],
    ).to.deep.equal({ role: 'assistant', content: 'ok', reasoning_content: 'think' });
  });

  it('keep reasoning that only its vendor can read', () => {
    expect(
      messages(
        user,
        { type: 'reasoning', summary: [], encrypted_content: 'gAAAAA==' },
        { role: 'assistant', content: 'ok' },
      )[1],
    ).to.deep.equal({
      role: 'assistant',
      content: 'ok',
      reasoning_details: [{ type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'gAAAAA==' }],
    });
  });
});

describe('the tools of a request', () => {
  const tools = (...list: object[]): unknown => sent({ tools: list })['tools'];
  const f = { type: 'function', name: 'f', description: 'does', parameters: { type: 'object' }, strict: true };

  it('are functions', () => {
    expect(tools(f, { type: 'function', name: 'g', parameters: null, strict: null })).to.deep.equal([
      { type: 'function', function: { name: 'f', description: 'does', parameters: { type: 'object' }, strict: true } },
      { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('are functions with one text, where they take free text', () => {
    const [tool] = tools({
      type: 'custom',
      name: 'apply_patch',
      description: 'edits',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    }) as { function: { description: string; parameters: object } }[];
    expect(tool?.function.description).to.match(/^edits\n\n.*lark.*\nstart: "x"$/s);
    expect(tool?.function.parameters).to.deep.equal({
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    });
  });

  it('are named with their namespace', () => {
    expect(
      (
        tools({ type: 'namespace', name: 'n', description: 'all', tools: [f, { type: 'custom', name: 'c' }] }) as {
          function: { name: string };
        }[]
      ).map((tool) => tool.function.name),
    ).to.deep.equal(['n__f', 'n__c']);
  });

  it('are a function where the client searches them itself', () => {
    expect(
      tools({
        type: 'tool_search',
        execution: 'client',
        description: 'finds',
        parameters: { type: 'object', properties: { q: {} } },
      }),
    ).to.deep.equal([
      {
        type: 'function',
        function: { name: 'tool_search', description: 'finds', parameters: { type: 'object', properties: { q: {} } } },
      },
    ]);
  });

  it('grow by those that the input brings, once each', () => {
    const { request, lost } = read({
      tools: [f, { type: 'tool_search', execution: 'client' }],
      input: [
        user,
        { type: 'additional_tools', role: 'developer', tools: [f, { ...f, name: 'g' }] },
        { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'x' } },
        { type: 'tool_search_output', call_id: 's', tools: [{ ...f, name: 'h' }, { type: 'web_search' }] },
      ],
    });
    expect(request.tools?.map((tool) => tool.function?.name)).to.deep.equal(['f', 'tool_search', 'g', 'h']);
    expect(request.messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 's', type: 'function', function: { name: 'tool_search', arguments: '{"query":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 's', content: 'h' },
    ]);
    expect(lost).to.deep.equal(['input[3].tools[1]']);
  });

  it('are called in the names that are sent', () => {
    expect(
      messages(
        user,
        { ...call, namespace: 'n' },
        output,
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
      ).filter((message) => (message as { role: string }).role === 'assistant'),
    ).to.deep.equal([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'n__f', arguments: '{"a":1}' } }],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c2', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } },
        ],
      },
    ]);
  });

  for (const type of [
    'web_search',
    'web_search_preview',
    'file_search',
    'code_interpreter',
    'image_generation',
    'computer',
    'mcp',
    'shell',
    'local_shell',
    'apply_patch',
    'tool_search',
    'programmatic_tool_calling',
  ]) {
    it(`are left out and named where their vendor runs them, and refused alone: ${type}`, () => {
      const { request, lost } = read({ tools: [{ type }, f] });
      expect(request.tools).to.have.lengthOf(1);
      expect(lost).to.deep.equal(['tools[0]']);
      expect(refusal({ model: 'm', input: 'hi', tools: [{ type }] })).to.deep.include({
        code: 'unsupported_parameter',
      });
      expect(refusal({ model: 'm', input: 'hi', tools: [{ type }] }).message).to.match(/^tools\[0\] /);
      expect(refusal({ model: 'm', input: 'hi', tools: [{ type }, f], tool_choice: { type } })).to.deep.include({
        code: 'unsupported_parameter',
      });
      expect(read({ tools: [{ type }], tool_choice: 'none' }).request.tools).to.equal(undefined);
    });
  }

  for (const [choice, expected] of [
    ['none', 'none'],
    ['auto', 'auto'],
    ['required', 'required'],
    [
      { type: 'function', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
    [
      { type: 'custom', name: 'c' },
      { type: 'function', function: { name: 'c' } },
    ],
  ] as const)
    it(`are chosen by ${JSON.stringify(choice)}`, () => {
      expect(
        sent({ tools: [f, { type: 'custom', name: 'c' }], tool_choice: choice, parallel_tool_calls: false }),
      ).to.deep.include({ tool_choice: expected, parallel_tool_calls: false });
    });

  it('are cut to those that are allowed', () => {
    const { request } = read({
      tools: [f, { ...f, name: 'g' }, { type: 'custom', name: 'c' }],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'g' },
          { type: 'custom', name: 'c' },
          { type: 'mcp', server_label: 'x' },
        ],
      },
    });
    expect(request.tools?.map((tool) => tool.function?.name)).to.deep.equal(['g', 'c']);
    expect(request.tool_choice).to.equal('required');
  });

  it('are looked at once, however many namespaces are allowed', () => {
    let looks = 0;
    class CountedBook extends ToolBook {
      override find(name: string): KnownTool {
        looks += 1;
        return super.find(name);
      }
    }
    const book = new CountedBook();
    const inner = Array.from({ length: 100 }, (_, at) => ({ ...f, name: `f${at}` }));
    book.declare(
      [{ type: 'namespace', name: 'n', tools: inner }, { type: 'namespace', name: 'other', tools: inner }, f],
      'tools',
    );
    const { tools } = chooseTools(book, {
      type: 'allowed_tools',
      mode: 'auto',
      tools: Array.from({ length: 100 }, () => ({ type: 'namespace', name: 'n' })),
    });
    expect(tools.map((tool) => tool.function?.name)).to.deep.equal(inner.map(({ name }) => `n__${name}`));
    expect(looks).to.be.at.most(201);
  });

  it('leave nothing to choose where there are none', () => {
    expect(sent({ tools: [], tool_choice: 'auto', parallel_tool_calls: true })).to.deep.equal({
      model: 'm',
      messages: [user],
    });
  });
});
