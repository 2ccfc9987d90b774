import { isFields } from '../json/fields.ts';
import { isRawNumber } from '../json/json-numbers.ts';

/**
 * Whose names the members of an object have: those of the wire itself (`own`), or names that a
 * client or a model chose, in a table such as the `properties` of a schema (`table`), or all of
 * them, at any depth (`free`). Names of a wire are plain words; any other name was chosen, wherever
 * it stands.
 */
export type Names = 'own' | 'table' | 'free';

/**
 * Members whose names are chosen one by one, and whose values are schemas, or lists of such names.
 * Source: JSON Schema 2020-12 and draft 7.
 */
const TABLES: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
]);

/**
 * Members that hold objects of the wires' own in requests; what is below any other member is the
 * client's. Sources: API references of OpenAI ("Chat completions", "Responses"), Anthropic ("Create
 * a Message"), Google ("Generating content"), and JSON Schema, 2026-11-26.
 */
const OWN: ReadonlySet<string> = new Set([
  // What several of them have.
  'messages',
  'content',
  'tools',
  'tool_choice',
  'format',
  'schema',
  'parameters',
  'cache_control',
  'file',
  'source',
  'text',
  'user_location',
  'code_execution',
  // Chat.
  'tool_calls',
  'function',
  'custom',
  'grammar',
  'allowed_tools',
  'image_url',
  'input_audio',
  'response_format',
  'json_schema',
  'stream_options',
  'logit_bias',
  'reasoning_details',
  // Messages.
  'system',
  'input_schema',
  'citations',
  'thinking',
  'output_config',
  'context_management',
  'edits',
  'trigger',
  'keep',
  'clear_at_least',
  'caller',
  'container',
  'skills',
  'mcp_servers',
  'tool_configuration',
  // Gemini.
  'contents',
  'parts',
  'systemInstruction',
  'system_instruction',
  'functionDeclarations',
  'function_declarations',
  'parametersJsonSchema',
  'parameters_json_schema',
  'responseJsonSchema',
  'response_json_schema',
  'responseSchema',
  'response_schema',
  '_responseJsonSchema',
  'toolConfig',
  'tool_config',
  'functionCallingConfig',
  'function_calling_config',
  'retrievalConfig',
  'latLng',
  'generationConfig',
  'generation_config',
  'thinkingConfig',
  'thinking_config',
  'speechConfig',
  'voiceConfig',
  'prebuiltVoiceConfig',
  'imageConfig',
  'safetySettings',
  'safety_settings',
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'videoMetadata',
  'functionCall',
  'function_call',
  'functionResponse',
  'function_response',
  'executableCode',
  'codeExecutionResult',
  'googleSearch',
  'google_search',
  'codeExecution',
  'urlContext',
  'url_context',
  'generateContentRequest',
  'requests',
  // Responses.
  'input',
  'reasoning',
  'summary',
  'filters',
  'ranking_options',
  'action',
  'output',
  'annotations',
  'logprobs',
  // JSON Schema, where it holds another schema.
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'additionalItems',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'propertyNames',
  'contentSchema',
]);

/**
 * Words that name members of some wire, such as `b64_json`, and ids of tokens. Not an address, a
 * number, a key or a sentence.
 */
const WORD = /^(?:\d{1,7}|(?=.{1,32}$)[a-z_$][A-Za-z_$-]*(?:\d{1,2}[A-Za-z_$-]*)?)$/;

/** Whose names are below a member of an object of the wire's own. */
export type NamesBelow = (member: string) => Names;

/** Which names of members in a request a client chose. */
export const inRequest: NamesBelow = (member) => (TABLES.has(member) ? 'table' : OWN.has(member) ? 'own' : 'free');
/** What an upstream says beside the arguments of calls has names of its own. */
export const inReply: NamesBelow = (member) => (TABLES.has(member) ? 'table' : 'own');
/** Names below a member of a body that is only forwarded: nothing is known of it. */
export const inForwarded: NamesBelow = () => 'free';

/** Whose names are below a member, from whose the member's own is. */
export function namesBelow(names: Names, member: string, below: NamesBelow): Names {
  if (names === 'own') return below(member);
  return names === 'table' ? 'own' : 'free';
}

/** Whether a name was chosen by a client or a model, so that it is a text. */
export function isChosen(name: string, names: Names): boolean {
  return name !== '' && (names !== 'own' || !WORD.test(name));
}

/**
 * All strings inside a value, and each name once that was chosen by a client or a model. `names`
 * says whose those of the outermost object are.
 */
export function* namedLeaves(value: unknown, names: Names, below: NamesBelow): Generator<string> {
  const open: unknown[] = [value];
  const whose: Names[] = [names];
  const seen = new Set<string>();
  const add = (member: unknown, its: Names): void => {
    if (typeof member !== 'string' && (typeof member !== 'object' || member === null)) return;
    open.push(member);
    whose.push(its);
  };
  while (open.length > 0) {
    const next = open.pop();
    const its = whose.pop() ?? 'free';
    if (typeof next === 'string') yield next;
    else if (Array.isArray(next)) for (let at = next.length - 1; at >= 0; at -= 1) add(next[at], its);
    else if (isFields(next)) {
      const members = Object.keys(next);
      if (members[0] === 'rawJSON' && isRawNumber(next)) {
        yield String(next['rawJSON']);
        continue;
      }
      for (const name of members) if (isNew(name, its, seen)) yield name;
      for (let at = members.length - 1; at >= 0; at -= 1) {
        const name = members[at] ?? '';
        add(next[name], namesBelow(its, name, below));
      }
    }
  }
}

/** Whether a name was chosen by a client or a model, and was not read yet. */
export function isNew(name: string, names: Names, seen: Set<string>): boolean {
  if (!isChosen(name, names) || seen.has(name)) return false;
  seen.add(name);
  return true;
}
