import type { IncomingMessage } from 'node:http';
import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../host/cli/command.ts';
import { visibleText } from '../../host/cli/visible-text.ts';
import { isFields } from '../../host/contract/json/fields.ts';
import { tryParseJson } from '../../host/contract/json/json.ts';
import type { CommandPlace } from '../../host/host.ts';
import { Client, readText } from './client.ts';
import { printData } from './show.ts';

const PATH = '/v1/chat/completions';
/** Longest silence of a model. */
const SILENCE_MS = 120_000;

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** `gw chat [prompt]`: one answer, to the argument or to what is piped in, or on a terminal a conversation, as it comes. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [given],
    options: { model },
  } = input;
  if (typeof model !== 'string' || model === '') throw new UsageError('name a model: --model <model>');
  const client = new Client(input, place);
  if (given === undefined && io.ask && io.terminal) return converse(client, model, { ...io, ask: io.ask }, place);
  const prompt = given ?? ((await io.piped?.()) ?? '').trimEnd();
  if (prompt === '') throw new UsageError('give a prompt: gw chat --model <model> "<prompt>", or pipe one in');
  return answerOnce(client, { model, messages: [{ role: 'user', content: prompt }] }, input, io, place);
};

interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
}

async function answerOnce(
  client: Client,
  request: Request,
  { format }: CommandInput,
  io: CommandIo,
  place: CommandPlace,
): Promise<void> {
  if (format !== 'table') return printData(io, format, await client.object('POST', PATH, request));
  await stream(client, request, io, place);
}

/** Line by line, until the end of the input or an empty line. */
async function converse(
  client: Client,
  model: string,
  io: CommandIo & { readonly ask: NonNullable<CommandIo['ask']> },
  place: CommandPlace,
): Promise<void> {
  const messages: Message[] = [];
  for (;;) {
    const prompt = await io.ask('> ');
    if (prompt === undefined || prompt.trim() === '') return;
    messages.push({ role: 'user', content: prompt });
    messages.push({ role: 'assistant', content: await stream(client, { model, messages }, io, place) });
  }
}

/** Prints the answer as it comes, and returns it. */
async function stream(client: Client, request: Request, io: CommandIo, { clock }: CommandPlace): Promise<string> {
  const sent = client.open('POST', PATH, { ...request, stream: true });
  const silence = clock.timer(SILENCE_MS, () => sent.destroy(new Error(`nothing came for ${SILENCE_MS / 1000} s`)));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  sent.on('error', (error) => reject(client.unreachable(error)));
  sent.on('response', (response) => {
    readAnswer(client, response, io, () => silence.refresh()).then(resolve, reject);
  });
  try {
    return await promise;
  } finally {
    silence.cancel();
    sent.destroy();
  }
}

async function readAnswer(
  client: Client,
  response: IncomingMessage,
  io: CommandIo,
  heard: () => void,
): Promise<string> {
  const status = response.statusCode ?? 0;
  if (status !== 200)
    throw client.refusal('POST', PATH, { status, location: response.headers.location, text: await readText(response) });
  let said = '';
  let isDone = false;
  for await (const line of linesOf(response)) {
    heard();
    const data = /^data: ?(.*)$/.exec(line)?.[1];
    if (data === '[DONE]') isDone = true;
    const text = data === undefined || isDone ? '' : textIn(data);
    said += text;
    io.out(io.terminal ? visibleText(text) : text); // a terminal would obey what a model says
    if (io.isOutputLost?.()) return said; // its reader left, and the rest would cost
  }
  io.out('\n');
  if (!isDone) throw new UsageError(`POST ${PATH}: the answer ended early`);
  return said;
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split(/\r?\n/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The text of one event. Throws when it says that the answer failed. */
function textIn(data: string): string {
  const event = tryParseJson(data);
  if (!isFields(event)) return '';
  if (isFields(event['error'])) throw new UsageError(`POST ${PATH}: ${String(event['error']['message'])}`);
  const [choice] = Array.isArray(event['choices']) ? (event['choices'] as readonly unknown[]) : [];
  const delta = isFields(choice) ? choice['delta'] : undefined;
  const content = isFields(delta) ? delta['content'] : undefined;
  return typeof content === 'string' ? content : '';
}
