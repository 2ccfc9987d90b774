import { Buffer } from 'node:buffer';
import type { CallInfo, Send, WireReply, WireRequest } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { exactJson } from '../_common/anthropic/exact-json.ts';
import { embedEach, standsForMany } from './embeddings.ts';

/** One call; a call per text where Titan embeds; and a second where a model cannot stream what it is asked. */
export function converse(send: Send, request: WireRequest, call: CallInfo): Promise<WireReply> {
  if (standsForMany(request)) return embedEach(send, request);
  if (!call.stream) return send(request);
  return request.path.endsWith(STREAMED) ? streamOrNot(send, request) : send(request, { stream: true });
}

const STREAMED = '/converse-stream';

/** How the service says that a model answers as a whole only, with tools or at all. Source: GitHub n8n-io/n8n issue 14206, run-llama/llama_index issue 19655, 2026-11-21. */
const NO_STREAM = /tool use in streaming mode|unsupported for streaming|does(n't| not) support streaming/i;

/** A whole answer in place of a stream, as the stream it would have been. */
async function streamOrNot(send: Send, request: WireRequest): Promise<WireReply> {
  const opened = await send(request, { stream: true });
  if (opened.status !== 400) return opened;
  const body = await firstBytes(opened.body);
  if (!NO_STREAM.test(body.toString('utf8'))) return { ...opened, body };
  const reply = await send({ ...request, path: request.path.replace(STREAMED, '/converse') });
  return reply.status === 200 ? asStream(reply) : reply;
}

/** Bytes that are read of an error's body: the beginning of a long one is enough. */
const MAX_ERROR_BYTES = 1024 * 1024;

async function firstBytes(body: WireReply['body']): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(pieces);
}

async function asStream(reply: WireReply): Promise<WireReply> {
  const events = eventsOf(exactJson(Buffer.from(reply.body as Uint8Array).toString('utf8')));
  const { EventStreamCodec } = await import('@smithy/eventstream-codec');
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    (text) => Buffer.from(text, 'utf8'),
  );
  const frames = events.map(([type, event]) =>
    codec.encode({
      headers: { ':message-type': { type: 'string', value: 'event' }, ':event-type': { type: 'string', value: type } },
      body: Buffer.from(JSON.stringify(event), 'utf8'),
    }),
  );
  return {
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    body: Buffer.concat(frames),
  };
}

type NamedEvent = readonly [type: string, event: Fields];

/** The events of a whole answer; those it lacks are missing, and the stream then ends without its end. */
function eventsOf(body: unknown): NamedEvent[] {
  const { output, stopReason, usage } = isFields(body) ? body : {};
  const message = isFields(output) ? output['message'] : undefined;
  const content = isFields(message) && Array.isArray(message['content']) ? message['content'].filter(isFields) : [];
  return [...content.flatMap(blockEvents), ['messageStop', { stopReason }], ['metadata', { usage }]];
}

function blockEvents({ text, toolUse, reasoningContent }: Fields, contentBlockIndex: number): NamedEvent[] {
  const delta = (value: Fields): NamedEvent => ['contentBlockDelta', { contentBlockIndex, delta: value }];
  if (typeof text === 'string') return [delta({ text })];
  if (isFields(toolUse)) {
    const { toolUseId, name, input } = toolUse;
    return [
      ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } }],
      delta({ toolUse: { input: JSON.stringify(input ?? {}) } }),
    ];
  }
  if (!isFields(reasoningContent)) return [];
  const { reasoningText, redactedContent } = reasoningContent;
  const { text: thought, signature } = isFields(reasoningText) ? reasoningText : {};
  return [{ text: thought }, { signature }, { redactedContent }].map((piece) => delta({ reasoningContent: piece }));
}
