import { expect } from 'chai';
import {
  openSse,
  replyJson,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { CLIENTS, type Json } from './returning-clients.ts';

/** What a service of the Responses API has answered in a turn, in the order in which it wants it back. */
const outputOf = (turn: number, hasSummary: boolean): Json[] => {
  const thought = (place: number): Json => ({
    type: 'reasoning',
    id: `rs_${turn}_${place}`,
    summary: hasSummary ? [{ type: 'summary_text', text: `thought ${turn}.${place}` }] : [],
    encrypted_content: `sealed ${turn}.${place}`,
  });
  const call = (place: number): Json => ({
    type: 'function_call',
    id: `fc_${turn}_${place}`,
    call_id: `call_${turn}_${place}`,
    name: 'look',
    arguments: `{"at":${place}}`,
    status: 'completed',
  });
  const said: Json = {
    type: 'message',
    id: `msg_${turn}`,
    role: 'assistant',
    status: 'completed',
    phase: 'commentary',
    content: [{ type: 'output_text', text: `looking ${turn}`, annotations: [] }],
  };
  return [thought(0), said, thought(1), call(0), thought(2), call(1)];
};

/** Those items as they must come back: without ids, the thoughts without their text. */
const wantedOf = (turn: number): Json[] =>
  outputOf(turn, false).map(
    ({ type, encrypted_content: sealed, call_id: id, name, arguments: given, phase, content }) => {
      if (type === 'reasoning') return { type, summary: [], encrypted_content: sealed };
      if (type === 'function_call') return { type, call_id: id, name, arguments: given };
      return { role: 'assistant', content: content[0].text, phase };
    },
  );

/** What of an input the assistant said. */
const answersIn = (input: readonly Json[]): Json[] =>
  input.filter(({ type, role }) => role === 'assistant' || type === 'reasoning' || type === 'function_call');

function* eventsOf(response: Json): Generator<Json> {
  yield { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } };
  for (const [at, item] of (response['output'] as Json[]).entries()) {
    const empty = { ...item, ...(item['type'] === 'function_call' ? { arguments: '' } : { content: [], summary: [] }) };
    yield { type: 'response.output_item.added', output_index: at, item: empty };
    for (const [place, { text }] of (item['summary'] ?? []).entries())
      yield { type: 'response.reasoning_summary_text.delta', output_index: at, summary_index: place, delta: text };
    for (const { text } of item['content'] ?? [])
      for (const delta of [text.slice(0, 3), text.slice(3)])
        yield { type: 'response.output_text.delta', output_index: at, content_index: 0, delta };
    if (item['arguments'])
      yield { type: 'response.function_call_arguments.delta', output_index: at, delta: item['arguments'] };
    yield { type: 'response.output_item.done', output_index: at, item };
  }
  yield { type: 'response.completed', response };
}

/**
 * A vendor that keeps its published rule: no tools on chat but with an explicit effort of `none`, and every thought back, unchanged, in
 * front of what it belongs to. Source: GitHub BerriAI/litellm issue 34569, 2026-11-26.
 */
const vendor: StubHandler = (request, response) => {
  const refuse = (message: string): void =>
    replyJson(response, 400, { error: { message, type: 'invalid_request_error' } });
  const { tools, reasoning_effort: effort, input, stream, reasoning, include, store } = request.json() as Json;
  if (!request.url.endsWith('/responses')) {
    if (tools && effort !== 'none') refuse('Function tools are not supported for this model in /v1/chat/completions.');
    else refuse('this test asks for no chat');
    return;
  }
  const turn = (input as Json[]).filter(({ type }) => type === 'function_call').length / 2;
  const wanted = Array.from({ length: turn }, (_, at) => wantedOf(at)).flat();
  const given = answersIn(input as Json[]);
  if (JSON.stringify(given) !== JSON.stringify(wanted)) {
    refuse(`the input is not what was answered: ${JSON.stringify(given)}`);
    return;
  }
  if (store !== false || !include?.includes('reasoning.encrypted_content')) {
    refuse('nothing is kept');
    return;
  }
  const answer = {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1_700_000_000,
    model: 'gpt-5.6-sol',
    status: 'completed',
    error: null,
    output: outputOf(turn, reasoning?.summary !== undefined),
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };
  if (stream !== true) {
    replyJson(response, 200, answer);
    return;
  }
  openSse(response);
  for (const event of eventsOf(answer)) response.write(`event: ${event['type']}\n${sseEvent(event)}`);
  response.end();
};

async function open(provider: string): Promise<{ upstream: StubUpstream; t: TestHost }> {
  const upstream = await stubUpstream(vendor);
  const variables = {
    OPENAI_API_KEY: 'vendor-key-0123456789',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    AZURE_FOUNDRY_API_KEY: 'foundry-key-0123456789',
    AZURE_FOUNDRY_ENDPOINT: upstream.url,
  };
  const target = { virtual_key: provider, models: ['m'], model_map: { m: 'gpt-5.6-sol' }, responses: 'translate' };
  const t = await startHost({ targets: [target] }, { variables });
  return { upstream, t };
}

describe('three turns with two calls each, at a vendor that wants its sealed thoughts back', () => {
  for (const provider of ['openai', 'azure-foundry'])
    for (const { name, wantsThoughts, ask } of CLIENTS)
      for (const streaming of [false, true]) {
        const how = `${name}, ${streaming ? 'streamed' : 'whole'}, ${wantsThoughts ? 'with' : 'without'} thoughts`;
        it(`are finished by a client of ${how}, at ${provider}`, async () => {
          const { upstream, t } = await open(provider);
          const history: Json[] = [];
          for (let turn = 0; turn < 4; turn += 1)
            for (const each of await ask(t, streaming, history)) history.push(each);
          expect(upstream.seen).to.have.length(4);
          const { input, reasoning } = upstream.seen.at(-1)!.json() as Json;
          expect(answersIn(input)).to.deep.equal([0, 1, 2].flatMap(wantedOf));
          expect(JSON.stringify(input)).not.to.include('"id"');
          expect(reasoning?.summary).to.equal(wantsThoughts ? 'auto' : undefined);
        });
      }
});
