import Joi from 'joi';
import {
  definePlugin,
  type Exchange,
  type HttpReply,
  inPart,
  isFields,
  isText,
  parseDuration,
  type PluginDeps,
  reject,
  type StreamGuard,
  SURFACES,
  texts,
  tryParseJson,
  type Verdict,
} from 'gw/contract';
import { observe, streamWhole, type StreamSettings } from './_common/settings.ts';

interface Settings extends StreamSettings {
  url: string;
  timeout: string;
  fail: 'closed' | 'open';
  headers: Record<string, string>;
}

const DEFAULT_TIMEOUT = '2s';
/** Headers that the call itself has. */
const OWN_HEADERS = ['content-type', 'content-length', 'host', 'connection', 'transfer-encoding', 'expect', 'upgrade'];
const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** UTF-16 code units of a reason that a client gets. */
const MOST_REASON = 1000;

/** Asks a service of the operator's whether texts may pass: once, and within a bounded time. */
export default definePlugin<Settings>({
  name: 'webhook',
  type: 'guardrail',
  summary: 'Asks a service of your own whether a request or an answer may pass',
  stages: ['before_request', 'after_request'],
  unlistedSettings: ['headers'],
  settings: Joi.object<Settings, true>({
    url: Joi.string()
      .required()
      .custom(addressOf)
      .meta({ isAddress: true })
      .description('where to ask: an http or https URL without credentials in it'),
    timeout: Joi.string()
      .custom(durationOf)
      .default(DEFAULT_TIMEOUT)
      .description('how long an answer may take: a duration such as `500ms`'),
    fail: Joi.string()
      .valid('closed', 'open')
      .default('closed')
      .description('a service that is away, slow or wrong: `closed` refuses with 500, `open` lets pass with a warning'),
    observe,
    stream: streamWhole,
    headers: Joi.object()
      .pattern(
        Joi.string()
          .pattern(HEADER_NAME)
          .invalid(...OWN_HEADERS)
          .insensitive(),
        Joi.string().allow('').pattern(HEADER_VALUE),
      )
      .default({})
      .description(
        'headers of the call, such as a credential as `${VAR}`; the admin API shows neither names nor values',
      ),
  }),
  create: (settings, { send }) => {
    const ask = asking(settings, send);
    return {
      before_request: ask,
      after_request: ask,
      ...(settings.stream === 'window' && !settings.observe && { stream: () => WAITING }),
    };
  },
});

/** Passes every chunk on, to where they wait for the verdict on the whole answer. */
const WAITING: StreamGuard = { push: (chunk) => [chunk], end: () => [], awaitsVerdict: true };

function addressOf(text: string, helpers: Joi.CustomHelpers): unknown {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
    ? text
    : helpers.message({ custom: '{{#label}} must be an http or https URL' });
}

function durationOf(text: string, helpers: Joi.CustomHelpers): unknown {
  return (parseDuration(text) ?? 0) > 0
    ? text
    : helpers.message({ custom: '{{#label}} must be a duration above 0, such as 2s' });
}

function asking(
  { url, timeout, headers }: Settings,
  send: PluginDeps['send'],
): (exchange: Exchange) => Promise<Verdict | undefined> | undefined {
  const timeoutMs = parseDuration(timeout) ?? 0;
  const sent = { ...headers, 'content-type': 'application/json' };
  return (exchange) => {
    const { stage, surface, model } = exchange;
    const read = [...texts(exchange)];
    if (stage === 'after_request' && read.length === 0) return undefined; // nothing of this answer is text
    const body = JSON.stringify({ stage, surface: SURFACES[surface].tag, model, texts: read });
    return send({ method: 'POST', url, headers: sent, body, timeoutMs }).then(verdictOf);
  };
}

/** Throws for an answer that is not one: what follows is the host's decision. */
function verdictOf({ status, body }: HttpReply): Verdict | undefined {
  if (status !== 200) throw new Error(`the service answered ${status}`);
  const answer = tryParseJson(Buffer.from(body).toString('utf8'));
  if (!isFields(answer)) throw new Error('the service did not answer with a JSON object');
  const { action, reason } = answer;
  if (reason !== undefined && reason !== null && typeof reason !== 'string')
    throw new Error('the service gave a reason that is not a text');
  if (action === 'allow') return undefined;
  if (action !== 'block') throw new Error('the service answered with an action that is neither allow nor block');
  return reject(isText(reason) ? inPart(reason, MOST_REASON) : 'blocked by policy');
}
