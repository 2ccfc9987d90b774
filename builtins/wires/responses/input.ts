import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type ChatMessage, type Fields, quoted } from '../../../host/contract/index.ts';
import type { HistoryNotes } from '../history-notes.ts';
import { isGiven, notCarried, objectAt, optionalString, stringAt, textAt, unknownType } from './checks.ts';
import { readContent, readTexts } from './content.ts';
import { customArguments, History } from './history.ts';
import { readReasoning } from './reasoning.ts';
import { nameIn, SEARCH, type ToolBook } from './tools.ts';

/** What reading an input needs, and what it leaves behind. */
export interface InputNotes {
  /** Tools join it while items are read. */
  readonly tools: ToolBook;
  /** Paths of what was left out. */
  readonly lost: string[];
  /** Thoughts of earlier turns. */
  readonly history: HistoryNotes;
}

type ReadItem = (item: Fields, path: string, history: History, notes: InputNotes) => void;

const STATEFUL = new Set<unknown>(['item_reference', 'compaction', 'compaction_trigger']);

/** How each item is read. Source: openai 7.57 (npm), types of `ResponseInputItem`, 2026-11-22. */
const ITEMS: ReadonlyMap<unknown, ReadItem> = new Map<unknown, ReadItem>([
  ['message', readMessage],
  [
    'function_call',
    (item, path, history) => {
      history.addCall(
        callId(item, path),
        calledName(item, path),
        stringAt(item['arguments'], `${path}.arguments`),
        path,
      );
    },
  ],
  [
    'custom_tool_call',
    (item, path, history) => {
      history.addCall(
        callId(item, path),
        calledName(item, path),
        customArguments(stringAt(item['input'], `${path}.input`)),
        path,
      );
    },
  ],
  [
    'tool_search_call',
    (item, path, history) => {
      history.addCall(callId(item, path), SEARCH, searchArguments(item['arguments'], `${path}.arguments`), path);
    },
  ],
  ['function_call_output', readOutput],
  ['custom_tool_call_output', readOutput],
  [
    'tool_search_output',
    (item, path, history, { tools }) => {
      const names = tools.join(item['tools'], `${path}.tools`);
      history.addResult(callId(item, path), names.length > 0 ? names.join('\n') : 'no tool was found', path);
    },
  ],
  [
    'additional_tools',
    (item, path, _history, { tools }) => {
      tools.join(item['tools'], `${path}.tools`);
    },
  ],
  [
    'reasoning',
    (item, path, history) => {
      const { text, details } = readReasoning(item, path);
      history.addReasoning(text, details, path);
    },
  ],
  [
    'web_search_call',
    (_item, path, _history, { lost }) => {
      lost.push(path);
    },
  ],
]);

/** The conversation that an input tells. Throws for items that hold, or name, what only the vendor of this API has. */
export function readInput(value: unknown, instructions: string | undefined, notes: InputNotes): ChatMessage[] {
  const history = new History();
  const first =
    instructions === undefined || instructions === '' ? undefined : history.addMessage('system', instructions);
  if (!isGiven(value)) throw invalidRequest('input is required');
  if (typeof value === 'string') history.addMessage('user', value);
  else if (Array.isArray(value))
    value.forEach((item, at) => readItem(objectAt(item, `input[${at}]`), `input[${at}]`, history, notes));
  else throw invalidRequest('input must be a string or a list of items');
  const messages = history.messages(notes.history);
  if (!messages.some((message) => message !== first)) throw invalidRequest('input must hold at least one message');
  return messages;
}

function readItem(item: Fields, path: string, history: History, notes: InputNotes): void {
  const type = item['type'] ?? (isGiven(item['role']) ? 'message' : undefined);
  const read = item['execution'] === 'server' ? undefined : ITEMS.get(type); // searches among tools that the vendor ran itself
  if (read) read(item, path, history, notes);
  else if (STATEFUL.has(type) || (type === undefined && isGiven(item['id'])))
    throw notCarried(
      path,
      'refers to what only the vendor of this API keeps: send the item itself, as clients do with store: false',
    );
  else throw unknownType(type, path);
}

function readMessage(item: Fields, path: string, history: History, { lost }: InputNotes): void {
  const { role, content } = item;
  if (role === 'assistant') history.addTexts(readTexts(content, `${path}.content`, lost));
  else if (role === 'user' || role === 'system' || role === 'developer')
    history.addMessage(role, readContent(content, `${path}.content`, lost));
  else throw invalidRequest(`${path}.role must be user, assistant, system or developer, not ${quoted(role ?? null)}`);
}

function readOutput(item: Fields, path: string, history: History, { lost }: InputNotes): void {
  history.addResult(callId(item, path), readContent(item['output'], `${path}.output`, lost), path);
}

const callId = (item: Fields, path: string): string => textAt(item['call_id'], `${path}.call_id`);

function calledName(item: Fields, path: string): string {
  return nameIn(optionalString(item['namespace'], `${path}.namespace`), textAt(item['name'], `${path}.name`));
}

/** The vendor's form is an object; some clients send its text. */
function searchArguments(value: unknown, path: string): string {
  return typeof value === 'string' ? value : JSON.stringify(objectAt(value ?? {}, path));
}
