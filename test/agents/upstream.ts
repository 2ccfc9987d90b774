import { openSse, replyJson, type SeenRequest, type StubHandler } from '../kit/index.ts';
import { isPending } from '../kit/strict/check.ts';
import { ownFaults, refusalsOf } from '../kit/strict/index.ts';
import { type Turn, turnsIn } from './script.ts';
import { type Speak, type TargetName, TARGETS } from './targets.ts';

type Json = Readonly<Record<string, any>>;

/** What the upstream of a scene saw. */
export interface Seen {
  /** Numbers of the turns that it answered with, of the script alone. */
  readonly turns: number[];
  /** What the vendor would have refused, as it was refused. */
  readonly refusals: string[];
  /** Bodies of requests that go on with the script. */
  readonly bodies: string[];
}

/** Plays a vendor whose model takes these turns, one for each request that offers tools: the calls that it brings back say which comes next. */
export function playing(
  name: TargetName,
  turnsOf: (text: string) => readonly Turn[] | undefined,
  seen: Seen,
): StubHandler {
  const { model, speaks } = TARGETS[name];
  return (request, response) => {
    const [path = ''] = request.url.split('?');
    const speak = (speaks as readonly (readonly [RegExp, Speak])[]).find(([end]) => end.test(path))?.[1];
    const refusals = speak ? refusalsTo(name, path, request) : [`POST ${path} is not streamed here`];
    if (!speak || refusals.length > 0) {
      seen.refusals.push(...refusals);
      replyJson(response, 400, { error: { message: refusals.join('; '), type: 'invalid_request_error', code: null } });
      return;
    }
    const turns = turnsOf(request.text);
    const number = turnsIn(request.text) + 1;
    if (turns) {
      seen.turns.push(number);
      seen.bodies.push(request.text);
    }
    const turn = turns ? (turns[number - 1] ?? { say: 'the script is over' }) : { say: 'a title' };
    if (name === 'bedrock') response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    else openSse(response);
    response.end(speak(turn, number, model));
  };
}

/** Said of ids of items that only a gateway would make up: those of an agent that asks this API itself come with what they name. */
const PERSISTED = /Items are not persisted/;

/** Why the vendor would answer 400. */
function refusalsTo(provider: TargetName, path: string, request: SeenRequest): string[] {
  const body = request.json() as Json;
  const model = decodeURIComponent(/\/models?\/([^/:]+(?::\d+)?)/.exec(path)?.[1] ?? String(body['model']));
  const own = path.endsWith('/chat/completions') ? ownFaults(body) : path.endsWith('/responses') ? unpaired(body) : [];
  return [...own, ...refusalsOf({ provider, model, path, body })].filter(
    (problem) => !isPending(provider, problem) && !PERSISTED.test(problem),
  );
}

/** Calls without results, and the reverse. Sources: the service's own 400s in CLIProxyAPI issue 2368 and continue issue 10092, 2026-11-26. */
function unpaired({ input }: Json): string[] {
  const items = Array.isArray(input) ? (input as readonly Json[]) : [];
  const idsOf = (type: RegExp): ReadonlySet<string> =>
    new Set(items.filter((item) => type.test(item['type'])).map((item) => item['call_id'] as string));
  const [calls, results] = [idsOf(/_call$/), idsOf(/_call_output$/)];
  return [
    ...[...calls.difference(results)].map((id) => `No tool output found for function call ${id}.`),
    ...[...results.difference(calls)].map((id) => `No tool call found for function call output with call_id ${id}.`),
  ];
}
