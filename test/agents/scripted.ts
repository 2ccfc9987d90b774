import type { ServerResponse } from 'node:http';
import { openSse, type SeenRequest, sseEvent } from '../kit/index.ts';

/** One thing that a model does in a turn: it calls a tool, or says that it is done. */
export type Step =
  | { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly say: string };

/** Streams a step in the wire of one kind of target. */
type Speak = (response: ServerResponse, step: Step, id: string) => void;

const COMMON: Speak = (response, step, id) => {
  const send = (delta: object, finish: string | null = null): void => {
    response.write(sseEvent({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] }));
  };
  if ('say' in step) send({ content: step.say });
  else {
    send({ reasoning_content: 'let me see' });
    send({ tool_calls: [{ index: 0, id, type: 'function', function: { name: step.tool, arguments: '' } }] });
    for (const piece of JSON.stringify(step.args).match(/.{1,7}/gs) ?? [])
      send({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }
  send({}, 'say' in step ? 'stop' : 'tool_calls');
  response.end(
    sseEvent({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109 } }) +
      sseEvent('[DONE]'),
  );
};

const MESSAGES: Speak = (response, step, id) => {
  const send = (event: { readonly type: string; readonly [member: string]: unknown }): void => {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const block = 'say' in step ? { type: 'text', text: '' } : { type: 'tool_use', id, name: step.tool, input: {} };
  const usage = { input_tokens: 100, output_tokens: 9 };
  send({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  });
  send({ type: 'content_block_start', index: 0, content_block: block });
  send({
    type: 'content_block_delta',
    index: 0,
    delta:
      'say' in step
        ? { type: 'text_delta', text: step.say }
        : { type: 'input_json_delta', partial_json: JSON.stringify(step.args) },
  });
  send({ type: 'content_block_stop', index: 0 });
  send({
    type: 'message_delta',
    delta: { stop_reason: 'say' in step ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage,
  });
  send({ type: 'message_stop' });
  response.end();
};

/** The vendor's own wire: clients take whole items. A custom tool gets its one text, and functions in a namespace stand apart from it. */
const RESPONSES: Speak = (response, step, id) => {
  let number = 0;
  const send = (type: string, members: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...members })}\n\n`);
    number += 1;
  };
  const [namespace, name] =
    'say' in step || !step.tool.includes('__') ? [undefined, 'say' in step ? '' : step.tool] : step.tool.split('__');
  const item =
    'say' in step
      ? {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: step.say, annotations: [] }],
        }
      : {
          id: 'i_1',
          call_id: id,
          name,
          ...(namespace !== undefined && { namespace }),
          status: 'completed',
          ...('input' in step.args
            ? { type: 'custom_tool_call', input: step.args['input'] }
            : { type: 'function_call', arguments: JSON.stringify(step.args) }),
        };
  const answer = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] };
  send('response.created', { response: answer });
  send('response.output_item.added', { output_index: 0, item });
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', {
    response: {
      ...answer,
      status: 'completed',
      output: [item],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 109,
      },
    },
  });
  response.end();
};

const GEMINI: Speak = (response, step, id) => {
  const part = 'say' in step ? { text: step.say } : { functionCall: { id, name: step.tool, args: step.args } };
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 9, totalTokenCount: 109 };
  response.end(
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }], usageMetadata, modelVersion: 'm', responseId: 'r' })}\r\n\r\n`,
  );
};

const SPEAKERS: readonly (readonly [path: RegExp, speak: Speak])[] = [
  [/\/responses$/, RESPONSES],
  [/\/messages/, MESSAGES],
  [/\/chat\/completions$/, COMMON],
  [/:streamGenerateContent$/, GEMINI],
];

/** Plays a model that takes these steps, one for each turn: which comes next shows in the calls that a request brings back. */
export function scripted(
  stepsOf: (tools: readonly string[]) => readonly Step[],
): (request: SeenRequest, response: ServerResponse) => void {
  return (request, response) => {
    const taken = new Set(request.text.match(/call_step_\d/g)).size;
    const step = stepsOf(toolsIn(request.text))[taken] ?? { say: 'the script is over' };
    const speak = SPEAKERS.find(([path]) => path.test(request.url.split('?')[0] ?? ''))?.[1];
    if (!speak) {
      response.writeHead(404).end();
      return;
    }
    openSse(response);
    speak(response, step, `call_step_${taken + 1}`);
  };
}

/** Names of the tools that a request offers, in whichever wire: in a namespace with its name before. */
function toolsIn(text: string): readonly string[] {
  const names: string[] = [];
  const visit = (value: unknown, namespace: string): void => {
    if (Array.isArray(value)) value.forEach((item) => visit(item, namespace));
    else if (typeof value === 'object' && value !== null) {
      const { type, name, tools, function: called, input, functionDeclarations } = value as Record<string, any>;
      if (typeof name === 'string' && type !== 'namespace' && !('call_id' in value)) names.push(namespace + name);
      if (called?.name && called.parameters) names.push(called.name as string);
      visit(tools, type === 'namespace' ? `${String(name)}__` : namespace);
      visit(input, namespace);
      visit(functionDeclarations, namespace);
    }
  };
  visit(JSON.parse(text), '');
  return names;
}
