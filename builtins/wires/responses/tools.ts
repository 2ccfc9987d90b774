import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type ChatTool, type Fields, isFields, tryParseJson } from '../../../host/contract/index.ts';
import { ownNames } from '../tool-names.ts';
import { isGiven, listAt, notCarried, objectAt, optionalObject, optionalString, textAt } from './checks.ts';

/** The name of a function that stands in a namespace. */
export const nameIn = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}__${name}`;

/** What a client calls a tool that is sent as a function. */
export interface KnownTool {
  readonly kind: 'function' | 'custom' | 'search';
  readonly name: string;
  readonly namespace: string | undefined;
}

/** The function that stands for a search which the client runs itself. */
export const SEARCH = 'tool_search';

/** Run by the vendor of this API, or by a client with a schema that only its models know. Source: openai 7.57 (npm), types of `Tool`, 2026-11-22. */
const VENDOR_TOOLS =
  /^(?:web_search|computer)|^(?:file_search|code_interpreter|image_generation|mcp|shell|local_shell|apply_patch|programmatic_tool_calling)$/;

/** Members of a tool that functions of other vendors do not have. */
const LOST_MEMBERS = ['defer_loading', 'allowed_callers', 'output_schema', 'async'];

/** Members whose value says what would hold without them. */
const isPlain = (value: unknown): boolean =>
  !isGiven(value) || value === false || (Array.isArray(value) && value.length === 1 && value[0] === 'direct');

/** The tools of one request, from wherever in it they come, as functions of the common wire. */
export class ToolBook {
  readonly sent: ChatTool[] = [];
  /** Paths of what was left out. */
  readonly lost: string[] = [];
  /** Path of the first tool that was left out whole. */
  firstLost: string | undefined;
  readonly #known = new Map<string, KnownTool>();
  /** For targets that take no long names: made with the first call. */
  #ownName: ((name: string) => string) | undefined;

  /** Tools of the request itself: each stands there once. */
  declare(value: unknown, path: string): void {
    listAt(value, path).forEach((tool, at) => this.#add(objectAt(tool, `${path}[${at}]`), `${path}[${at}]`, true));
  }

  /** Tools that joined the conversation later: one that is known already is the same one. */
  join(value: unknown, path: string): readonly string[] {
    return listAt(value, path).flatMap((tool, at) =>
      this.#add(objectAt(tool, `${path}[${at}]`), `${path}[${at}]`, false),
    );
  }

  /** What the client calls a function; one that it has not declared is a function. */
  find(calledName: string): KnownTool {
    this.#ownName ??= ownNames(this.#known.keys());
    const name = this.#ownName(calledName);
    return this.#known.get(name) ?? { kind: 'function', name, namespace: undefined };
  }

  has(sentName: string): boolean {
    return this.#known.has(sentName);
  }

  /** Names under which the functions of a tool are sent; none for a tool that is left out. */
  #add(tool: Fields, path: string, isOnce: boolean): readonly string[] {
    const { type } = tool;
    if (type === 'function' || type === 'custom') return [this.#addOne(tool, path, undefined, isOnce)];
    if (type === 'namespace') return this.#addNamespace(tool, path, isOnce);
    if (type === SEARCH && tool['execution'] === 'client') return [this.#addSearch(tool, path, isOnce)];
    textAt(type, `${path}.type`);
    this.firstLost ??= path;
    this.lost.push(path);
    return [];
  }

  #addNamespace(tool: Fields, path: string, isOnce: boolean): readonly string[] {
    const namespace = {
      name: textAt(tool['name'], `${path}.name`),
      description: optionalString(tool['description'], `${path}.description`),
    };
    return listAt(tool['tools'], `${path}.tools`).map((value, at) => {
      const inner = objectAt(value, `${path}.tools[${at}]`);
      const { type } = inner;
      if (type !== 'function' && type !== 'custom')
        throw invalidRequest(`${path}.tools[${at}].type must be function or custom`);
      return this.#addOne(inner, `${path}.tools[${at}]`, namespace, isOnce);
    });
  }

  #addOne(tool: Fields, path: string, namespace: Namespace | undefined, isOnce: boolean): string {
    const name = textAt(tool['name'], `${path}.name`);
    const kind = tool['type'] === 'custom' ? 'custom' : 'function';
    const description = described(
      optionalString(tool['description'], `${path}.description`),
      namespace,
      kind === 'custom' ? inputForm(tool['format'], `${path}.format`) : undefined,
    );
    const parameters =
      kind === 'custom'
        ? CUSTOM_PARAMETERS
        : (optionalObject(tool['parameters'], `${path}.parameters`) ?? NO_PARAMETERS);
    for (const member of LOST_MEMBERS) if (!isPlain(tool[member])) this.lost.push(`${path}.${member}`);
    const { strict } = tool;
    return this.#send({ kind, name, namespace: namespace?.name }, path, isOnce, {
      ...(description !== undefined && { description }),
      parameters,
      ...(typeof strict === 'boolean' && kind === 'function' && { strict }),
    });
  }

  #addSearch(tool: Fields, path: string, isOnce: boolean): string {
    const description = optionalString(tool['description'], `${path}.description`);
    const parameters = optionalObject(tool['parameters'], `${path}.parameters`) ?? SEARCH_PARAMETERS;
    return this.#send({ kind: 'search', name: SEARCH, namespace: undefined }, path, isOnce, {
      ...(description !== undefined && { description }),
      parameters,
    });
  }

  #send(known: KnownTool, path: string, isOnce: boolean, members: object): string {
    const name = nameIn(known.namespace, known.name);
    if (this.#known.has(name)) {
      if (isOnce) throw invalidRequest(`${path}.name is the name of an earlier tool`);
      return name;
    }
    this.#known.set(name, known);
    this.sent.push({ type: 'function', function: { name, ...members } });
    return name;
  }
}

interface Namespace {
  readonly name: string;
  readonly description: string | undefined;
}

const NO_PARAMETERS = { type: 'object', properties: {} };
const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};
const SEARCH_PARAMETERS = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };

/** What a model must know of a tool: what its namespace is for, what it does, and which form its input has. */
function described(
  own: string | undefined,
  namespace: Namespace | undefined,
  form: string | undefined,
): string | undefined {
  const texts = [namespace?.description, own, form].filter((text) => text !== undefined && text !== '');
  return texts.length > 0 ? texts.join('\n\n') : undefined;
}

/** The form of a custom tool's input, in words: functions of other vendors know no grammars. */
function inputForm(value: unknown, path: string): string | undefined {
  const format = optionalObject(value, path);
  if (!format || format['type'] === 'text') return undefined;
  if (format['type'] !== 'grammar') throw invalidRequest(`${path}.type must be text or grammar`);
  const definition = textAt(format['definition'], `${path}.definition`);
  return `The input follows this grammar (${textAt(format['syntax'], `${path}.syntax`)}):\n${definition}`;
}

/** Which tools may be called, in the common wire; tools that may not be called are gone from it. */
export interface ToolChoice {
  readonly tools: readonly ChatTool[];
  readonly choice: unknown;
}

/** Reads `tool_choice` over the tools that are sent. Throws for tools that cannot be sent where they are the only ones, or asked for. */
export function chooseTools(book: ToolBook, value: unknown): ToolChoice {
  const { sent, firstLost } = book;
  const isNone = value === 'none';
  if (sent.length === 0 && firstLost !== undefined && !isNone)
    throw notCarried(firstLost, 'is run by the vendor of this API, and no other tool is given');
  if (!isGiven(value)) return { tools: sent, choice: undefined };
  if (value === 'none' || value === 'auto' || value === 'required') {
    if (value === 'required' && sent.length === 0)
      throw invalidRequest('tool_choice is required, and no tools are given');
    return { tools: sent, choice: sent.length > 0 ? value : undefined };
  }
  const choice = objectAt(value, 'tool_choice');
  const { type } = choice;
  if (type === 'function' || type === 'custom')
    return { tools: sent, choice: { type: 'function', function: { name: chosenName(book, choice, 'tool_choice') } } };
  if (type === 'allowed_tools') return allowedTools(book, choice);
  if (type === SEARCH && book.has(SEARCH))
    return { tools: sent, choice: { type: 'function', function: { name: SEARCH } } };
  textAt(type, 'tool_choice.type');
  throw notCarried('tool_choice', 'asks for a tool that only the vendor of this API can run');
}

function chosenName(book: ToolBook, choice: Fields, path: string): string {
  const name = nameIn(optionalString(choice['namespace'], `${path}.namespace`), textAt(choice['name'], `${path}.name`));
  if (!book.has(name)) throw invalidRequest(`${path}.name is not the name of a tool of this request`);
  return name;
}

/** The tools themselves are cut to those that are allowed: a list of names has no place in the common wire. */
function allowedTools(book: ToolBook, choice: Fields): ToolChoice {
  const { mode } = choice;
  if (mode !== 'auto' && mode !== 'required') throw invalidRequest('tool_choice.mode must be auto or required');
  const allowed = new Set<string>();
  const namespaces = new Set<string>();
  listAt(choice['tools'], 'tool_choice.tools').forEach((value, at) => {
    const path = `tool_choice.tools[${at}]`;
    const tool = objectAt(value, path);
    const { type } = tool;
    if (type === 'function' || type === 'custom') allowed.add(chosenName(book, tool, path));
    else if (type === SEARCH && book.has(SEARCH)) allowed.add(SEARCH);
    else if (type === 'namespace') namespaces.add(textAt(tool['name'], `${path}.name`));
    else if (typeof type !== 'string' || !VENDOR_TOOLS.test(type))
      throw invalidRequest(`${path}.type is not the type of a tool`);
  });
  const isAllowed = (name: string): boolean =>
    allowed.has(name) || (namespaces.size > 0 && namespaces.has(book.find(name).namespace ?? ''));
  const tools = book.sent.filter((tool) => isAllowed(tool.function?.name ?? ''));
  if (tools.length === 0) throw notCarried('tool_choice.tools', 'allows no tool that can be sent');
  return { tools, choice: mode };
}

/** The input of a custom tool, out of the arguments that a model made for it. */
export function inputOf(text: string): string {
  const value = tryParseJson(text);
  if (!isFields(value)) return text;
  if (typeof value['input'] === 'string') return value['input'];
  const strings = Object.values(value).filter((member) => typeof member === 'string');
  return strings.length === 1 && strings[0] !== undefined ? strings[0] : text;
}
