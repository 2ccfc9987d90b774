import { type ChatTool, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';
import { readMark } from './mark.ts';

/** What of the tools travels in the common format. */
export interface ReadTools {
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: string | object;
  readonly parallel_tool_calls?: false;
}

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Tools whose schema is built into the vendor's models, and which the client runs. */
const RUN_BY_CLIENT = /^(bash|text_editor|memory|computer)_|_toolset_/;
/** Tools that the vendor runs. */
const RUN_BY_VENDOR = /^(web_search|web_fetch|code_execution|tool_search_tool|tool_search|advisor)_|^mcp_toolset$/;
/** Members that travel, or say nothing; all others only the vendor understands, and the tool goes along without them. */
const CARRIED: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);

/** Tools and the choice among them. See docs/reference/ingress.md#messages-tools. */
export function readTools({ tools, tool_choice: choice }: Readonly<Fields>, notes: Notes): ReadTools {
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) notes.refuse('tools must be a list');
  const declared: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const lost = new Set<unknown>();
  const names = new Set<string>();
  const functions = declared.flatMap((tool, index) => {
    const read = toolOf(tool, `tools[${index}]`, names, notes);
    if (read) return [read];
    if (isFields(tool)) lost.add(tool['name']);
    return [];
  });
  if (declared.length > 0 && functions.length === 0)
    notes.refuse(
      'tools[0]: this tool is run by the vendor of this wire, and no other one is left for a provider of another wire',
    );
  return { ...(functions.length > 0 && { tools: functions }), ...choiceOf(choice, { names, lost }, notes) };
}

function toolOf(tool: unknown, at: string, names: Set<string>, notes: Notes): ChatTool | undefined {
  if (!isFields(tool)) {
    notes.refuse(`${at} must be an object`);
    return undefined;
  }
  const { type, name } = tool;
  if (type !== undefined && type !== null && type !== 'custom') {
    if (typeof type === 'string' && RUN_BY_VENDOR.test(type)) notes.lose(at);
    else if (typeof type === 'string' && RUN_BY_CLIENT.test(type))
      notes.refuse(`${at}: a provider of another wire does not know the schema of ${type}`);
    else notes.refuse(`${at}.type ${JSON.stringify(type)} is not supported by a provider of another wire`);
    return undefined;
  }
  if (!isText(name) || !NAME.test(name))
    notes.refuse(`${at}.name must be 1 to 128 letters, digits, underscores or hyphens`);
  else if (names.has(name)) notes.refuse(`${at}.name ${JSON.stringify(name)} is used twice`);
  names.add(String(name));
  if (!isFields(tool['input_schema'])) notes.refuse(`${at}.input_schema must be an object`);
  return functionOf(tool, at, notes);
}

function functionOf(tool: Readonly<Fields>, at: string, notes: Notes): ChatTool {
  const { name, description, input_schema: parameters, strict } = tool;
  const mark = readMark(tool, at, notes);
  if (mark) notes.history.mark(`${at}.cache_control`, { kind: 'tool' });
  if (description !== undefined && description !== null && typeof description !== 'string')
    notes.refuse(`${at}.description must be a string`);
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean')
    notes.refuse(`${at}.strict must be true or false`);
  for (const [member, value] of Object.entries(tool)) {
    if (!CARRIED.has(member) && value !== null && !(member === 'defer_loading' && value === false))
      notes.lose(`${at}.${member}`);
  }
  return {
    type: 'function',
    function: {
      name: String(name),
      ...(isText(description) && { description }),
      parameters,
      ...(strict === true && { strict: true }),
    },
    ...(mark && { cache_control: mark }),
  };
}

function choiceOf(
  choice: unknown,
  { names, lost }: { readonly names: ReadonlySet<string>; readonly lost: ReadonlySet<unknown> },
  notes: Notes,
): Omit<ReadTools, 'tools'> {
  if (choice === undefined || choice === null) return {};
  const { type, name, disable_parallel_tool_use: isSerial } = isFields(choice) ? choice : {};
  if (isSerial !== undefined && isSerial !== null && typeof isSerial !== 'boolean')
    notes.refuse('tool_choice.disable_parallel_tool_use must be true or false');
  const parallel = isSerial === true && type !== 'none' ? { parallel_tool_calls: false as const } : {};
  switch (type) {
    case 'auto':
      return names.size > 0 ? { tool_choice: 'auto', ...parallel } : {};
    case 'none':
      return names.size > 0 ? { tool_choice: 'none' } : {};
    case 'any':
      if (names.size === 0) notes.refuse('tool_choice wants a tool, and there is none');
      return { tool_choice: 'required', ...parallel };
    case 'tool':
      if (lost.has(name)) notes.refuse('tool_choice names a tool that is run by the vendor of this wire');
      else if (!isText(name) || !names.has(name)) notes.refuse('tool_choice.name is not the name of a tool');
      return { tool_choice: { type: 'function', function: { name } }, ...parallel };
    default:
      notes.refuse('tool_choice.type must be auto, any, tool or none');
      return {};
  }
}
