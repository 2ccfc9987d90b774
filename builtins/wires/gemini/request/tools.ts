import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { type ChatTool, type Fields, quoted } from '../../../../host/contract/index.ts';
import { cannotCarry, given, listOf, type Lost, Members } from './members.ts';
import { fromJsonSchema, fromVendorSchema } from './schema.ts';

/** Tools that the vendor runs. Source: @google/genai 3.1.0, "Tool", 2026-11-22. */
const VENDOR_RUN = [
  'googleSearch',
  'googleSearchRetrieval',
  'urlContext',
  'codeExecution',
  'googleMaps',
  'computerUse',
  'fileSearch',
  'mcpServers',
  'retrieval',
  'enterpriseWebSearch',
  'parallelAiSearch',
  'exaAiSearch',
];
const TOOL = new Set(['functionDeclarations', ...VENDOR_RUN]);
const DECLARATION = new Set([
  'name',
  'description',
  'parameters',
  'parametersJsonSchema',
  'response',
  'responseJsonSchema',
  'behavior',
]);
const TOOL_CONFIG = new Set(['functionCallingConfig', 'retrievalConfig', 'includeServerSideToolInvocations']);
const CALLING = new Set(['mode', 'allowedFunctionNames', 'streamFunctionCallArguments']);
const MODES = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'];

/** The functions a request offers, and how they are to be used, in the common format. See docs/reference/ingress.md#gemini-the-request. */
export function readTools(tools: unknown, toolConfig: unknown, lost: Lost): Fields {
  const functions = readDeclarations(tools, lost);
  const choice = readChoice(toolConfig, lost);
  const offered = choice.allowed.length > 0 ? cutTo(functions, choice.allowed, choice.path) : functions;
  if (offered.length === 0) {
    if (choice.isForced) throw invalidRequest(`${choice.path} asks for a call, and no function is declared`);
    return {};
  }
  const [only, second] = choice.allowed;
  const named = choice.isForced && only !== undefined && second === undefined;
  return given({ tools: offered, tool_choice: named ? { type: 'function', function: { name: only } } : choice.word });
}

function readDeclarations(tools: unknown, lost: Lost): readonly ChatTool[] {
  if (tools === undefined) return [];
  const listed = listOf(tools);
  if (!listed) throw invalidRequest('tools must be a list');
  const functions: ChatTool[] = [];
  const vendorRun: string[] = [];
  listed.forEach((value, index) => {
    const at = `tools[${index}]`;
    const tool = new Members(value, TOOL, at);
    for (const name of Object.keys(tool.fields)) if (name !== 'functionDeclarations') vendorRun.push(tool.path(name));
    tool
      .list('functionDeclarations')
      ?.forEach((declaration, place) =>
        functions.push(toFunction(declaration, `${at}.functionDeclarations[${place}]`, lost)),
      );
  });
  const [first] = vendorRun;
  if (first !== undefined && functions.length === 0)
    throw cannotCarry(first, 'only its own vendor can run this tool, and there is no other');
  for (const path of vendorRun) lost.add(path);
  refuseTwins(functions);
  return functions;
}

function toFunction(value: unknown, at: string, lost: Lost): ChatTool {
  const declaration = new Members(value, DECLARATION, at);
  const name = declaration.text('name');
  if (!name) throw invalidRequest(`${declaration.path('name')} is required`);
  const { parameters, parametersJsonSchema } = declaration.fields;
  if (parameters !== undefined && parametersJsonSchema !== undefined)
    throw invalidRequest(
      `${declaration.path('parameters')} and ${declaration.path('parametersJsonSchema')} are both given`,
    );
  lost.addGiven(declaration.fields, ['response', 'responseJsonSchema', 'behavior'], at);
  lost.addUnknown(declaration.fields, DECLARATION, at);
  const schema = parameters === undefined ? parametersJsonSchema : parameters;
  const convert = parameters === undefined ? fromJsonSchema : fromVendorSchema;
  const path = declaration.path(parameters === undefined ? 'parametersJsonSchema' : 'parameters');
  const description = declaration.text('description');
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(schema !== undefined && { parameters: convert(schema, path) }),
    },
  };
}

const nameOf = (tool: ChatTool): string => tool.function?.name ?? '';

function refuseTwins(functions: readonly ChatTool[]): void {
  const seen = new Set<string>();
  for (const name of functions.map(nameOf)) {
    if (seen.has(name)) throw invalidRequest(`tools declares the function ${quoted(name)} twice`);
    seen.add(name);
  }
}

interface Choice {
  /** `undefined` where nothing is said. */
  readonly word: string | undefined;
  readonly isForced: boolean;
  /** Names of the functions that may be called; all of them where it is empty. */
  readonly allowed: readonly string[];
  readonly path: string;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['AUTO', 'auto'],
  ['VALIDATED', 'auto'],
  ['ANY', 'required'],
  ['NONE', 'none'],
]);

function readChoice(value: unknown, lost: Lost): Choice {
  const path = 'toolConfig.functionCallingConfig';
  const config = value === undefined ? undefined : new Members(value, TOOL_CONFIG, 'toolConfig');
  if (config) {
    lost.addGiven(config.fields, ['retrievalConfig', 'includeServerSideToolInvocations'], 'toolConfig');
    lost.addUnknown(config.fields, TOOL_CONFIG, 'toolConfig');
  }
  const asked = config?.object('functionCallingConfig');
  if (!asked) return { word: undefined, isForced: false, allowed: [], path };
  const calling = new Members(asked, CALLING, path);
  const mode = calling.word('mode', MODES) ?? 'MODE_UNSPECIFIED';
  const allowed = calling.texts('allowedFunctionNames') ?? [];
  if (allowed.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED')
    throw invalidRequest(`${calling.path('allowedFunctionNames')} needs the mode ANY or VALIDATED`);
  if (mode === 'VALIDATED') lost.add(calling.path('mode'));
  lost.addGiven(calling.fields, ['streamFunctionCallArguments'], path);
  lost.addUnknown(calling.fields, CALLING, path);
  return { word: WORDS.get(mode), isForced: mode === 'ANY', allowed, path };
}

/** The functions of these names. Throws a 400 for a name that none has. */
function cutTo(functions: readonly ChatTool[], allowed: readonly string[], path: string): readonly ChatTool[] {
  const names = new Set(functions.map(nameOf));
  const missing = allowed.find((name) => !names.has(name));
  if (missing !== undefined)
    throw invalidRequest(`${path}.allowedFunctionNames names ${quoted(missing)}, which is not declared`);
  const wanted = new Set(allowed);
  return functions.filter((tool) => wanted.has(nameOf(tool)));
}
