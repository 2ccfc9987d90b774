import { expect } from 'chai';
import { BODY_TEXTS } from '../../builtins/wires/gemini/body-texts.ts';
import { TEXTS } from '../../builtins/wires/messages/texts.ts';
import { bodyTexts } from '../../host/contract/text/client-body.ts';

/** An answer of the Messages wire as its vendor sends it. Source: platform.claude.com, API reference, "Create a Message", 2026-11-22. */
const message = (more: object = {}): object => ({
  id: 'msg_01X',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-8',
  content: [
    { type: 'text', text: 'said', citations: null },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'the sky' }, caller: { type: 'direct' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
    },
    {
      type: 'code_execution_tool_result',
      tool_use_id: 'srvtoolu_2',
      content: { type: 'code_execution_result', stdout: 'printed', stderr: '', return_code: 0, content: [] },
    },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  stop_details: null,
  usage: {
    input_tokens: 1,
    output_tokens: 2,
    service_tier: 'standard',
    inference_geo: 'not_available',
    speed: 'fast',
    iterations: [{ type: 'message', input_tokens: 1 }],
  },
  container: { id: 'container_1', expires_at: '2026-11-22T10:00:00.5Z' },
  ...more,
});

/** A whole answer of the Gemini wire. Source: ai.google.dev, API reference, "GenerateContentResponse", 2026-11-22. */
const generated = (candidate: object = {}, more: object = {}): object => ({
  candidates: [
    {
      index: 0,
      content: {
        role: 'model',
        parts: [
          { text: 'said' },
          { functionCall: { id: 'c-1', name: 'look', args: { at: 'the sky' } }, thoughtSignature: 'AAAA' },
        ],
      },
      finishReason: 'STOP',
      safetyRatings: [
        {
          category: 'HARM_CATEGORY_HARASSMENT',
          probability: 'NEGLIGIBLE',
          severity: 'HARM_SEVERITY_NEGLIGIBLE',
          probabilityScore: 0.1,
        },
      ],
      ...candidate,
    },
  ],
  usageMetadata: {
    promptTokenCount: 1,
    trafficType: 'ON_DEMAND',
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1 }],
  },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r-1_2',
  modelStatus: { modelStage: 'PREVIEW' },
  ...more,
});

const ofMessages = (value: object): string[] =>
  [...bodyTexts({ wire: 'messages', operation: 'messages', value: value as never, texts: TEXTS })].filter(
    (text) => text !== '',
  );
const ofGemini = (value: object): string[] => [
  ...bodyTexts({ wire: 'gemini', operation: 'generateContent', value: value as never, texts: BODY_TEXTS }),
];

describe("the texts of an answer in its vendor's wire", () => {
  it('are what is said, and no word of the Messages wire', () => {
    expect(ofMessages(message())).to.deep.equal(['said', 'look', 'at', 'the sky', 'printed']);
  });

  it('are what is said, and no word of the Gemini wire', () => {
    expect(ofGemini(generated())).to.deep.equal(['said', 'look', 'at', 'the sky']);
  });

  it('are also what stands in the place of such a word, and is none', () => {
    const secret = 'a secret';
    for (const more of [
      { stop_reason: secret },
      { stop_reason: 'end_turn now' },
      { stop_sequence: secret },
      { container: { id: secret, expires_at: 'x' } },
      { container: { id: 'c', expires_at: secret } },
      { usage: { input_tokens: 1, service_tier: secret } },
      { usage: { service_tier: 'standard bearer' } },
      { content: [{ type: 'x_error', error_code: secret }] },
      {
        content: [
          { type: 'tool_use', id: 'i', name: 'n', input: { type: 'direct', stop_reason: secret, error_code: secret } },
        ],
      },
    ]) {
      expect(ofMessages(message(more)).join('|'), JSON.stringify(more)).to.match(/secret|end_turn now|standard bearer/);
    }
    for (const [candidate, more] of [
      [{ safetyRatings: [{ severity: secret }] }, {}],
      [{ finishReason: secret }, {}],
      [{ content: { parts: [{ functionCall: { id: secret, name: 'n', args: {} } }] } }, {}],
      [{ content: { parts: [{ functionCall: { id: 'i', name: 'n', args: { id: 'secret', name: 'x' } } }] } }, {}],
      [{}, { usageMetadata: { trafficType: secret } }],
      [{}, { modelStatus: { modelStage: secret } }],
    ]) {
      expect(ofGemini(generated(candidate, more)).join('|'), JSON.stringify([candidate, more])).to.contain('secret');
    }
  });
});
