import { Dice } from '../../kit/random.ts';
import { madeUp } from './answers.ts';
import { BEARER, type Exchange, JSON_TYPE, jsonBody, KEY } from './exchange.ts';
import type { HouseName } from './houses.ts';

/** What the gateway answers by itself, in every house. */
const READ: readonly string[] = [
  '/livez',
  '/readyz',
  '/openapi.json',
  '/v1/models',
  '/v1/models/openai-chat',
  '/v1/models/none',
  '/v1beta/models',
  '/v1beta/models?pageSize=3',
  '/v1/capabilities',
  '/admin/providers',
  '/admin/providers/catalog',
  '/admin/plugins',
  '/admin/plugins/catalog',
  '/admin/plugins/coverage',
  '/admin/config',
  '/admin/config/history',
  '/admin/keys',
  '/admin/logs',
  '/admin/explain/none',
  '/admin/none',
  '/none',
];

type Question = readonly [
  title: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: Buffer,
];

const CHAT = '/v1/chat/completions';
const json = { ...BEARER, ...JSON_TYPE };
const chat = { model: 'openai-chat', messages: [{ role: 'user', content: 'hi' }] };
const MESSAGES = { model: 'anthropic-chat', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
const CONTENTS = { contents: [{ parts: [{ text: 'hi' }] }] };

/** Paths that take JSON, with a body that is right: each is asked wrongly in the same ways. */
const TAKERS: readonly (readonly [path: string, body: Readonly<Record<string, unknown>>])[] = [
  [CHAT, chat],
  ['/v1/messages', MESSAGES],
  ['/v1beta/models/gemini-chat:generateContent', CONTENTS],
  ['/v1/responses', { model: 'openai-chat', input: 'hi' }],
  ['/v1/completions', { model: 'openai-chat', prompt: 'hi' }],
  ['/v1/embeddings', { model: 'openai-embeddings', input: 'hi' }],
  ['/v1/images/generations', { model: 'openai-images', prompt: 'hi' }],
  ['/v1/audio/speech', { model: 'openai-speech', input: 'hi', voice: 'alloy' }],
  ['/v1/moderations', { model: 'openai-moderations', input: 'hi' }],
  ['/v1/rerank', { model: 'cohere-rerank', query: 'q', documents: ['a'] }],
];

const wrongly = ([path, body]: (typeof TAKERS)[number]): Question[] => [
  ['JSON that breaks off', 'POST', path, json, Buffer.from('{"model": "openai-chat", ')],
  ['a list in place of an object', 'POST', path, json, Buffer.from('[]')],
  ['no body', 'POST', path, json],
  ['no members', 'POST', path, json, jsonBody({})],
  ['a model alone', 'POST', path, json, jsonBody({ model: body['model'] })],
  ['an unknown model', 'POST', path, json, jsonBody({ ...body, model: 'of-no-target' })],
  [
    'members of wrong types',
    'POST',
    path,
    json,
    jsonBody({ ...body, messages: 7, input: {}, prompt: false, contents: 'x' }),
  ],
  ['another method', 'PUT', path, json, jsonBody(body)],
  ['no credential', 'POST', path, JSON_TYPE, jsonBody(body)],
  ['a wrong credential', 'POST', path, { ...JSON_TYPE, authorization: 'Bearer gw_wrong' }, jsonBody(body)],
  ['another media type', 'POST', path, { ...BEARER, 'content-type': 'text/plain' }, jsonBody(body)],
  ['a preflight', 'OPTIONS', path, { origin: 'http://page.example', 'access-control-request-method': 'POST' }],
];

const MORE: readonly Question[] = [
  ['a key twice', 'POST', CHAT, json, Buffer.from('{"model":"openai-chat","model":"x","messages":[]}')],
  ['temperature out of range', 'POST', CHAT, json, jsonBody({ ...chat, temperature: 9 })],
  ['an unknown role', 'POST', CHAT, json, jsonBody({ ...chat, messages: [{ role: 'robot', content: 'hi' }] })],
  ['metadata that is not JSON', 'POST', CHAT, { ...json, 'x-gateway-metadata': '{' }, jsonBody(chat)],
  ['another spelling of a path', 'POST', '/v1/%63hat/completions', json, jsonBody(chat)],
  ['slashes too many', 'POST', '//v1/chat//completions/', json, jsonBody(chat)],
  ['a path with dots', 'GET', '/v1/files/%2e%2e/admin', BEARER],
  ['an alias', 'POST', CHAT, json, jsonBody({ ...chat, model: 'fast' })],
  ['a form without a file', 'POST', '/v1/audio/transcriptions', json, jsonBody({ model: 'openai-transcriptions' })],
  ['where a request goes', 'POST', '/admin/explain', json, jsonBody({ request: chat })],
  ['where none goes', 'POST', '/admin/explain', json, jsonBody({ request: { ...chat, model: 'none' } })],
  [
    'a configuration that is right',
    'POST',
    '/admin/config/validate',
    json,
    jsonBody({ targets: [{ virtual_key: 'openai' }] }),
  ],
  ['a configuration that is wrong', 'POST', '/admin/config/validate', json, jsonBody({ targets: [], shiny: 1 })],
  [
    'what a configuration changes',
    'POST',
    '/admin/config/diff',
    json,
    jsonBody({ targets: [{ virtual_key: 'openai' }] }),
  ],
  ['a key that is not there', 'GET', '/admin/keys/none', BEARER],
  ['a key without a name', 'POST', '/admin/keys', json, jsonBody({})],
  ['a message of tool servers', 'POST', '/mcp', json, jsonBody({ jsonrpc: '2.0', id: 1, method: 'tools/list' })],
  ['the same key in the query', 'GET', `/v1/models?key=${KEY}`, {}],
];

/** For those that reach an upstream after all. */
const ANSWERS = [madeUp(false, new Dice(1))];

const exchange = (house: HouseName, [title, method, path, headers, body]: Question): Exchange => ({
  title: `${house} · ${title} · ${method} ${path}`,
  house,
  method,
  path,
  headers,
  body,
  answers: ANSWERS,
});

/** What the gateway answers without an upstream: its own state in every house, wrong requests in one. */
export function questions(houses: readonly HouseName[]): Exchange[] {
  const asked = (house: HouseName): Exchange[] => READ.map((path) => exchange(house, ['asked', 'GET', path, BEARER]));
  return [
    ...houses.flatMap(asked),
    ...[...TAKERS.flatMap(wrongly), ...MORE].map((question) => exchange('plain', question)),
  ];
}
