import { type ClientBody, editedBody, withClientBody } from './client-body.ts';
import { type Exchange, isChat } from '../exchange.ts';
import { type Fields, isFields, isLabel } from '../json/fields.ts';
import { isRawNumber } from '../json/json-numbers.ts';
import { setMember } from '../json/members.ts';
import {
  CALL_WORDS,
  DETAIL_WORDS,
  isControl,
  MEDIA_WORDS,
  MESSAGE_WORDS,
  PART_MEDIA,
  PART_WORDS,
  type Words,
  WORDS_BY_FIELD,
} from './chat-words.ts';
import type { ChatReply, ChatRequest, ContentPart } from '../wire/chat.ts';

/** What becomes of one text; the same text when nothing does. */
export type Edit = (text: string) => string;

/**
 * The chat request, or at `after_request` the chat answer, with every string changed that `texts`
 * reads; what is not changed is not copied. `undefined` when nothing changed, and on surfaces whose
 * bodies plugins do not rewrite. A text that is itself JSON comes as it is written.
 */
export function editTexts(exchange: Exchange, edit: Edit): ChatRequest | ChatReply | undefined {
  if (!isChat(exchange)) return undefined;
  const { stage, reply, request, clientReply, clientRequest } = exchange;
  if (stage !== 'after_request')
    return beside(request, clientRequest, edit, (own) => editRequest(request, own) as ChatRequest);
  return reply && beside(reply, clientReply, edit, (own) => editReply(reply, own) as ChatReply);
}

/** Where the client speaks a wire of its own, its body is edited first, and goes along. */
function beside<T extends object>(
  body: T,
  client: ClientBody | undefined,
  edit: Edit,
  editCommon: (edit: Edit) => T,
): T | undefined {
  const own = client && editedBody(client, edit);
  const common = changed(body, editCommon(edit));
  if (own === undefined || (own === client && common === undefined)) return common;
  return withClientBody(common ?? { ...body }, own); // also unchanged: a text in it that must not be changed is found again there
}

const changed = <T>(before: T, after: T): T | undefined => (after === before ? undefined : after);

function editRequest(request: ChatRequest, edit: Edit): unknown {
  return editMembers(request, (value, field) => {
    if (field === 'messages') return editEach(value, editMessage, edit);
    if (isControl(field, value)) return value;
    const words = WORDS_BY_FIELD.get(field);
    return words ? editWords(value, words, edit) : editAll(value, edit);
  });
}

function editReply(reply: ChatReply, edit: Edit): unknown {
  return editMembers(reply, (value, name) => {
    if (name === 'choices') return editEach(value, editChoice, edit);
    return name === 'usage' || name === 'model' || isLabel(value) ? value : editAll(value, edit);
  });
}

/** The probabilities of its tokens repeat the text of a choice: they go where it is changed. */
function editChoice(choice: unknown, edit: Edit): unknown {
  if (!isFields(choice)) return choice;
  const edited = editMembers(choice, (value, name) => {
    if (name === 'message') return editMessage(value, edit);
    return name === 'logprobs' || isLabel(value) ? value : editAll(value, edit);
  });
  return edited !== choice && choice['logprobs'] ? { ...edited, logprobs: null } : edited;
}

function editMessage(message: unknown, edit: Edit): unknown {
  if (!isFields(message)) return message;
  return editMembers(message, (value, name) => {
    if (name === 'content') return Array.isArray(value) ? editEach(value, editPart, edit) : editAll(value, edit);
    if (name === 'reasoning_details') return editWords(value, DETAIL_WORDS, edit);
    if (name === 'tool_calls') return editWords(value, CALL_WORDS, edit);
    return isWord(name, value, MESSAGE_WORDS) ? value : editAll(value, edit);
  });
}

function editPart(part: unknown, edit: Edit): unknown {
  if (!isFields(part)) return part;
  const [holder, member] = PART_MEDIA.get((part as ContentPart).type) ?? [];
  return editMembers(part, (value, name) => {
    if (name === holder)
      return isFields(value)
        ? editMembers(value, (held, key) =>
            key === member || isWord(key, held, MEDIA_WORDS) ? held : editAll(held, edit),
          )
        : value;
    return isWord(name, value, PART_WORDS) ? value : editAll(value, edit);
  });
}

/**
 * Members of an object of the wire, or of each object in a list, without the words that the wire
 * itself defines.
 */
function editWords(value: unknown, words: Words, edit: Edit): unknown {
  if (Array.isArray(value))
    return editEach(value, (item) => (Array.isArray(item) ? editAll(item, edit) : editWords(item, words, edit)), edit);
  return isFields(value) && !isRawNumber(value)
    ? editMembers(value, (member, name) => (isWord(name, member, words) ? member : editAll(member, edit)))
    : editAll(value, edit);
}

const isWord = (name: string, value: unknown, words: Words): boolean =>
  typeof value === 'string' && words.get(name)?.test(value) === true;

/**
 * Every string inside a value. A number beyond those that a double holds is a text too, and leaves
 * as one once it is changed.
 */
function editAll(value: unknown, edit: Edit): unknown {
  if (typeof value === 'string') return edit(value);
  if (Array.isArray(value)) return editEach(value, editAll, edit);
  if (!isFields(value)) return value;
  if (isRawNumber(value)) {
    const digits = String(value['rawJSON']);
    return changed(digits, edit(digits)) ?? value;
  }
  return editMembers(value, (member) => editAll(member, edit));
}

function editEach(list: unknown, editOne: (item: unknown, edit: Edit) => unknown, edit: Edit): unknown {
  if (!Array.isArray(list)) return list;
  const edited = list.map((item) => editOne(item, edit));
  return edited.some((item, at) => item !== list[at]) ? edited : list;
}

function editMembers(object: object, editOne: (value: unknown, name: string) => unknown): object {
  let edited: Fields | undefined;
  for (const [name, value] of Object.entries(object)) {
    const after = editOne(value, name);
    if (after !== value) setMember((edited ??= { ...object }), name, after);
  }
  return edited ?? object;
}
