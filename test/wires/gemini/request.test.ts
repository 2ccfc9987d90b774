import { expect } from 'chai';
import { sealEnvelope } from '../../../builtins/wires/envelope.ts';
import { readGenerate } from '../../../builtins/wires/gemini/request/request.ts';
import { GatewayError } from '../../../host/contract/index.ts';

type Json = Record<string, any>;

const HI = [{ role: 'user', parts: [{ text: 'hi' }] }];
const read = (body: Json): Json => readGenerate({ contents: HI, ...body }, 'm');
/** The common request beside its model and its one message. */
const fields = (body: Json): Json => {
  const { model: _model, messages: _messages, ...rest } = read(body)['request'];
  return rest;
};
const messages = (...contents: Json[]): Json[] => read({ contents })['request'].messages;
const config = (generationConfig: Json): Json => fields({ generationConfig });
const lost = (body: Json): readonly string[] => read(body)['lost'];

function refusal(body: Json): string {
  try {
    readGenerate(body, 'm');
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError);
    expect(error).to.include({ status: 400, code: 'invalid_request' });
    return (error as GatewayError).message;
  }
  throw new Error(`accepted: ${JSON.stringify(body).slice(0, 200)}`);
}

const model = (...parts: Json[]): Json => ({ role: 'model', parts });
const user = (...parts: Json[]): Json => ({ role: 'user', parts });

describe('a request of the Gemini API', () => {
  it('becomes a chat', () => {
    expect(
      read({ systemInstruction: { role: 'user', parts: [{ text: 'be' }, { text: 'brief' }] }, model: 'models/other' })[
        'request'
      ],
    ).to.deep.equal({
      model: 'm',
      messages: [
        { role: 'system', content: 'be\nbrief' },
        { role: 'user', content: 'hi' },
      ],
    });
  });

  it('takes one object for a list of one, as the vendor does', () => {
    const declared = { name: 'tide', parameters: { type: 'OBJECT' } };
    const whole = {
      systemInstruction: { parts: [{ text: 'be brief' }] },
      contents: [{ parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [declared] }],
      safetySettings: [{ category: 'c' }],
    };
    const short = {
      systemInstruction: { parts: { text: 'be brief' } },
      contents: { parts: { text: 'hi' } },
      tools: { functionDeclarations: declared },
      safetySettings: { category: 'c' },
    };
    const [expected, given] = [read(whole), read(short)];
    expect([given['request'], given['lost']]).to.deep.equal([expected['request'], expected['lost']]);
  });

  for (const [name, value] of Object.entries({ contents: 'hi', tools: 7, safetySettings: true })) {
    it(`refuses ${name} that are neither a list nor an object`, () => {
      expect(refusal({ contents: HI, [name]: value })).to.equal(`${name} must be a list`);
    });
  }

  for (const [given, expected] of [
    [
      { temperature: 0, topP: 1, topK: 40 },
      { temperature: 0, top_p: 1, top_k: 40 },
    ],
    [
      { candidateCount: 2, maxOutputTokens: 5, stopSequences: ['a', 'b'] },
      { n: 2, max_tokens: 5, stop: ['a', 'b'] },
    ],
    [{ candidateCount: 1, stopSequences: [] }, {}],
    [
      { presencePenalty: 0.5, frequencyPenalty: -0.5, seed: -5 },
      { presence_penalty: 0.5, frequency_penalty: -0.5, seed: -5 },
    ],
    [
      { responseLogprobs: true, logprobs: 3 },
      { logprobs: true, top_logprobs: 3 },
    ],
    [
      { max_output_tokens: 7, stop_sequences: ['x'] },
      { max_tokens: 7, stop: ['x'] },
    ],
    [{ temperature: null, seed: null }, {}],
    [{ responseMimeType: 'text/plain' }, {}],
    [{ responseMimeType: 'application/json' }, { response_format: { type: 'json_object' } }],
    [
      { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } },
      { response_format: { type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' } } } },
    ],
    [{ responseModalities: ['TEXT'] }, {}],
    [{ thinkingConfig: { thinkingLevel: 'MINIMAL' } }, { reasoning_effort: 'minimal' }],
    [{ thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } }, { reasoning_effort: 'high' }],
    ...(
      [
        [-1, undefined],
        [0, 'none'],
        [1, 'low'],
        [1024, 'low'],
        [1025, 'medium'],
        [8192, 'medium'],
        [8193, 'high'],
      ] as const
    ).map(
      ([thinkingBudget, effort]) =>
        [{ thinkingConfig: { thinkingBudget } }, effort === undefined ? {} : { reasoning_effort: effort }] as const,
    ),
  ] as readonly (readonly [Json, Json])[]) {
    it(`carries ${JSON.stringify(given)}`, () => {
      expect(config(given)).to.deep.equal(expected);
    });
  }

  for (const [given, path] of [
    [{ temperature: 2.1 }, 'generationConfig.temperature'],
    [{ temperature: '1' }, 'generationConfig.temperature'],
    [{ topP: 1.5 }, 'generationConfig.topP'],
    [{ topK: 1.5 }, 'generationConfig.topK'],
    [{ candidateCount: 0 }, 'generationConfig.candidateCount'],
    [{ candidateCount: 9 }, 'generationConfig.candidateCount'],
    [{ maxOutputTokens: 0 }, 'generationConfig.maxOutputTokens'],
    [{ maxOutputTokens: 1.5 }, 'generationConfig.maxOutputTokens'],
    [{ stopSequences: ['1', '2', '3', '4', '5', '6'] }, 'generationConfig.stopSequences'],
    [{ stopSequences: 'x' }, 'generationConfig.stopSequences'],
    [{ seed: 2 ** 31 }, 'generationConfig.seed'],
    [{ logprobs: 21 }, 'generationConfig.logprobs'],
    [{ responseLogprobs: 1 }, 'generationConfig.responseLogprobs'],
    [{ responseMimeType: 'text/x.enum' }, 'generationConfig.responseMimeType'],
    [{ responseMimeType: 'image/png' }, 'generationConfig.responseMimeType'],
    [{ responseSchema: {} }, 'generationConfig.responseSchema'],
    [
      { responseMimeType: 'application/json', responseSchema: {}, responseJsonSchema: {} },
      'generationConfig.responseJsonSchema',
    ],
    [{ responseModalities: ['IMAGE'] }, 'generationConfig.responseModalities'],
    [{ speechConfig: {} }, 'generationConfig.speechConfig'],
    [{ thinkingConfig: { thinkingLevel: 7 } }, 'generationConfig.thinkingConfig.thinkingLevel'],
    [{ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 5 } }, 'generationConfig.thinkingConfig.thinkingBudget'],
    [{ topK: 1, top_k: 1 }, 'generationConfig.topK'],
  ] as readonly (readonly [Json, string])[]) {
    it(`refuses ${JSON.stringify(given)}, by its path`, () => {
      expect(refusal({ contents: HI, generationConfig: given })).to.include(path);
    });
  }

  for (const [body, path] of [
    [{}, 'contents'],
    [{ contents: [] }, 'contents'],
    [{ contents: 'hi' }, 'contents'],
    [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
    [{ contents: [{ role: 'user' }] }, 'contents[0].parts'],
    [{ contents: [user({})] }, 'contents[0].parts[0]'],
    [{ contents: [user({ text: 'a', inlineData: {} })] }, 'contents[0].parts[0]'],
    [{ contents: [user({ text: 7 })] }, 'contents[0].parts[0].text'],
    [
      { contents: [user({ inlineData: { mimeType: 'image/png', data: '<>' } })] },
      'contents[0].parts[0].inlineData.data',
    ],
    [{ contents: [user({ inlineData: { data: 'AAAA' } })] }, 'contents[0].parts[0].inlineData.mimeType'],
    [{ contents: [user({ fileData: { fileUri: 'gs://bucket/x' } })] }, 'contents[0].parts[0].fileData.fileUri'],
    [
      { contents: [user({ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } })] },
      'contents[0].parts[0].fileData.fileUri',
    ],
    [{ contents: [user({ fileData: { fileUri: 'ftp://h/x' } })] }, 'contents[0].parts[0].fileData.fileUri'],
    [{ contents: [user({ executableCode: {} })] }, 'contents[0].parts[0].executableCode'],
    [{ contents: [user({ novelty: {} })] }, 'contents[0].parts[0].novelty'],
    [
      { contents: [model({ functionCall: { name: 'f', willContinue: true } })] },
      'contents[0].parts[0].functionCall.willContinue',
    ],
    [{ contents: [model({ functionCall: {} })] }, 'contents[0].parts[0].functionCall.name'],
    [
      { contents: [user({ functionResponse: { name: 'f', response: {} } })] },
      'contents[0].parts[0].functionResponse.name',
    ],
    [
      {
        contents: [model({ functionCall: { id: 'a', name: 'f' } }), user({ functionResponse: { id: 'b', name: 'f' } })],
      },
      'contents[1].parts[0].functionResponse.id',
    ],
    [
      {
        contents: [
          model({ functionCall: { name: 'f' } }),
          user({ functionResponse: { name: 'f' } }, { functionResponse: { name: 'f' } }),
        ],
      },
      'contents[1].parts[1].functionResponse.name',
    ],
    [{ contents: HI, cachedContent: 'cachedContents/x' }, 'cachedContent'],
    [
      { contents: HI, systemInstruction: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } },
      'systemInstruction.parts[0].inlineData',
    ],
    [{ contents: HI, systemInstruction: 'be brief' }, 'systemInstruction'],
    [{ contents: HI, tools: {} }, 'tools'],
    [{ contents: HI, tools: [{ googleSearch: {} }] }, 'tools[0].googleSearch'],
    [{ contents: HI, tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name'],
    [
      { contents: HI, tools: [{ functionDeclarations: [{ name: 'f', parameters: {}, parametersJsonSchema: {} }] }] },
      'tools[0].functionDeclarations[0].parametersJsonSchema',
    ],
    [{ contents: HI, tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] }, '"f" twice'],
    [{ contents: HI, toolConfig: { functionCallingConfig: { mode: 'ANY' } } }, 'toolConfig.functionCallingConfig'],
    [
      {
        contents: HI,
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] } },
      },
      '"g"',
    ],
    [
      { contents: HI, toolConfig: { functionCallingConfig: { mode: 'SOME' } } },
      'toolConfig.functionCallingConfig.mode',
    ],
    [{ contents: HI, serviceTier: ['flex'] }, 'serviceTier'],
  ] as readonly (readonly [Json, string])[]) {
    it(`refuses ${JSON.stringify(body)}, by its path`, () => {
      expect(refusal(body)).to.include(path);
    });
  }

  it('reports what has no place elsewhere, in the order of the body', () => {
    expect(
      lost({
        contents: [
          user(
            { text: 'a', videoMetadata: {} },
            { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'n' } },
          ),
        ],
        labels: { a: 'b' },
        safetySettings: [{ category: 'X' }],
        tools: [{ functionDeclarations: [{ name: 'f', behavior: 'BLOCKING', response: {} }], googleSearch: {} }],
        toolConfig: { retrievalConfig: {}, functionCallingConfig: { mode: 'VALIDATED' } },
        generationConfig: { mediaResolution: 'LOW', novelty: 1 },
        store: true,
        another: {},
      }),
    ).to.deep.equal([
      'contents[0].parts[0].videoMetadata',
      'contents[0].parts[1].inlineData.displayName',
      'labels',
      'safetySettings',
      'tools[0].functionDeclarations[0].response',
      'tools[0].functionDeclarations[0].behavior',
      'tools[0].googleSearch',
      'toolConfig.retrievalConfig',
      'toolConfig.functionCallingConfig.mode',
      'generationConfig.mediaResolution',
      'generationConfig.novelty',
      'store',
      'another',
    ]);
  });

  for (const [tier, expected] of [
    ['flex', 'flex'],
    ['standard', 'default'],
    ['priority', 'priority'],
    ['unspecified', undefined],
  ] as const) {
    it(`has the service tier ${tier}`, () => {
      expect(fields({ serviceTier: tier })).to.deep.equal(expected === undefined ? {} : { service_tier: expected });
    });
  }
});

describe('tools of the Gemini API', () => {
  const DECLARED = [
    {
      functionDeclarations: [
        {
          name: 'f',
          description: 'd',
          parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
        },
        { name: 'g', parametersJsonSchema: { type: 'OBJECT', $defs: {} } },
      ],
    },
  ];
  const F = {
    type: 'function',
    function: {
      name: 'f',
      description: 'd',
      parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } },
    },
  };
  const G = { type: 'function', function: { name: 'g', parameters: { type: 'object', $defs: {} } } };
  const chosen = (functionCallingConfig: Json): Json =>
    fields({ tools: DECLARED, toolConfig: { functionCallingConfig } });

  it('are functions', () => {
    expect(fields({ tools: DECLARED })).to.deep.equal({ tools: [F, G] });
  });
  it('may be empty', () => {
    expect(fields({ tools: [], toolConfig: { functionCallingConfig: { mode: 'AUTO' } } })).to.deep.equal({});
  });
  for (const [mode, word] of [
    ['AUTO', 'auto'],
    ['ANY', 'required'],
    ['NONE', 'none'],
    ['VALIDATED', 'auto'],
  ] as const)
    it(`are chosen by the mode ${mode}`, () => {
      expect(chosen({ mode })).to.deep.equal({ tools: [F, G], tool_choice: word });
    });
  it('are one by one name', () => {
    expect(chosen({ mode: 'ANY', allowedFunctionNames: ['g'] })).to.deep.equal({
      tools: [G],
      tool_choice: { type: 'function', function: { name: 'g' } },
    });
  });
  it('are those of several names', () => {
    expect(chosen({ mode: 'ANY', allowedFunctionNames: ['g', 'f'] })).to.deep.equal({
      tools: [F, G],
      tool_choice: 'required',
    });
  });
});

describe('contents of the Gemini API', () => {
  it('keep media and text in their order', () => {
    expect(
      messages(
        user(
          { text: 'see' },
          { inlineData: { mimeType: 'image/heic', data: 'A_-A' } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://h/i' } },
          { inlineData: { mimeType: 'audio/mpeg', data: 'AAAA' } },
        ),
      ),
    ).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/heic;base64,A/+A' } },
          { type: 'image_url', image_url: { url: 'https://h/i' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        ],
      },
    ]);
  });

  it('keep files, and texts among them as text', () => {
    expect(
      messages({
        parts: [
          { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
          { inlineData: { mimeType: 'text/plain; charset=utf-8', data: 'R3LDvMOfZQ==' } },
          { file_data: { mime_type: 'application/pdf', file_uri: 'https://h/d.pdf' } },
        ],
      }),
    ).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'document.pdf' } },
          { type: 'text', text: 'Grüße' },
          { type: 'file', file: { file_data: 'https://h/d.pdf', format: 'application/pdf' } },
        ],
      },
    ]);
  });

  it('leave out what is empty', () => {
    expect(messages({ role: 'model', parts: [] }, ...HI, user({ text: '' }))).to.deep.equal([
      { role: 'user', content: 'hi' },
    ]);
  });

  it('are one turn of the model, however many pieces a client keeps', () => {
    expect(
      messages(
        ...HI,
        model({ text: 'a', thought: true }),
        model({ text: 'b' }),
        model({ text: 'c' }),
        model({ functionCall: { name: 'f', args: { x: 1 } } }, { functionCall: { id: 'own', name: 'g' } }),
      )[1],
    ).to.deep.equal({
      role: 'assistant',
      content: 'bc',
      reasoning_content: 'a',
      tool_calls: [
        { id: 'call_4_0', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'own', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
  });

  it('have the results of calls first, in order, each for its call', () => {
    const answered = messages(
      ...HI,
      model(
        { functionCall: { name: 'f', args: { a: 1 } } },
        { functionCall: { name: 'f', args: { a: 2 } } },
        { functionCall: { id: 'x', name: 'g' } },
      ),
      {
        role: 'function',
        parts: [
          { text: 'and' },
          { functionResponse: { id: 'x', name: 'g', response: { output: 'third' } } },
          { functionResponse: { name: 'f', response: { result: 'first' } } },
        ],
      },
      user({ functionResponse: { name: 'f', response: { error: 'bad' } } }),
    );
    expect(answered.slice(2)).to.deep.equal([
      { role: 'tool', tool_call_id: 'x', content: 'third' },
      { role: 'tool', tool_call_id: 'call_1_0', content: 'first' },
      { role: 'user', content: 'and' },
      { role: 'tool', tool_call_id: 'call_1_1', content: 'bad', is_error: true },
    ]);
  });

  for (const [response, content] of [
    [undefined, ''],
    [{}, '{}'],
    [{ output: 1 }, '{"output":1}'],
    [{ output: 'a', b: 2 }, '{"output":"a","b":2}'],
    [{ result: 'r' }, 'r'],
    [{ x: [1] }, '{"x":[1]}'],
  ] as const) {
    it(`have the result ${JSON.stringify(response)} as ${content || 'an empty text'}`, () => {
      expect(
        messages(
          model({ functionCall: { name: 'f' } }),
          user({ functionResponse: { name: 'f', ...(response && { response }) } }),
        )[1],
      ).to.include({ content });
    });
  }

  it('have media inside results', () => {
    expect(
      messages(
        model({ functionCall: { name: 'f' } }),
        user({
          functionResponse: {
            name: 'f',
            response: { output: 'see' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
          },
        }),
      )[1]?.['content'],
    ).to.deep.equal([
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ]);
  });

  it('keep signatures of their own vendor with their places', () => {
    const [turn] = messages(
      model(
        { text: 'think', thought: true, thoughtSignature: 't' },
        { text: 'ab' },
        { text: 'cd', thoughtSignature: 's' },
        { functionCall: { id: 'c', name: 'f' }, thoughtSignature: 'k' },
        { functionCall: { id: 'd', name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' },
      ),
    );
    expect(turn?.['reasoning_details']).to.deep.equal([
      { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', thought: true, start: 0, end: 5, data: 't' },
      { type: 'reasoning.encrypted', index: 1, format: 'google-gemini-v1', start: 2, end: 4, data: 's' },
      { type: 'reasoning.encrypted', index: 2, format: 'google-gemini-v1', id: 'c', data: 'k' },
    ]);
  });

  it('give back what other vendors signed, once, with the text that stands in the parts', () => {
    const item = { type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 'sig' };
    const call = {
      functionCall: { id: 'c', name: 'f' },
      thoughtSignature: sealEnvelope([{ ...item, text: 'a thought' }]),
    };
    const expected = [{ ...item, text: 'a thought', index: 0 }];
    expect(
      messages(
        model(
          { text: 'a ', thought: true },
          { text: 'thought', thought: true },
          { text: '', thought: true, thoughtSignature: sealEnvelope([item]) },
          call,
        ),
      )[0],
    ).to.deep.include({ reasoning_content: 'a thought', reasoning_details: expected });
    expect(messages(model(call))[0], 'by a client that drops thoughts').to.deep.include({
      reasoning_content: 'a thought',
      reasoning_details: expected,
    });
  });

  it('give back thoughts without a secret', () => {
    const plain = sealEnvelope([{ type: 'reasoning.text', text: 'hm' }]);
    expect(
      messages(
        model(
          { text: 'hm', thought: true, thoughtSignature: sealEnvelope([]) },
          { functionCall: { id: 'c', name: 'f' }, thoughtSignature: plain },
        ),
      )[0],
    )
      .to.include({ reasoning_content: 'hm' })
      .and.not.have.property('reasoning_details');
    expect(messages(model({ functionCall: { id: 'c', name: 'f' }, thoughtSignature: plain }))[0])
      .to.include({ reasoning_content: 'hm' })
      .and.not.have.property('reasoning_details');
  });

  it('take names like __proto__ as plain data', () => {
    const args = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Json;
    expect(
      messages(model({ functionCall: { id: 'c', name: '__proto__', args } }))[0]?.['tool_calls'][0].function,
    ).to.deep.equal({ name: '__proto__', arguments: '{"__proto__":{"x":1},"constructor":2}' });
  });
});

describe('large requests of the Gemini API', () => {
  it('are read in time that grows with their size', () => {
    const turn = (calls: number): Json => ({
      contents: [
        ...HI,
        model(
          ...Array.from({ length: calls }, (_, at) => ({
            functionCall: { name: `f${at % 2}`, ...(at % 3 === 0 && { id: `c${at}` }) },
            thoughtSignature: sealEnvelope([{ type: 'reasoning.text', format: 'x', signature: `s${at}` }]),
          })),
        ),
        user(
          ...Array.from({ length: calls }, (_, at) => ({
            functionResponse: { name: `f${at % 2}`, ...(at % 3 === 0 && { id: `c${at}` }), response: { output: 'a' } },
          })),
        ),
      ],
    });
    const cost = (body: Json): number => {
      const before = process.cpuUsage();
      for (let round = 0; round < 3; round += 1)
        expect(readGenerate(body, 'm').request.messages).to.have.length(2 + body['contents'][2].parts.length);
      const { user: spent } = process.cpuUsage(before);
      return spent;
    };
    const [small, large] = [turn(1000), turn(16_000)];
    cost(small);
    expect(cost(large) / cost(small)).to.be.lessThan(64); // 16 where it is linear, 256 where it is not
  });

  it('look at each name that may be called a few times, however many functions there are', () => {
    const names = Array.from({ length: 200 }, (_, at) => `f${at}`);
    let looks = 0;
    const counted = new Proxy([...names], {
      get: (list, name, receiver) => {
        if (/^\d+$/.test(String(name))) looks += 1;
        return Reflect.get(list, name, receiver);
      },
    });
    const request = fields({
      tools: [{ functionDeclarations: [...names, 'left out'].map((name) => ({ name })) }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: counted } },
    });
    expect(request['tools']).to.have.length(names.length);
    expect(looks).to.be.at.most(10 * names.length);
  });
});
