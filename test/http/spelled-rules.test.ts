import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import {
  ask,
  chatReply,
  Dice,
  fakeClock,
  forSuite,
  rawClient,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
} from '../kit/index.ts';
import { routedPaths, spellingsOf, WAYS } from './spellings/spellings.ts';

const ABLE = {
  passthrough: true,
  responses: true,
  batches: true,
  translators: commonTranslators(
    [
      'chat',
      'embeddings',
      'images',
      'rerank',
      'moderations',
      'audio.transcriptions',
      'audio.translations',
      'audio.speech',
    ],
    {},
  ),
} as const;
const AT_ONCE = 16;
const WORD = 'forbidden';
const BODY = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: WORD }],
  contents: [{ parts: [{ text: WORD }] }],
  content: { parts: [{ text: WORD }] },
  requests: [{ model: 'models/m', content: { parts: [{ text: WORD }] } }],
  input: WORD,
  prompt: WORD,
  query: WORD,
  documents: [WORD],
  document: { type: 'document_url', document_url: WORD },
  voice: 'alloy',
  max_tokens: 9,
});
const FORM = ['model"\r\n\r\nm', `file"; filename="${WORD}.mp3"\r\n\r\n${WORD}`]
  .map((part) => `--b\r\nContent-Disposition: form-data; name="${part}\r\n`)
  .join('')
  .concat('--b--\r\n');

/** A rule of the gateway that refuses what the key of a test asks for. */
interface Rule {
  readonly limits?: KeyLimits;
  readonly plugins?: readonly object[];
  /** Asked once before, so that a limit is used up. */
  readonly isSpent?: true;
  /** What its answer begins with, and says. */
  readonly says: RegExp;
  /** What the rule lets pass: it costs nothing, or holds no text. */
  readonly passes: RegExp;
}

const RULES: Readonly<Record<string, Rule>> = {
  'a budget': {
    limits: { budget_usd: 0.5 },
    isSpent: true,
    says: /^402 [^]*budget exceeded/,
    passes: /^\/v1\/responses\/input_tokens|countTokens|count_tokens/,
  },
  'tokens per minute': { limits: { tpm: 1 }, isSpent: true, says: /^429 [^]*rate_limit/i, passes: /^$/ },
  'a guardrail': {
    plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: [WORD] } }],
    says: /^400 [^]*(?:content policy|cannot be inspected)/,
    passes: /^$/,
  },
  'a list of models': {
    limits: { models: ['other'] },
    says: /^404 [^]*(?:model_not_found|not found|does not exist|NOT_FOUND)/,
    passes: /^$/,
  },
};

interface Scene {
  readonly stub: StubUpstream;
  /** Paths that POST is answered at. */
  readonly routes: readonly string[];
  /** What is answered to each, from its status on. */
  readonly send: (targets: readonly string[]) => Promise<readonly string[]>;
}

const requestOf = (target: string, key: string): string => {
  const [type, body] = /audio\/trans/i.test(target)
    ? ['multipart/form-data; boundary=b', FORM]
    : ['application/json', BODY];
  return `POST ${target} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nX-Provider: a\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

async function start({ limits = {}, plugins = [], isSpent }: Rule): Promise<Scene> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const t = await startHost(
    { targets: [stub.target('a', { models: ['m'] }, ABLE)], batch_target: 'a', responses_target: 'a', plugins },
    { clock: fakeClock() },
  );
  t.host.services.catalog = {
    ...NO_CATALOG,
    cost: () => ({
      totalUsd: 0.6,
      inputUsd: 0.6,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'test',
    }),
  };
  const { key } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
  if (isSpent) await t.post('/v1/chat/completions', ask('hi'), { authorization: `Bearer ${key}` });
  const send = async (targets: readonly string[]): Promise<readonly string[]> => {
    const answers: string[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let at = next++; at < targets.length; at = next++) {
        const client = await rawClient(t.url);
        client.send(requestOf(targets[at] ?? '', key));
        answers[at] = (await client.closed()).slice(9);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return answers;
  };
  const paths = routedPaths(t.host);
  const answers = await send(paths);
  stub.seen.length = 0;
  return { stub, send, routes: paths.filter((_path, at) => !answers[at]?.startsWith('405 ')) };
}

describe('rules of the gateway hold for a path however it is written', function () {
  this.timeout(60_000);

  for (const [name, rule] of Object.entries(RULES))
    describe(name, () => {
      const scene = forSuite(() => start(rule));

      it('refuses the request at every route', async () => {
        const { routes, send, stub } = scene();
        expect(routes.length).to.be.greaterThan(15);
        const ruled = routes.filter((route) => !rule.passes.test(route));
        const answers = await send(ruled);
        expect(ruled.filter((_route, at) => !rule.says.test(answers[at] ?? ''))).to.deep.equal([]);
        expect(stub.seen.map(({ url }) => url)).to.deep.equal([]);
      });

      it('refuses it with other slashes too, and however else it is written it reaches no provider', async () => {
        const { routes, send, stub } = scene();
        const ruled = routes.filter((route) => !rule.passes.test(route));
        const spellings = spellingsOf(ruled, Object.keys(WAYS).length * 5, new Dice(5100));
        const answers = await send(spellings.map(({ target }) => target));
        const wrong = spellings.filter(({ ways }, at) => {
          const answer = answers[at] ?? '';
          const isServed = ways.every((way) => way.startsWith('slashes'));
          const isElse = /^40[04] /.test(answer); // 404: it names another model
          return !rule.says.test(answer) && (isServed || !isElse);
        });
        expect(wrong.map(({ target }) => target)).to.deep.equal([]);
        expect(stub.seen.map(({ url }) => url)).to.deep.equal([]);
      });
    });
});
