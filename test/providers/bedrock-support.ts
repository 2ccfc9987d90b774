import { crc32 } from 'node:zlib';
import type { ChatRequest } from '../../host/contract/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import { ask, golden, refusedBy, sentBy, type SentWire } from '../kit/index.ts';

export const CLAUDE = 'anthropic.claude-sonnet-4-20250514-v1:0';
export const NOVA = 'amazon.nova-lite-v1:0';
export const TITAN = 'amazon.titan-text-express-v1';
export const LLAMA = 'meta.llama3-3-70b-instruct-v1:0';
export const MISTRAL = 'mistral.mistral-large-2407-v1:0';
/** A profile's id says nothing of the model behind it. */
export const PROFILE = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3';

/** Credentials that sign without looking anywhere. */
export const KEYS = {
  AWS_BEARER_TOKEN_BEDROCK: '',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
export const BEARER = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-token-0123456789', AWS_REGION: '', AWS_ACCESS_KEY_ID: '' };

export function chat(model: string, more: object = {}): ChatRequest {
  return ask('hi', { model, ...more }) as unknown as ChatRequest;
}

/** What leaves for a chat request, and what does not. */
export function sent(model: string, more: object = {}, stream = false): Promise<SentWire> {
  return sentBy(bedrock, 'chat', chat(model, more), { stream, variables: BEARER });
}

export async function bodyOf(model: string, more: object = {}): Promise<any> {
  return (await sent(model, more)).body;
}

export async function refusal(model: string, more: object = {}): Promise<string> {
  const { code, message } = await refusedBy(bedrock, 'chat', chat(model, more), { variables: BEARER });
  return `${code}: ${message}`;
}

/** Bodies of 200 that are not an answer of any surface. */
export const STRANGE = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '""',
  '[]',
  '[null]',
  '{}',
  '{"choices":[]}',
  '<html>busy</html>',
  '{"output":',
  '\u0000',
  '[[]]',
  '{"__proto__":{"output":{}}}',
];

export const fixture = (name: string): any => JSON.parse(golden(`bedrock/${name}`));

/** A frame of `application/vnd.amazon.eventstream`, written by hand. Source: AWS, "Event stream encoding", 2026-11-21. */
export function frame(headers: Readonly<Record<string, string>>, payload: string | Buffer): Buffer {
  const named = Object.entries(headers).map(([name, value]) => {
    const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
    return Buffer.concat([
      Buffer.from([nameBytes.length]),
      nameBytes,
      Buffer.from([7, valueBytes.length >> 8, valueBytes.length & 255]),
      valueBytes,
    ]);
  });
  const [head, body] = [Buffer.concat(named), Buffer.from(payload)];
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(head.length + body.length + 16, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const whole = Buffer.concat([prelude, head, body]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(whole));
  return Buffer.concat([whole, end]);
}

/** A named event, as Converse streams them. */
export function event(type: string, payload: unknown): Buffer {
  return eventOfText(type, JSON.stringify(payload));
}

export function eventOfText(type: string, payload: string): Buffer {
  return frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);
}

/** An event of a model's own stream, wrapped as invoke streams it. */
export function chunk(payload: unknown): Buffer {
  return chunkOfText(JSON.stringify(payload));
}

export function chunkOfText(payload: string): Buffer {
  return event('chunk', { bytes: Buffer.from(payload).toString('base64'), p: 'abcdefghij' });
}

export function exception(type: string, payload: unknown): Buffer {
  return frame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify(payload),
  );
}

/** The frames of a fixture: named events, or a list of chunks. */
export function streamOf(name: string): Buffer {
  const events: readonly (Readonly<Record<string, any>> | readonly [string, any])[] = fixture(name);
  return Buffer.concat(events.map((one) => (Array.isArray(one) ? event(one[0], one[1]) : chunk(one))));
}
