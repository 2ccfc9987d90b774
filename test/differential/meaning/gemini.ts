import { type Fields, given, type Meaning, others, schemaOf, type Tool, Turns } from './meaning.ts';

const CONFIG = [
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'candidateCount',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'thinkingConfig',
];
const READ = ['contents', 'systemInstruction', 'generationConfig', 'tools', 'toolConfig'];

/** A body of `generateContent`. */
export function readGemini(body: Fields): Meaning {
  const turns = new Turns();
  for (const part of body['systemInstruction']?.parts ?? []) readPart(turns, 'system', part);
  for (const { role, parts } of body['contents'] as readonly Fields[])
    for (const part of parts) readPart(turns, role === 'model' ? 'assistant' : String(role), part);
  return { turns: turns.all(), tools: (body['tools'] ?? []).flatMap(readTools), settings: settingsOf(body) };
}

function settingsOf(body: Fields): Fields {
  const config: Fields = body['generationConfig'] ?? {};
  const { functionCallingConfig: calling } = (body['toolConfig'] ?? {}) as Fields;
  return given({
    temperature: config['temperature'],
    top_p: config['topP'],
    top_k: config['topK'],
    max_tokens: config['maxOutputTokens'],
    seed: config['seed'],
    n: config['candidateCount'],
    stop: config['stopSequences']?.length > 0 ? config['stopSequences'] : undefined,
    presence_penalty: config['presencePenalty'],
    frequency_penalty: config['frequencyPenalty'],
    logprobs: config['responseLogprobs'],
    top_logprobs: config['logprobs'],
    response_format: config['responseMimeType'],
    schema: schemaOf(config['responseSchema'] ?? config['responseJsonSchema']),
    thinking: config['thinkingConfig'],
    tool_choice: choiceOf(calling),
    ...others(config, CONFIG),
    ...others(body, READ),
  });
}

function choiceOf(calling: Fields | undefined): unknown {
  if (!calling) return undefined;
  const { mode, allowedFunctionNames: names } = calling;
  if (names?.length > 0) return `function ${String(names.join(' '))}`;
  return { ANY: 'required', AUTO: 'auto', NONE: 'none', VALIDATED: 'validated' }[String(mode)] ?? mode;
}

function readTools({ functionDeclarations: declared, ...more }: Fields): Tool[] {
  const functions = ((declared ?? []) as readonly Fields[]).map(
    ({ name, description, parameters, parametersJsonSchema, ...rest }) => ({
      name,
      ...given({
        description: description || undefined,
        schema: schemaOf(parameters ?? parametersJsonSchema),
        ...rest,
      }),
    }),
  );
  return [...functions, ...Object.entries(more).map(([name, value]) => ({ name, value }))];
}

function readPart(turns: Turns, role: string, part: Fields): void {
  const {
    text,
    thought,
    thoughtSignature: signature,
    inlineData: data,
    fileData: file,
    functionCall: call,
    functionResponse: result,
    ...more
  } = part;
  if (thought) turns.add(role, 'thinking', { text });
  else if (text !== undefined) turns.text(role, text);
  if (data) turns.media(role, { type: data.mimeType, data: data.data });
  if (file) turns.media(role, { type: file.mimeType, url: file.fileUri });
  if (call) turns.call(call.id, call.name, call.args ?? {});
  if (result) turns.result(result.id, valueOf(result.response), result.name);
  if (signature) turns.add(role, 'signature', { signature });
  for (const [name, value] of Object.entries(more)) turns.add(role, `part ${name}`, { value });
}

/** A result that is not an object is wrapped in one, under one of several names. */
function valueOf(response: Fields): unknown {
  const names = Object.keys(response);
  if (names.length === 1 && 'result' in response) return response['result'];
  return names.length === 2 && 'content' in response && 'name' in response ? response['content'] : response;
}
