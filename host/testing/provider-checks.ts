import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import {
  type ChatRequest,
  GatewayError,
  isFields,
  type ProviderModule,
  type TranslatedSurface,
  type WireRequest,
} from '../contract/index.ts';
import { errorMessage } from '../common/error-message.ts';
import { unsupportedIn } from '../pipeline/attempts/parameters.ts';
import { replyError } from '../upstream/fault.ts';
import { type Check, check, keepsRules, SMALLEST } from './module-checks.ts';
import { deepFrozen } from '../common/deep-frozen.ts';
import { copied } from './made-up.ts';
import { callFor, relayStream, translateReply, unaryReply } from './relay-stream.ts';
import { CHAT_REQUESTS, NO_ANSWERS } from './sample-bodies.ts';

/** What a vendor documents, or a recording holds. What is left out is not checked. */
export interface ProviderFacts {
  /** A model that it serves; `m` unless said. */
  readonly model?: string;
  /** Body of a whole chat answer, and of a streamed one. */
  readonly reply?: string;
  readonly stream?: string | Uint8Array;
  /** The text that both hold. */
  readonly says?: string;
  /** Error bodies, and what each says. */
  readonly errors?: readonly { readonly status: number; readonly body: string; readonly message?: string }[];
}

/** What holds for every provider, and what the facts say of this one. */
export function providerContract(module: ProviderModule, facts: ProviderFacts = {}): readonly Check[] {
  const { model = 'm' } = facts;
  const surfaces = Object.keys(module.translators) as TranslatedSurface[];
  return [
    keepsRules(module),
    ...surfaces.map((surface) =>
      check(`${surface}: translates the smallest request, alike each time, and changes nothing in it`, () => {
        translatesAlike(module, surface, { ...SMALLEST[surface], model });
      }),
    ),
    ...(module.translators.chat ? chatChecks(module, model, facts) : []),
    ...surfaces.map((surface) =>
      check(`${surface}: fails on bodies that hold no answer, or makes an answer of them`, () => {
        readsAnything(module, surface, model);
      }),
    ),
    check('reads any error body without failing itself', () => {
      for (const body of NO_ANSWERS) module.toFault?.({ status: 400, headers: {}, body: Buffer.from(body) });
    }),
    ...(facts.errors ?? []).map(({ status, body, message }) =>
      check(`reads its own error of status ${status}`, () => {
        const { fault } = replyError(
          module,
          { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) },
          0,
        );
        if (message !== undefined) strictEqual(fault?.message, message);
      }),
    ),
  ];
}

function chatChecks(module: ProviderModule, model: string, facts: ProviderFacts): readonly Check[] {
  return [
    ...CHAT_REQUESTS.map(({ title, request }) =>
      check(`chat: translates ${title}, or refuses it`, () => {
        translatesOrRefuses(module, { ...request, model });
      }),
    ),
    ...(facts.reply === undefined
      ? []
      : [
          check('chat: reads its own answer', () => {
            readsReply(module, model, facts);
          }),
        ]),
    ...(facts.stream === undefined
      ? []
      : [
          check('chat: reads its own stream, wherever it is cut', () => {
            readsStream(module, model, facts);
          }),
        ]),
  ];
}

function wireOf(module: ProviderModule, surface: TranslatedSurface, request: object, stream = false): WireRequest {
  const translator = module.translators[surface];
  const model = String((request as { readonly model?: unknown }).model);
  const wire: unknown = translator?.toUpstream(deepFrozen(copied(request)) as never, callFor(model, { stream }));
  if (wire instanceof Promise || !isFields(wire))
    throw new Error('toUpstream returns no request: it is synchronous, and returns { path, body }');
  return wire as unknown as WireRequest;
}

/** A model that it does not serve on a surface may be refused. */
function translatesAlike(module: ProviderModule, surface: TranslatedSurface, request: object): void {
  try {
    const [first, second] = [wireOf(module, surface, request), wireOf(module, surface, request)];
    ok(typeof first.path === 'string' && first.path !== '', 'it returns no path');
    deepStrictEqual(
      shown(first),
      shown(second),
      'the same request leaves in two ways: no clock, no chance, no counters',
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** As it leaves: what an object holds beside JSON does not. */
const shown = ({ form: _form, ...wire }: WireRequest): string => JSON.stringify(wire);

/** A refusal is an error of the contract; anything else that is thrown is a fault. Nothing that is said is dropped in silence. */
function translatesOrRefuses(module: ProviderModule, request: ChatRequest): void {
  try {
    const wire = wireOf(module, 'chat', request, request.stream === true);
    const told = new Set([
      ...(wire.ignored ?? []),
      ...unsupportedIn(request, module.paramsFor?.(request.model) ?? module.params),
    ]);
    const sent = shown(wire);
    const lost = wordsOf(request).filter(({ field, word }) => !told.has(field) && !sent.includes(word));
    ok(
      lost.length === 0,
      `it drops in silence: ${lost.map(({ field, word }) => `${field} (${word})`).join(', ')}; send it, or name the field in ignored`,
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** Words of a request that must leave in one form or another: texts, and names of tools. */
function wordsOf({ messages, tools = [] }: ChatRequest): { readonly field: string; readonly word: string }[] {
  const texts = messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? [content]
      : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );
  const names = (tools ?? []).flatMap((tool) =>
    isFields(tool['function']) && typeof tool['function']['name'] === 'string' ? [tool['function']['name']] : [],
  );
  return [
    ...texts.filter((text) => text !== '').map((word) => ({ field: 'messages', word })),
    ...names.map((word) => ({ field: 'tools', word })),
  ];
}

function readsReply(module: ProviderModule, model: string, { reply = '', says }: ProviderFacts): void {
  const read = translateReply(module, callFor(model), reply, { ...SMALLEST.chat, model });
  const [choice] = read.choices;
  ok(choice, 'it reads no choice');
  strictEqual(choice.message.role, 'assistant');
  ok(typeof choice.finish_reason === 'string', 'its finish_reason is not a text');
  if (says !== undefined) strictEqual(choice.message.content, says);
}

function readsStream(module: ProviderModule, model: string, { stream = '', says }: ProviderFacts): void {
  const bytes = Buffer.from(stream as string);
  const call = callFor(model, { stream: true });
  const request = { ...SMALLEST.chat, model, stream: true };
  const whole = relayStream(module, call, [bytes], request);
  ok(!whole.failure, `it fails: ${errorMessage(whole.failure)}`);
  if (says !== undefined) strictEqual(whole.reply.choices[0]?.message.content, says);
  ok(typeof whole.reply.choices[0]?.finish_reason === 'string', 'its stream has no finish_reason');
  const step = Math.max(1, Math.floor(bytes.length / MOST_CUTS));
  for (let cut = 1; cut < bytes.length; cut += step) {
    deepStrictEqual(
      relayStream(module, call, [bytes.subarray(0, cut), bytes.subarray(cut)], request).reply,
      whole.reply,
      `cut at byte ${cut} it reads something else`,
    );
  }
}

/** Cuts of one stream that are tried; of longer ones not every cut is. */
const MOST_CUTS = 2000;

function readsAnything(module: ProviderModule, surface: TranslatedSurface, model: string): void {
  const translator = module.translators[surface];
  for (const body of NO_ANSWERS) {
    let reply: unknown;
    try {
      reply = translator?.fromUpstream(unaryReply(body), callFor(model), { ...SMALLEST[surface], model } as never);
    } catch {
      continue; // the call has failed, as it should
    }
    ok(
      isFields(reply),
      `of ${JSON.stringify(body)} it makes something that is not an answer: throw for what holds none`,
    );
  }
}
