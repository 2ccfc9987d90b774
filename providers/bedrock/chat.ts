import { fieldsIn } from '../_common/fields.ts';
import {
  type CallInfo,
  type ChatChunk,
  type ChatReply,
  type ChatRequest,
  type ChatTranslator,
  type StreamDecoder,
  type StreamEvent,
  tryParseJson,
  type UnaryReply,
  type WireRequest,
} from 'gw/contract';
import { invalidRequest, objectOf } from 'gw/common-wire';
import { BEDROCK, openMessagesStream, readMessage, toMessagesBody } from '../_common/anthropic/index.ts';
import { withAllowedTools } from '../_common/allowed-tools.ts';
import { tierOf } from './common.ts';
import { CompletionStream } from './completion.ts';
import { type NativeBody, needsConverse, toConverseBody, toNovaBody } from './converse/request.ts';
import { readConverse } from './converse/response.ts';
import { ConverseStream } from './converse/stream.ts';
import { isException, streamFailure } from './errors.ts';
import { holdsMarks, LLAMA_CHUNK, readLlama, toLlamaBody } from './llama.ts';
import { familyOf, modelPath } from './models.ts';
import { readTitan, TITAN_CHUNK, toTitanBody } from './titan.ts';
import { chatWithoutSearch } from './web-search.ts';

/** Each family by its own wire; Converse for every other model, and for what a family's own wire has no place for. */
export const chat: ChatTranslator = { toUpstream, fromUpstream, openStream };

function toUpstream(asked: ChatRequest, call: CallInfo): WireRequest {
  const { request, lost } = chatWithoutSearch(asked);
  const wire = toFamily(withAllowedTools(request), call);
  return lost.length === 0 ? wire : { ...wire, ignored: [...(wire.ignored ?? []), ...lost] };
}

function toFamily(request: ChatRequest, call: CallInfo): WireRequest {
  switch (familyOf(call.model)) {
    case 'none':
      throw invalidRequest(`bedrock cannot chat with the model "${call.model}"`);
    case 'claude':
      return invoke(request, call, toClaudeBody(request, call));
    case 'titan':
      return invoke(request, call, toTitanBody(request));
    case 'nova':
      return needsConverse(request) ? converse(request, call) : invoke(request, call, toNovaBody(request, call));
    case 'llama':
      return needsConverse(request) || holdsMarks(request)
        ? converse(request, call)
        : invoke(request, call, toLlamaBody(request));
    default:
      return converse(request, call);
  }
}

/** The service takes the tier in a header; Claude's body has no field for it. */
function toClaudeBody(request: ChatRequest, call: CallInfo): NativeBody {
  const { body, ignored, ...noted } = toMessagesBody(request, call, BEDROCK);
  return {
    body,
    ...noted,
    ignored: [...ignored.filter((name) => name !== 'service_tier'), ...tierOf(request).ignored],
  };
}

function invoke(request: ChatRequest, call: CallInfo, native: NativeBody): WireRequest {
  const { tier } = tierOf(request);
  return {
    path: modelPath(call.model, call.stream ? 'invoke-with-response-stream' : 'invoke'),
    ...(tier !== undefined && { headers: { 'x-amzn-bedrock-service-tier': tier } }),
    ...native,
  };
}

function converse(request: ChatRequest, call: CallInfo): WireRequest {
  return {
    path: modelPath(call.model, call.stream ? 'converse-stream' : 'converse'),
    ...toConverseBody(request, call),
  };
}

/** Families that have two ways tell by the answer which one it took. */
function fromUpstream(reply: UnaryReply, call: CallInfo): ChatReply {
  switch (familyOf(call.model)) {
    case 'claude':
      return readMessage(reply, call, BEDROCK);
    case 'titan':
      return readTitan(reply, call);
    case 'llama':
      return 'output' in objectOf(reply) ? readConverse(reply, call) : readLlama(reply, call);
    default:
      return readConverse(reply, call);
  }
}

type ChunkReader = (event: StreamEvent) => readonly ChatChunk[];

/** `chunk` events hold what a model's own wire streams, other events are those of Converse. */
function openStream(call: CallInfo): StreamDecoder {
  const stream = new ConverseStream(call);
  const readChunk = chunkReader(call, stream);
  return (event) => {
    if (isException(event)) throw streamFailure(event);
    return event.type === 'chunk' ? readChunk(event) : stream.read(event.type, tryParseJson(event.data));
  };
}

function chunkReader(call: CallInfo, stream: ConverseStream): ChunkReader {
  switch (familyOf(call.model)) {
    case 'claude':
      return openMessagesStream(call, BEDROCK);
    case 'titan':
      return completionReader(new CompletionStream(call, TITAN_CHUNK));
    case 'llama':
      return completionReader(new CompletionStream(call, LLAMA_CHUNK));
    // Nova's own chunks are events of Converse, each under its name.
    default:
      return ({ data }) => Object.entries(fieldsIn(data)).flatMap(([type, event]) => stream.read(type, event));
  }
}

function completionReader(stream: CompletionStream): ChunkReader {
  return ({ data }) => stream.read(fieldsIn(data));
}
