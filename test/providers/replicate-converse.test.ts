import { expect } from 'chai';
import {
  type CallInfo,
  type ChatRequest,
  GatewayError,
  type SendOptions,
  type WireReply,
  type WireRequest,
} from '../../host/contract/index.ts';
import replicate from '../../providers/replicate/index.ts';
import { ask, callFor, golden } from '../kit/index.ts';

const ID = 'gm3qorzdhgbfurvjtvhg6dckhu';
const MODEL = 'meta/meta-llama-3-8b-instruct';
const ROOT = 'https://api.replicate.com/v1';
const file = (name: string): any => JSON.parse(golden(`replicate/chat/${name}.json`));

type Answer = WireReply | Error;
const json = (body: unknown, status = 200): WireReply => ({
  status,
  headers: {},
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
const events = (...pieces: readonly (string | Error)[]): WireReply => ({
  status: 200,
  headers: {},
  body: piecesOf(pieces),
});

async function* piecesOf(pieces: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

interface Talk {
  readonly sent: (WireRequest & SendOptions)[];
  readonly waited: number[];
  readonly reply: Promise<WireReply>;
  /** Method and path of what was sent, in order. */
  readonly routes: () => string[];
}

/** A conversation with a service that answers in turn; the last answer is given again and again. */
function talk(answers: readonly Answer[], more: Partial<CallInfo> = {}): Talk {
  const sent: (WireRequest & SendOptions)[] = [];
  const waited: number[] = [];
  const tick = async (ms: number): Promise<void> => {
    waited.push(ms);
  };
  const call = callFor(MODEL, { root: ROOT, wait: (ms) => (ms === 500 ? tick(ms) : new Promise(() => {})), ...more });
  const send = async (request: WireRequest, options: SendOptions = {}): Promise<WireReply> => {
    sent.push({ ...request, ...options });
    const answer = request.path.endsWith('/cancel')
      ? json('')
      : answers[Math.min(sent.filter(({ path }) => !path.endsWith('/cancel')).length, answers.length) - 1];
    if (answer instanceof Error || answer === undefined) throw answer ?? new Error('nothing to answer');
    return answer;
  };
  const request = replicate.translators.chat!.toUpstream(ask('hi', { model: MODEL }) as unknown as ChatRequest, call);
  const reply = replicate.converse!(send, request, call);
  reply.catch(() => {});
  return { sent, waited, reply, routes: () => sent.map(({ method = 'POST', path }) => `${method} ${path}`) };
}

const bodyOf = async ({ body }: WireReply): Promise<string> => {
  const pieces: Uint8Array[] = [];
  if (body instanceof Uint8Array) pieces.push(body);
  else for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
};
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const POLL = `GET /predictions/${ID}`;
const CANCEL = `POST /predictions/${ID}/cancel`;
const CREATE = `POST /models/${MODEL}/predictions`;

describe('replicate, a prediction', () => {
  it('that is over at once needs one call', async () => {
    for (const status of [200, 201]) {
      const { reply, routes, waited } = talk([json(file('reply'), status)]);
      expect([(await reply).status, JSON.parse(await bodyOf(await reply)).id]).to.deep.equal([200, ID]);
      expect([routes(), waited]).to.deep.equal([[CREATE], []]);
    }
  });

  it('is asked for every half second, at the address of the API, until it is over', async () => {
    const { reply, routes, waited } = talk([
      json(file('starting'), 201),
      json(file('processing')),
      json(file('starting')),
      json(file('reply')),
    ]);
    expect(JSON.parse(await bodyOf(await reply)).status).to.equal('succeeded');
    expect([routes(), waited]).to.deep.equal([
      [CREATE, POLL, POLL, POLL],
      [500, 500, 500],
    ]);
  });

  it("that failed is a refused call: the caller's mistake where it says so", async () => {
    for (const [name, status] of [
      ['failed', 502],
      ['canceled', 502],
      ['aborted', 502],
      ['refused', 400],
    ] as const) {
      for (const answers of [[json(file(name), 201)], [json(file('starting'), 201), json(file(name))]]) {
        const { reply, routes } = talk(answers);
        expect((await reply).status, name).to.equal(status);
        expect(routes(), name).to.not.include(CANCEL);
      }
    }
    expect((await talk([json({ id: ID, status: 'exploded' }, 201)]).reply).status).to.equal(502);
  });

  it('that was not created is refused as the service says', async () => {
    for (const status of [401, 404, 422, 500, 301]) {
      const { reply, routes } = talk([json(file('error-422'), status)]);
      expect([(await reply).status, routes()]).to.deep.equal([status, [CREATE]]);
    }
  });

  it('that cannot be asked for is an unusable answer', async () => {
    for (const body of ['', 'null', '[]', '{}', '{"id":7}', '{"id":"","status":"starting"}', '<html>']) {
      const failure = await failureOf(talk([json(body, 201)]).reply);
      expect(failure, body).to.be.instanceOf(GatewayError).and.have.nested.property('fault.kind', 'reply');
    }
  });

  it('whose id could not stand in an address is none', async () => {
    for (const id of ['../../x?y', '..', '.', 'a/b', 'a\\b', 'a%2fb', 'a b', '', 'a\n', '\ud800']) {
      const { reply, routes } = talk([json({ id, status: 'starting' }, 201)]);
      expect(await failureOf(reply), id).to.have.property('message', 'the provider sent an unusable answer');
      expect(routes()).to.deep.equal([CREATE]);
    }
  });

  it('that cannot be asked for any more is cancelled, and the refusal goes on', async () => {
    const { reply, routes, sent } = talk([json(file('starting'), 201), json({ detail: 'busy' }, 503)]);
    expect([(await reply).status, routes()]).to.deep.equal([503, [CREATE, POLL, CANCEL]]);
    expect(sent.at(-1)).to.include({ detached: true });
    const broken = talk([json(file('starting'), 201), new GatewayError('upstream_error', 'gone')]);
    expect(await failureOf(broken.reply)).to.have.property('message', 'gone');
    expect(broken.routes()).to.deep.equal([CREATE, POLL, CANCEL]);
  });

  it('is cancelled when the call is, whatever was under way', async () => {
    const gone = new GatewayError('client_canceled', 'the client has gone');
    const { reply, routes, sent } = talk([json(file('starting'), 201)], { wait: () => Promise.reject(gone) });
    expect(await failureOf(reply)).to.equal(gone);
    expect([routes(), sent.at(-1)?.detached]).to.deep.equal([[CREATE, CANCEL], true]);
  });

  it('is given up after half an hour without a deadline', async () => {
    const { reply, routes, waited } = talk([json(file('starting'), 201), json(file('processing'))]);
    expect(await failureOf(reply))
      .to.be.instanceOf(GatewayError)
      .and.include({ code: 'upstream_timeout' });
    expect([waited.reduce((sum, ms) => sum + ms, 0), routes().at(-1)]).to.deep.equal([30 * 60 * 1000, CANCEL]);
  });
});

describe('replicate, a streamed prediction', () => {
  const streamed = (
    body: WireReply | Error,
    metrics: Answer = json(file('reply')),
    prediction: object = file('starting'),
    more: Partial<CallInfo> = {},
  ): Talk => talk([json(prediction, 201), body, metrics], { stream: true, ...more });
  const whole = (...pieces: (string | Error)[]): Talk => streamed(events(...pieces));
  const METRICS = 'event: prediction\ndata: {"metrics":{"input_token_count":11,"output_token_count":7,';
  const FIRST = `event: prediction\ndata: {"id":"${ID}"}\n\n`;
  const STREAM = 'https://stream.replicate.com/v1/files/bcwr-conformance';

  it('is created, opened at its address, and asked once for its metrics after the end', async () => {
    const text = golden('replicate/chat/stream.txt');
    const { reply, routes, sent } = whole(text);
    const body = await bodyOf(await reply);
    expect(body.startsWith(FIRST + text + METRICS)).to.equal(true);
    expect(routes()).to.deep.equal([CREATE, `GET ${STREAM}`, POLL]);
    expect(sent[1]).to.deep.include({ headers: { accept: 'text/event-stream' }, stream: true, withCredential: true });
  });

  it('ends with its last event, however it is cut and whatever follows', async () => {
    const text = 'event: output\r\ndata: a\r\n\r\nevent:done\r\ndata: {}\r\n\r\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const { reply, routes } = whole(
        text.slice(0, cut),
        `${text.slice(cut)}event: output\r\ndata: late\r\n`,
        'data: later',
      );
      const body = await bodyOf(await reply);
      expect(
        body.replace(/\r\n?|\n/g, '\n').startsWith(`${FIRST}event: output\ndata: a\n\nevent:done\ndata: {}\n`),
        `cut at ${cut}`,
      ).to.equal(true);
      expect([body.includes('late'), body.includes(METRICS), routes().length], `cut at ${cut}`).to.deep.equal([
        false,
        true,
        3,
      ]);
    }
  });

  it('counts a last event without its blank line', async () => {
    expect(await bodyOf(await whole('event: done\ndata: {}').reply)).to.include(`event: done\ndata: {}\n\n${METRICS}`);
  });

  it('is whole although its metrics are not to be had', async () => {
    for (const metrics of [
      json({}, 500),
      json('no json'),
      json('[]'),
      new Error('gone'),
      json({ status: 'processing' }),
    ]) {
      const { reply, routes } = streamed(events(golden('replicate/chat/stream.txt')), metrics);
      expect(await bodyOf(await reply)).to.match(
        /event: done\nid: \S+\ndata: \{\}\n\nevent: prediction\ndata: \{\}\n\n$/,
      );
      expect(routes().slice(2)).to.deep.equal([POLL]);
    }
    for (const wait of [async (): Promise<void> => {}, (): Promise<void> => Promise.reject(new Error('cancelled'))]) {
      const { reply } = streamed(events('event: done\ndata: {}\n\n'), json(file('reply')), file('starting'), { wait });
      expect(await bodyOf(await reply)).to.match(/event: done\ndata: \{\}\n\nevent: prediction\ndata: \{\}\n\n$/);
    }
  });

  it('asks for no metrics, and cancels nothing, after an error', async () => {
    const { reply, routes } = whole(golden('replicate/chat/error.txt'));
    expect(await bodyOf(await reply)).to.equal(FIRST + golden('replicate/chat/error.txt'));
    expect(routes()).to.have.length(2);
  });

  it('is cancelled when its body breaks off, or is let go', async () => {
    const cutOff = whole('event: output\ndata: a\n\n');
    expect(await bodyOf(await cutOff.reply)).to.equal(`${FIRST}event: output\ndata: a\n\n`);
    expect(cutOff.routes().at(-1)).to.equal(CANCEL);
    const broken = whole('event: output\ndata: a\n\n', new Error('reset'));
    expect(await failureOf(bodyOf(await broken.reply))).to.have.property('message', 'reset');
    expect(broken.routes().filter((route) => route === CANCEL)).to.have.length(1);
    const left = whole(golden('replicate/chat/stream.txt'));
    for await (const _piece of (await left.reply).body as AsyncIterable<Uint8Array>) break;
    expect(left.routes()).to.deep.equal([CREATE, `GET ${STREAM}`, CANCEL]);
  });

  it('is let go even while a read is under way', async () => {
    let isClosed = false;
    const silent = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => {
          isClosed = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const { reply, routes } = streamed({ status: 200, headers: {}, body: silent });
    const body = ((await reply).body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await body.next();
    void body.next();
    await body.return?.();
    expect([isClosed, routes().at(-1)]).to.deep.equal([true, CANCEL]);
  });

  it('shows its token to the API and its stream sibling only', async () => {
    const cases: readonly [root: string, stream: string, isShown: boolean][] = [
      [ROOT, 'https://stream.replicate.com/v1/x', true],
      [ROOT, 'https://api.replicate.com/x?y=1', true],
      [ROOT, 'http://stream.replicate.com/x', false],
      [ROOT, 'https://stream.replicate.com:8443/x', false],
      [ROOT, 'https://stream.replicate.com.evil.example/x', false],
      [ROOT, 'https://xstream.replicate.com/x', false],
      [ROOT, 'https://evil.example/stream.replicate.com', false],
      [ROOT, 'https://stream.example/x', false],
      [ROOT, 'https://streaming.api.replicate.com/x', false],
      ['https://proxy.corp.example/v1', 'https://stream.corp.example/x', false],
      ['https://api.example/v1', 'https://stream.example/x', false],
      ['http://127.0.0.1:9911/v1', 'http://127.0.0.1:9911/s', true],
      ['http://127.0.0.1:9911/v1', 'http://127.0.0.1:9912/s', false],
    ];
    for (const [root, stream, isShown] of cases) {
      const { reply, sent } = streamed(
        events('event: done\ndata: {}\n\n'),
        json({}),
        { id: ID, status: 'starting', urls: { stream } },
        { root },
      );
      await reply;
      expect([sent[1]?.path, sent[1]?.withCredential], `${stream} of ${root}`).to.deep.equal([stream, isShown]);
    }
  });

  it('takes the older name of its address, and fails without one that can be opened', async () => {
    const { reply, sent } = streamed(events('event: done\ndata: {}\n\n'), json({}), {
      id: ID,
      status: 'starting',
      urls: {},
      stream_url: 'https://stream.replicate.com/old',
    });
    await reply;
    expect(sent[1]?.path).to.equal('https://stream.replicate.com/old');
    for (const stream of [
      undefined,
      null,
      7,
      '',
      '/v1/x',
      'file:///etc/passwd',
      'ftp://h/x',
      'https://u:p@stream.replicate.com/x',
      'not a url',
    ]) {
      const one = streamed(events(''), json({}), { id: ID, status: 'starting', urls: { stream } });
      expect(await failureOf(one.reply), String(stream))
        .to.be.instanceOf(GatewayError)
        .and.have.nested.property('fault.message', 'the prediction has no stream');
      expect(one.routes(), String(stream)).to.deep.equal([CREATE, CANCEL]);
    }
  });

  it('is refused as the service says, before or at its stream', async () => {
    const failed = streamed(events(''), json({}), file('failed'));
    expect([(await failed.reply).status, failed.routes()]).to.deep.equal([502, [CREATE]]);
    const closed = streamed({ status: 404, headers: {}, body: piecesOf(['{"detail":"gone"}']) });
    expect([(await closed.reply).status, closed.routes().at(-1)]).to.deep.equal([404, CANCEL]);
  });
});
