import { type CallInfo, GatewayError, type Send, type WireReply, type WireRequest } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { statusOf } from './errors.ts';
import { PredictionEvents } from './events.ts';
import { isPending, isSuccess, jsonOf, mayCarryToken, predictionPath, predictionOf, unusable } from './predictions.ts';

const POLL_MS = 500;
/** Half an hour: the service itself ends predictions that run longer. Source: Replicate documentation, "Prediction lifecycle", 2026-11-21. */
const MAX_POLLS = 3600;
const METRICS_MS = 5000;

/** Statuses of a prediction that was created; 202 says that it is not complete. */
const CREATED: ReadonlySet<number> = new Set([200, 201, 202]);

/** Creates a prediction, and then waits for its end or opens its stream. One that is given up is cancelled at the service. */
export async function converse(send: Send, request: WireRequest, call: CallInfo): Promise<WireReply> {
  const created = await send(request);
  if (!CREATED.has(created.status)) return created;
  const { id } = predictionOf(created);
  try {
    const reply = await (call.stream ? openEvents(send, created, call) : settle(send, created, call));
    if (reply.status !== 200) cancel(send, id, reply);
    return reply;
  } catch (error) {
    cancel(send, id);
    throw error;
  }
}

/** Asks until the prediction has ended, or the call has. */
async function settle(send: Send, created: WireReply, call: CallInfo): Promise<WireReply> {
  let reply = created;
  for (let polls = 0; isPending(predictionOf(reply)); polls += 1) {
    if (polls === MAX_POLLS)
      throw new GatewayError('upstream_timeout', 'the prediction did not end in time', { fault: { kind: 'timeout' } });
    await call.wait(POLL_MS);
    reply = await send({ method: 'GET', path: predictionPath(predictionOf(created).id) });
    if (reply.status !== 200) return reply;
  }
  return ended(reply);
}

/** A prediction that failed is a refused call. */
function ended(reply: WireReply): WireReply {
  const prediction = predictionOf(reply);
  return { ...reply, status: isSuccess(prediction) ? 200 : statusOf(prediction) };
}

async function openEvents(send: Send, created: WireReply, call: CallInfo): Promise<WireReply> {
  const prediction = predictionOf(created);
  if (!isPending(prediction) && !isSuccess(prediction)) return ended(created);
  const path = streamAddress(prediction);
  const request = {
    method: 'GET',
    path,
    headers: { accept: 'text/event-stream' },
    withCredential: mayCarryToken(path, call),
  };
  const reply = await send(request, { stream: true });
  if (reply.status !== 200) return reply;
  const body = new PredictionEvents(reply.body, {
    id: prediction.id,
    readMetrics: () => readMetrics(send, prediction.id, call),
    cancel: () => cancel(send, prediction.id),
  });
  return { ...reply, body };
}

function streamAddress({ urls, stream_url: older }: Fields): string {
  const given = [isFields(urls) ? urls['stream'] : undefined, older].find((address) => typeof address === 'string');
  const url = typeof given === 'string' ? URL.parse(given) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw unusable('the prediction has no stream');
  return url.origin + url.pathname + url.search;
}

/** Whatever fails here leaves the stream as it is, only without usage. */
async function readMetrics(send: Send, id: string, call: CallInfo): Promise<unknown> {
  const asked = send({ method: 'GET', path: predictionPath(id) }).then(({ status, body }) => {
    const prediction = status === 200 ? jsonOf(body) : undefined;
    return isFields(prediction) ? prediction['metrics'] : undefined;
  });
  return Promise.race([asked, call.wait(METRICS_MS)]).catch(() => undefined);
}

/** Not for a prediction that has ended by itself; the answer is of no interest. */
function cancel(send: Send, id: string, last?: WireReply): void {
  const known = last && jsonOf(last.body);
  if (isFields(known) && known['id'] === id && !isPending(known)) return;
  send({ path: `${predictionPath(id)}/cancel` }, { detached: true }).catch(() => {});
}
