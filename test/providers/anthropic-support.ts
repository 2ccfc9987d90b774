import type { ChatRequest } from '../../host/contract/index.ts';
import anthropic from '../../providers/anthropic/index.ts';
import { ask, golden, refusedBy, sentBy, type WireOptions } from '../kit/index.ts';

/** It thinks by a budget, and holds answers to schemas. */
export const MODEL = 'claude-sonnet-4-5';

export const chat = (more: object = {}): ChatRequest => ask('hi', { model: MODEL, ...more }) as unknown as ChatRequest;

/** What leaves for a chat request, and what does not. */
export function sent(more: object = {}, stream = false, options: WireOptions = {}): ReturnType<typeof sentBy> {
  return sentBy(anthropic, 'chat', chat(more), { stream, ...options });
}

export async function bodyOf(more: object = {}): Promise<any> {
  return (await sent(more)).body;
}

/** The messages that leave for these. */
export async function messagesOf(messages: readonly object[], more: object = {}): Promise<any[]> {
  return (await bodyOf({ messages, ...more })).messages;
}

export async function refusal(more: object): Promise<string> {
  const { code, message } = await refusedBy(anthropic, 'chat', chat(more));
  return `${code}: ${message}`;
}

export const fixture = (name: string): string => golden(`anthropic/chat/${name}`);
